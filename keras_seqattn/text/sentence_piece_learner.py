"""Learning SentencePiece models with the sentencepiece package."""

import io
import re
import tempfile
from pathlib import Path

from keras_seqattn.checks import check_choice
from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.text.checks import SPECIAL
from keras_seqattn.text.optional_packages import sentencepiece, sentencepiece_proto
from keras_seqattn.text.processor import UNKNOWN
from keras_seqattn.types import SpecialTokens

OWNER = "SentencePiece.learn"
KINDS = ("unigram", "bpe")
SPACE = "▁"  # how the pieces spell a space


def learn_model(texts, vocabulary_size, kind, character_coverage, symbols):
    """Return the bytes of a model; `texts` are not normalised any more."""
    check_learning(kind, character_coverage, symbols)
    trainer = sentencepiece(OWNER).SentencePieceTrainer
    tokens, model = SpecialTokens(), io.BytesIO()
    with tempfile.TemporaryDirectory() as folder:
        # We normalise, so that tokens have byte offsets. This rule does nothing, but a
        # model without rules prints a line whenever it is read.
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
                num_threads=1,  # floats are then summed in the same order
                minloglevel=2,
            )
        except RuntimeError as error:
            raise learning_error(error) from error
    return without_path(model.getvalue())


def without_path(model):
    """Remove the path of the rules, which is a path of this machine, from a model."""
    proto = sentencepiece_proto(OWNER).ModelProto.FromString(model)
    proto.normalizer_spec.ClearField("normalization_rule_tsv")
    return proto.SerializeToString(deterministic=True)


def check_learning(kind, character_coverage, symbols):
    """Check the options of the learner."""
    check_choice(OWNER, "kind", kind, KINDS)
    coverage = character_coverage
    number = isinstance(coverage, (int, float)) and not isinstance(coverage, bool)
    if not number or not 0.98 <= coverage <= 1:
        raise four_part_error(
            f"{OWNER} got an unusable character_coverage",
            "a number from 0.98 to 1",
            f"character_coverage={abbreviated(coverage)}",
            "Use 1 for alphabets, 0.9995 for Chinese and Japanese",
        )
    is_list = isinstance(symbols, (list, tuple))
    usable = is_list and all(isinstance(symbol, str) for symbol in symbols)
    if not usable or len({*symbols, *SPECIAL, ""}) != len(symbols) + len(SPECIAL) + 1:
        raise four_part_error(
            f"{OWNER} got unusable user_defined_symbols",
            f"a list of different str that are not empty and not in {list(SPECIAL)}",
            abbreviated(symbols),
            "Remove empty and repeated symbols",
        )


def learning_error(error):
    """Return a `ValueError` that explains an error of the learner."""
    too_large = re.search(r"too high \((\d+)\).*<= (\d+)", str(error))
    too_small = re.search(r"required_chars\. (\d+) vs (\d+)", str(error))
    if too_large:
        return four_part_error(
            f"{OWNER} got a vocabulary_size too large for the text",
            f"at most {too_large[2]} for these texts",
            f"vocabulary_size={too_large[1]}",
            "Pass a smaller size, or more text",
        )
    if too_small:
        return four_part_error(
            f"{OWNER} got a vocabulary_size too small for the text",
            f"at least {too_small[2]}, one for each character",
            f"vocabulary_size={too_small[1]}",
            "Pass a larger size, or a smaller character_coverage",
        )
    return four_part_error(
        f"{OWNER} could not learn",
        "texts that the trainer accepts",
        f'"{error}"',
        "Check the texts",
    )
