"""SentencePiece models, learned with the sentencepiece package."""

import io
import re
import tempfile
from pathlib import Path

from keras_seqattn.errors import four_part_error
from keras_seqattn.text.checks import SPECIAL
from keras_seqattn.text.optional_packages import sentencepiece, sentencepiece_proto
from keras_seqattn.text.processor import UNKNOWN
from keras_seqattn.types import SpecialTokens

OWNER = "SentencePiece.learn"
KINDS = ("unigram", "bpe")
SPACE = "▁"  # how the pieces spell a space


def learn_model(texts, vocabulary_size, kind, character_coverage, symbols):
    """The bytes of a model; `texts` are read as they are."""
    check_learning(kind, character_coverage, symbols)
    trainer = sentencepiece(OWNER).SentencePieceTrainer
    tokens, model = SpecialTokens(), io.BytesIO()
    with tempfile.TemporaryDirectory() as folder:
        # Normalising is our part, so that bytes can be followed back. This rule does
        # nothing, but a model without any prints a line whenever it is read.
        rules = Path(folder) / "rules.tsv"
        rules.write_text(f"{ord(SPACE):X}\t20\n", encoding="utf-8")
        try:
            trainer.train(
                sentence_iterator=texts,
                model_writer=model,
                model_type=kind,
                vocab_size=vocabulary_size,
                character_coverage=character_coverage,
                user_defined_symbols=list(symbols),
                normalization_rule_tsv=str(rules),
                remove_extra_whitespaces=False,
                pad_id=tokens.pad,
                bos_id=tokens.start,
                eos_id=tokens.end,
                unk_id=tokens.unknown,
                unk_surface=UNKNOWN,
                max_sentence_length=2**16,
                num_threads=1,  # floats summed in one order
                minloglevel=2,
            )
        except RuntimeError as error:
            raise learning_error(error) from error
    return without_path(model.getvalue())


def without_path(model):
    """A model that does not tell where on this machine its rules were."""
    proto = sentencepiece_proto(OWNER).ModelProto.FromString(model)
    proto.normalizer_spec.ClearField("normalization_rule_tsv")
    return proto.SerializeToString(deterministic=True)


def check_learning(kind, character_coverage, symbols):
    """Options of the learner."""
    if kind not in KINDS:
        raise four_part_error(
            f"{OWNER} got an unknown kind",
            f"one of {list(KINDS)}",
            f"kind={kind!r}",
            "Check the spelling",
        )
    coverage = character_coverage
    number = isinstance(coverage, (int, float)) and not isinstance(coverage, bool)
    if not number or not 0.98 <= coverage <= 1:
        raise four_part_error(
            f"{OWNER} got an unusable character_coverage",
            "a number from 0.98 to 1",
            f"character_coverage={coverage!r}",
            "Use 1 for alphabets, 0.9995 for Chinese and Japanese",
        )
    is_list = isinstance(symbols, (list, tuple))
    usable = is_list and all(isinstance(symbol, str) for symbol in symbols)
    if not usable or len({*symbols, *SPECIAL, ""}) != len(symbols) + len(SPECIAL) + 1:
        raise four_part_error(
            f"{OWNER} got unusable user_defined_symbols",
            f"a list of different str, none empty, none of {list(SPECIAL)}",
            repr(symbols),
            "Drop what is there already",
        )


def learning_error(error):
    """What the learner says about sizes, in our words; a `ValueError`."""
    too_large = re.search(r"too high \((\d+)\).*<= (\d+)", str(error))
    too_small = re.search(r"required_chars\. (\d+) vs (\d+)", str(error))
    if too_large:
        return four_part_error(
            f"{OWNER} got a vocabulary_size too large for the text",
            f"at most {too_large[2]} for these texts",
            f"vocabulary_size={too_large[1]}",
            "Lower it, or give more text",
        )
    if too_small:
        return four_part_error(
            f"{OWNER} got a vocabulary_size too small for the text",
            f"at least {too_small[2]}, one for each character",
            f"vocabulary_size={too_small[1]}",
            "Raise it, or lower character_coverage",
        )
    return four_part_error(
        f"{OWNER} could not learn",
        "texts that the trainer accepts",
        f'"{error}"',
        "Check the texts",
    )
