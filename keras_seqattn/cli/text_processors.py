"""Learn the text processors that the settings name, e.g. "sentencepiece:8000:bpe"."""

import itertools
import warnings
from typing import NamedTuple

from keras_seqattn.checks import check_choice
from keras_seqattn.errors import four_part_error, four_parts
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


class ProcessorChoice(NamedTuple):
    """A class of text processors, and options of its method `learn`."""

    cls: type
    options: dict

    @classmethod
    def parse(cls, text):
        """Return the choice that a text like "sentencepiece:8000:bpe" names."""
        kind, *rest = text.split(":")
        check_choice("train", "kind of text", kind, KINDS)
        options = dict(zip(("vocabulary_size", "kind"), rest, strict=False))
        most = 2 if kind == "sentencepiece" else 1
        if len(rest) > most or not all(options.values()):
            raise _unreadable(text)
        if "vocabulary_size" in options:
            if not options["vocabulary_size"].isdecimal():
                raise _unreadable(text)
            options["vocabulary_size"] = int(options["vocabulary_size"])
        elif kind in ("sentencepiece", "wordpiece"):
            raise four_part_error(
                "train got subwords without a size",
                f"{kind}:SIZE",
                repr(text),
                f"Write e.g. {kind}:8000",
            )
        return cls(KINDS[kind], options)


def check_texts(settings):
    """Check the kinds of text, and that --joint and --sample suit both sides."""
    sides = settings.source_text, settings.target_text
    for text in sides:
        if text is not None:
            ProcessorChoice.parse(text)
    if settings.joint and sides[0] != sides[1]:
        raise four_part_error(
            "train got two kinds of text for one vocabulary",
            "the same for both sides with --joint",
            " and ".join(text or "what suits the data" for text in sides),
            "Use --text instead, or leave --joint out",
        )
    if settings.sample and not all(x is None or "sentencepiece" in x for x in sides):
        raise four_part_error(
            "train got texts that cannot be sampled",
            "sentencepiece on both sides with --sample",
            " and ".join(text or "what suits the data" for text in sides),
            "Add --text sentencepiece:8000, or leave --sample out",
        )


def learn_texts(settings, pairs):
    """Return the processors of both sides; with --joint one object for both."""
    options = {
        "normalization": settings.normalization,
        "lowercase": settings.lowercase,
    }
    if settings.sample:
        options["alpha"] = settings.sample
    source = ProcessorChoice.parse(settings.source_text)
    target = ProcessorChoice.parse(settings.target_text)
    if settings.joint:
        texts = itertools.chain(pairs.source, pairs.target)
        joint = source.cls.learn(texts, **source.options, **options)
        return joint, joint
    return (
        source.cls.learn(pairs.source, **source.options, **options),
        target.cls.learn(pairs.target, **target.options, **options),
    )


def warn_of_references(settings, text, references):
    """Warn if a translation cannot equal its reference.

    Metrics compare translations with the references as they stand in the file, while
    the model learns targets that are in lower case or normalized.

    Args:
        settings: `Settings`.
        text: processor of the targets.
        references: list of lists of strings.
    """
    options = ["--lowercase"] if settings.lowercase else []
    if settings.normalization:
        options.append(f"--normalization {settings.normalization}")
    changed = _count_changed(text, references) if options else 0
    if changed:
        options = " and ".join(options)
        message = four_parts(
            "train changes the targets that it reads",
            "references that a translation can equal",
            f"{changed} of {len(references)} that {options} changes, which metrics "
            "count as mistakes",
            "Change the targets in the files of training and validation in the same "
            f"way, or leave {options} out",
        )
        warnings.warn(message, stacklevel=2)


def _count_changed(text, references):
    """Count texts whose references all change in more than white space."""
    written = [
        [" ".join(x.split()).encode(errors="replace") for x in several]
        for several in references
    ]
    every = list(itertools.chain.from_iterable(written))
    read = dict(zip(every, text.normalize(every).numpy(), strict=True))
    return sum(all(read[x] != x for x in several) for several in written)


def _unreadable(text):
    return four_part_error(
        "train got an unusable kind of text",
        "KIND, KIND:SIZE, sentencepiece:SIZE:bpe or sentencepiece:SIZE:unigram",
        repr(text),
        "Write e.g. sentencepiece:8000, characters or words:20000",
    )
