"""Checks whether LiteRT supports a pipeline, before and after the export."""

from google.protobuf import empty_pb2, unknown_fields

from keras_seqattn.checks import check_choice, check_count
from keras_seqattn.decoding.beam import BeamSearch
from keras_seqattn.decoding.greedy import Greedy
from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.export.litert_characters import OWNER
from keras_seqattn.export.litert_run import litert_function
from keras_seqattn.text.characters import Characters
from keras_seqattn.text.sentence_piece import SentencePiece
from keras_seqattn.text.word_piece import WordPiece
from keras_seqattn.text.words import Words

WEIGHTS = ("float32", "float16", "int8")
_LONGEST = 250  # bytes of a piece, nearly what tensorflow-text can take
_READABLE = (Characters, Words, WordPiece, SentencePiece)
# Numbers of fields in the messages of SentencePiece.
_TRAINER, _KIND, _BYTES, _UNIGRAM = 2, 3, 35, 1


def check_sizes(**sizes):
    """Check sizes; a source needs room for one token and the end token."""
    for name, size in sizes.items():
        check_count(OWNER, name, size, 2 if name == "source_length" else 1)


def check_pipeline(pipeline, weights):
    """Check whether LiteRT supports the options of a pipeline."""
    check_choice(OWNER, "value of weights", weights, WEIGHTS)
    search = pipeline.search
    if type(search) not in (Greedy, BeamSearch) or search.no_repeat_ngram:
        raise four_part_error(
            f"{OWNER} got a search that LiteRT does not support",
            "Greedy() or BeamSearch(...) with no_repeat_ngram=0",
            abbreviated(search),
            "Use another search, e.g. translator.with_search(Greedy())",
        )
    if pipeline.unknown is not None:
        raise four_part_error(
            f"{OWNER} cannot replace unknown words",
            "unknown=None",
            f"a dict of {len(pipeline.unknown)}",
            "Leave it out, and replace unknown words in the application, by the "
            "alignments",
        )
    if pipeline.shortlist is not None:
        raise four_part_error(
            f"{OWNER} got a shortlist, which LiteRT does not support",
            "shortlist=None",
            abbreviated(pipeline.shortlist),
            "Leave it out",
        )
    if "bfloat16" in _precisions(pipeline.model):
        raise four_part_error(
            f"{OWNER} got a model in bfloat16, which LiteRT does not support",
            "float32",
            "layers of the policy mixed_bfloat16",
            "Build the model under the policy float32, and copy the weights: "
            "model.set_weights(trained.get_weights())",
        )
    variables = getattr(pipeline.model, "variables", ())
    if any(variable.dtype == "int8" for variable in variables):
        raise four_part_error(
            f"{OWNER} got a model that is quantised already",
            "float32 weights, because LiteRT does not support int8 layers of Keras",
            "variables of int8",
            'Export the model before quantize("int8"), with weights="int8"',
        )
    for side in ("source", "target"):
        _check_text(side, getattr(pipeline, f"{side}_text"))


def _precisions(model):
    """Return the compute dtypes of all layers, in all members of an ensemble."""
    layers = [x for part in getattr(model, "models", [model]) for x in _layers(part)]
    return {getattr(layer, "compute_dtype", None) for layer in layers}


def _layers(model):
    return getattr(model, "layers", ())


def check_content(content, batch):
    """Run a file, which fails if LiteRT lacks an operation."""
    try:
        litert_function(content)([""] * batch)
    except RuntimeError as error:
        raise unsupported(error) from error


def unsupported(error):
    """Return a four-part error for an error of LiteRT about operations."""
    first = str(error).splitlines()[0]
    return four_part_error(
        f"{OWNER} got a model that LiteRT does not support",
        "operations of LiteRT and of tensorflow-text",
        f'"{first}"',
        "Use other layers, or Translator.export: a SavedModel has all operations",
    )


def _check_text(side, text):
    name = type(text).__name__
    longest = max(len(piece.encode()) for piece in text.vocabulary)
    if type(text) not in _READABLE:
        received = f"a {name}"
    elif side == "source" and text.normalization is not None:
        received = f"a {name} with normalization={text.normalization!r}"
    elif side == "source" and _is_unsupported_sentence_piece(text):
        received = f"a {name} of another kind"
    elif longest > _LONGEST:
        received = f"a {name} with a token of {longest} bytes"
    else:
        return
    raise four_part_error(
        f"{OWNER} got a {side}_text that LiteRT does not support",
        "Characters, Words, WordPiece or a unigram SentencePiece without byte "
        f"fallback, with tokens up to {_LONGEST} bytes; the source without "
        "normalization",
        received,
        "Train with one of these, or use Translator.export",
    )


def _is_unsupported_sentence_piece(text):
    """Whether a text is a SentencePiece that `FastSentencepieceTokenizer` lacks."""
    if not isinstance(text, SentencePiece):
        return False
    [trainer] = [
        x.data for x in _fields(text._to_bytes()) if x.field_number == _TRAINER
    ]
    options = {x.field_number: x.data for x in _fields(trainer)}
    return options.get(_KIND, _UNIGRAM) != _UNIGRAM or options.get(_BYTES, False)


def _fields(message):
    return unknown_fields.UnknownFieldSet(empty_pb2.Empty.FromString(message))
