"""From "sentencepiece:8000:bpe" to a processor that has learned its vocabulary."""

import itertools
import warnings
from typing import NamedTuple

from keras_seqattn.checks import check_choice
from keras_seqattn.errors import four_part_error
from keras_seqattn.text.characters import Characters
from keras_seqattn.text.sentence_piece import SentencePiece
from keras_seqattn.text.word_piece import WordPiece
from keras_seqattn.text.words import Words

KINDS = {
    "characters": Characters,
    "sentencepiece": SentencePiece,
    "wordpiece": WordPiece,
    "words": Words,
}
SUBWORDS = "sentencepiece:8000"


class Choice(NamedTuple):
    """A kind of text, read from its words."""

    cls: type
    options: dict

    @classmethod
    def of(cls, words):
        """From e.g. "sentencepiece:8000:bpe"."""
        kind, *rest = words.split(":")
        check_choice("train", "kind of text", kind, KINDS)
        options = dict(zip(("vocabulary_size", "kind"), rest, strict=False))
        most = 2 if kind == "sentencepiece" else 1
        if len(rest) > most or not all(options.values()):
            raise _unreadable(words)
        if "vocabulary_size" in options:
            if not options["vocabulary_size"].isdecimal():
                raise _unreadable(words)
            options["vocabulary_size"] = int(options["vocabulary_size"])
        elif kind in ("sentencepiece", "wordpiece"):
            raise four_part_error(
                "train got subwords without a size",
                f"{kind}:SIZE",
                repr(words),
                f"Write e.g. {kind}:8000",
            )
        return cls(KINDS[kind], options)


def check(settings):
    """Both sides can be read, and be one if they shall."""
    sides = settings.source_text, settings.target_text
    for words in sides:
        if words is not None:
            Choice.of(words)
    if settings.joint and sides[0] != sides[1]:
        raise four_part_error(
            "train got two kinds of text for one vocabulary",
            "the same for both sides with --joint",
            " and ".join(words or "what suits the data" for words in sides),
            "Give --text instead, or leave --joint out",
        )
    if settings.sample and not all(w is None or "sentencepiece" in w for w in sides):
        raise four_part_error(
            "train got texts that cannot be sampled",
            "sentencepiece on both sides with --sample",
            " and ".join(words or "what suits the data" for words in sides),
            "Add --text sentencepiece:8000, or leave --sample out",
        )


def learn(settings, pairs):
    """The processors of the source and of the target; one object if joint."""
    how = {
        "normalization": settings.normalization,
        "lowercase": settings.lowercase,
    }
    if settings.sample:
        how["alpha"] = settings.sample
    source, target = Choice.of(settings.source_text), Choice.of(settings.target_text)
    if settings.joint:
        texts = itertools.chain(pairs.source, pairs.target)
        both = source.cls.learn(texts, **source.options, **how)
        return both, both
    return (
        source.cls.learn(pairs.source, **source.options, **how),
        target.cls.learn(pairs.target, **target.options, **how),
    )


def warn_of_references(settings, text, references):
    """References stay as they are written: translations may be in another writing.

    Args:
        settings: `Settings`.
        text: processor of the targets.
        references: list of lists of strings.
    """
    options = ["--lowercase"] if settings.lowercase else []
    if settings.normalization:
        options.append(f"--normalization {settings.normalization}")
    changed = _changed(text, references) if options else 0
    if changed:
        warnings.warn(
            "train reads targets otherwise than they are written. Expected references "
            f"that a translation can equal, received {changed} of {len(references)} "
            f"that {' and '.join(options)} changes, which metrics count as mistakes. "
            "Write the targets so in the files, those of the validation, too, or leave "
            f"{' and '.join(options)} out.",
            stacklevel=2,
        )


def _changed(text, references):
    """How many texts have no reference that stays as it is; white space may change."""
    written = [
        [" ".join(x.split()).encode(errors="replace") for x in several]
        for several in references
    ]
    every = list(itertools.chain.from_iterable(written))
    read = dict(zip(every, text.normalize(every).numpy(), strict=True))
    return sum(all(read[x] != x for x in several) for several in written)


def _unreadable(words):
    return four_part_error(
        "train got a text that it cannot read",
        "KIND, KIND:SIZE, sentencepiece:SIZE:bpe or sentencepiece:SIZE:unigram",
        repr(words),
        "Write e.g. sentencepiece:8000, characters or words:20000",
    )
