"""A text processor by its name, e.g. "sentencepiece:8000:bpe" or "characters"."""

from typing import NamedTuple

from keras_seqattn.checks import check_choice
from keras_seqattn.errors import abbreviated, four_part_error
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


class ProcessorChoice(NamedTuple):
    """A class of text processors, and options of its method `learn`."""

    cls: type
    options: dict

    @classmethod
    def parse(cls, owner, text):
        """Return the choice that a text like "sentencepiece:8000:bpe" names."""
        kind, *rest = text.split(":")
        check_choice(owner, "kind of text", kind, KINDS)
        options = dict(zip(("vocabulary_size", "kind"), rest, strict=False))
        most = 2 if kind == "sentencepiece" else 1
        if len(rest) > most or not all(options.values()):
            raise _unreadable(owner, text)
        if "vocabulary_size" in options:
            if not options["vocabulary_size"].isdecimal():
                raise _unreadable(owner, text)
            options["vocabulary_size"] = int(options["vocabulary_size"])
        elif kind in ("sentencepiece", "wordpiece"):
            raise four_part_error(
                f"{owner} got subwords without a size",
                f"{kind}:SIZE",
                abbreviated(text),
                f"Write e.g. {kind}:8000",
            )
        return cls(KINDS[kind], options)

    def learn(self, texts, **options):
        """Return a processor that has learned these texts."""
        return self.cls.learn(texts, **self.options, **options)


def _unreadable(owner, text):
    return four_part_error(
        f"{owner} got an unusable kind of text",
        "KIND, KIND:SIZE, sentencepiece:SIZE:bpe or sentencepiece:SIZE:unigram",
        abbreviated(text),
        "Write e.g. sentencepiece:8000, characters or words:20000",
    )
