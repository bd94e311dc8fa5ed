"""What LiteRT cannot do is said before, or found out by doing it."""

from google.protobuf import empty_pb2, unknown_fields

from keras_seqattn.checks import check_count
from keras_seqattn.decoding.beam import BeamSearch
from keras_seqattn.decoding.greedy import Greedy
from keras_seqattn.errors import four_part_error
from keras_seqattn.export.litert_characters import OWNER
from keras_seqattn.export.litert_run import litert_function
from keras_seqattn.text.characters import Characters
from keras_seqattn.text.sentence_piece import SentencePiece
from keras_seqattn.text.word_piece import WordPiece
from keras_seqattn.text.words import Words

WEIGHTS = ("float32", "float16", "int8")
_LONGEST = 250  # bytes of a piece, nearly what tensorflow-text can take
_READABLE = (Characters, Words, WordPiece, SentencePiece)
# Numbers of fields in SentencePiece's messages.
_TRAINER, _KIND, _BYTES, _UNIGRAM = 2, 3, 35, 1


def check_sizes(**sizes):
    """There is room for a token and the end; batches and translations are not empty."""
    for name, size in sizes.items():
        check_count(OWNER, name, size, 2 if name == "source_length" else 1)


def check_pipeline(pipeline, weights):
    """LiteRT has what is needed, as far as can be told from the options."""
    if weights not in WEIGHTS:
        raise four_part_error(
            f"{OWNER} got unknown weights",
            f"one of {list(WEIGHTS)}",
            f"weights={weights!r}",
            "Check the spelling",
        )
    search = pipeline.search
    if type(search) not in (Greedy, BeamSearch) or search.no_repeat_ngram:
        raise four_part_error(
            f"{OWNER} got a search that LiteRT has no operations for",
            "Greedy() or BeamSearch(...) with no_repeat_ngram=0",
            repr(search),
            "Pass another one, e.g. translator.with_search(Greedy())",
        )
    if pipeline.unknown is not None:
        raise four_part_error(
            f"{OWNER} cannot replace unknown words",
            "unknown=None",
            f"a dict of {len(pipeline.unknown)}",
            "Leave it out, and replace them where the file is used, by the alignments",
        )
    if pipeline.shortlist is not None:
        raise four_part_error(
            f"{OWNER} got a shortlist that LiteRT has no operations for",
            "shortlist=None",
            repr(pipeline.shortlist),
            "Leave it out",
        )
    if "bfloat16" in _precisions(pipeline.model):
        raise four_part_error(
            f"{OWNER} got a model that computes in bfloat16, which LiteRT does not",
            "float32",
            "layers of the policy mixed_bfloat16",
            "Make the model under the policy float32 and give it these weights: "
            "model.set_weights(trained.get_weights())",
        )
    variables = getattr(pipeline.model, "variables", ())
    if any(variable.dtype == "int8" for variable in variables):
        raise four_part_error(
            f"{OWNER} got a model that is quantised already",
            'one before quantize("int8"), whose products LiteRT lacks',
            "variables of int8",
            'Export the unquantised one, with weights="int8"',
        )
    for side in ("source", "target"):
        _check_text(side, getattr(pipeline, f"{side}_text"))


def _precisions(model):
    """In which layers compute, of an ensemble all of them."""
    layers = [x for part in getattr(model, "models", [model]) for x in _layers(part)]
    return {getattr(layer, "compute_dtype", None) for layer in layers}


def _layers(model):
    return getattr(model, "layers", ())


def check_content(content, batch):
    """It runs, which shows whether LiteRT has all operations."""
    try:
        litert_function(content)([""] * batch)
    except RuntimeError as error:
        raise lacking(error) from error


def lacking(error):
    """What LiteRT says about operations, in our words; a `ValueError`."""
    first = str(error).splitlines()[0]
    return four_part_error(
        f"{OWNER} got a model that LiteRT has no operations for",
        "its own and those of tensorflow-text",
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
    elif side == "source" and _is_no_unigram(text):
        received = f"a {name} of another kind"
    elif longest > _LONGEST:
        received = f"a {name} with a token of {longest} bytes"
    else:
        return
    raise four_part_error(
        f"{OWNER} got a {side}_text that LiteRT has no operations for",
        "Characters, Words, WordPiece or a unigram SentencePiece without "
        f"bytes, tokens up to {_LONGEST} bytes, the source without normalization",
        received,
        "Train with one of these, or use Translator.export",
    )


def _is_no_unigram(text):
    """Whether it is a SentencePiece that the quick algorithm would get wrong."""
    if not isinstance(text, SentencePiece):
        return False
    [trainer] = [
        x.data for x in _fields(text._to_bytes()) if x.field_number == _TRAINER
    ]
    said = {x.field_number: x.data for x in _fields(trainer)}
    return said.get(_KIND, _UNIGRAM) != _UNIGRAM or said.get(_BYTES, False)


def _fields(message):
    return unknown_fields.UnknownFieldSet(empty_pb2.Empty.FromString(message))
