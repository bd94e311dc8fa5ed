"""Learn the text processors that the settings name, e.g. "sentencepiece:8000:bpe"."""

import itertools
import warnings

from keras_seqattn.errors import four_part_error, four_parts
from keras_seqattn.text.kinds import ProcessorChoice


def check_texts(settings):
    """Check the kinds of text, and that --joint and --sample suit both sides."""
    sides = settings.source_text, settings.target_text
    for text in sides:
        if text is not None:
            ProcessorChoice.parse("train", text)
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
    if settings.joint:
        texts = itertools.chain(pairs.source, pairs.target)
        joint = _learn("--text", settings.source_text, texts, settings)
        return joint, joint
    return tuple(learn_side(settings, side, pairs) for side in ("source", "target"))


def learn_side(settings, side, pairs):
    """Return the processor of one side."""
    kind, texts = getattr(settings, f"{side}_text"), getattr(pairs, side)
    return _learn(f"--{side}-text", kind, texts, settings)


def _learn(option, kind, texts, settings):
    """Return a processor; errors and warnings of learning name the option."""
    options = {
        "normalization": settings.normalization,
        "lowercase": settings.lowercase,
    }
    if settings.sample:
        options["alpha"] = settings.sample

    def say(problem):
        return (
            "train got a kind of text that does not suit its side",
            "a size that suits the texts",
            f'{option} {kind} with the message "{str(problem).removesuffix(".")}"',
            f"Write {option} {kind.split(':')[0]}:SIZE with another size",
        )

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            processor = ProcessorChoice.parse("train", kind).learn(texts, **options)
        except ValueError as error:
            raise four_part_error(*say(error)) from error
    for each in (x for x in caught if x.category is UserWarning):
        warnings.warn(four_parts(*say(each.message)), stacklevel=2)
    return processor


def warn_of_references(text, references):
    """Warn if a translation cannot equal its reference.

    Metrics compare translations with the references as they stand in the file, while
    the model learns targets that are in lower case or normalized.

    Args:
        text: processor of the targets.
        references: list of lists of strings.
    """
    options = ["--lowercase"] if text.lowercase else []
    if text.normalization:
        options.append(f"--normalization {text.normalization}")
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
