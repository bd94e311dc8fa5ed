"""What a translator is made of, checked before anything is translated."""

from keras_seqattn.checks import check_count
from keras_seqattn.decoding.checks import check_search
from keras_seqattn.decoding.shortlist import Shortlist
from keras_seqattn.decoding.shortlist_checks import check_fit
from keras_seqattn.errors import four_part_error
from keras_seqattn.text.processor import TextProcessor


def check_options(search, max_length, max_source, unknown, tokens):
    """A search, lengths, and a dictionary or none."""
    check_search(search, max_length, tokens)
    check_count("Translator", "max_source", max_source, 1)
    words = [*unknown, *unknown.values()] if isinstance(unknown, dict) else [None]
    if unknown is not None and not all(isinstance(word, str) for word in words):
        raise four_part_error(
            "Translator got unusable words for unknown ones",
            "a dict from source words to target words, or None",
            f"unknown={unknown!r}",
            "Pass {} to copy the source word",
        )


def check_shortlist(shortlist, model):
    """One that belongs to the model, or none."""
    if shortlist is None:
        return
    if not isinstance(shortlist, Shortlist):
        raise four_part_error(
            "Translator got an unusable shortlist",
            "a Shortlist or None",
            repr(shortlist),
            "Make one with Shortlist.learn",
        )
    check_fit(shortlist, model)


def check_text(side, text, model):
    """A text processor, and its vocabulary that of the model."""
    if not isinstance(text, TextProcessor):
        raise four_part_error(
            f"Translator got an unusable {side}_text",
            "a TextProcessor",
            repr(text),
            "Pass e.g. Characters.learn(texts)",
        )
    for part in getattr(model, "models", [model]):  # of an ensemble, each one
        embedding = getattr(part, f"{side}_embedding", None)
        sizes = {"embeds": getattr(embedding, "input_dim", None)}
        if side == "target":
            sizes["predicts"] = getattr(
                getattr(part, "head", None), "vocabulary_size", None
            )
        for does, size in sizes.items():
            if size not in (None, text.vocabulary_size):
                raise _unfit(side, text, size, does)


def _unfit(side, text, size, does):
    return four_part_error(
        f"Translator got a {side}_text that does not fit the model",
        f"a vocabulary of {size} tokens, as many as the model {does}",
        f"{type(text).__name__} with {text.vocabulary_size}",
        "Pass the processor with which the model was trained, or make the "
        f"model with {side}_vocabulary={text.vocabulary_size}",
    )
