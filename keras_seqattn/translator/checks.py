"""Checks of the arguments of a translator."""

import warnings

import keras
import numpy as np
from keras import tree

from keras_seqattn.checks import check_count
from keras_seqattn.decoding.checks import check_search
from keras_seqattn.decoding.shortlist import Shortlist
from keras_seqattn.decoding.shortlist_checks import check_fit
from keras_seqattn.errors import abbreviated, four_part_error, four_parts
from keras_seqattn.safe_reading import well_formed
from keras_seqattn.text.processor import TextProcessor


def check_options(search, max_length, max_source, unknown, tokens):
    """Check the search, the lengths, and the dictionary of unknown words."""
    check_search("Translator", search, max_length, tokens)
    check_count("Translator", "max_source", max_source, 1)
    words = [*unknown, *unknown.values()] if isinstance(unknown, dict) else [None]
    if unknown is not None and not all(isinstance(word, str) for word in words):
        raise four_part_error(
            "Translator got an unusable dictionary of unknown words",
            "a dict from source words to target words, or None",
            f"unknown={abbreviated(unknown)}",
            "Pass {} to copy the source word",
        )


def check_shortlist(shortlist, model):
    """Check that a shortlist fits the model; None is allowed."""
    if shortlist is None:
        return
    if not isinstance(shortlist, Shortlist):
        raise four_part_error(
            "Translator got an unusable shortlist",
            "a Shortlist or None",
            abbreviated(shortlist),
            "Create one with Shortlist.learn",
        )
    check_fit(shortlist, model)


def check_texts(source_text, target_text, model):
    """Check that the text processors have the vocabularies of the model."""
    texts = {"source": source_text, "target": target_text}
    for side, text in texts.items():
        if not isinstance(text, TextProcessor):
            raise four_part_error(
                f"Translator got an unusable {side}_text",
                "a TextProcessor",
                abbreviated(text),
                "Pass e.g. Characters.learn(texts)",
            )
    if getattr(target_text, "use_start", False):
        raise four_part_error(
            "Translator got a target_text that writes the start token itself",
            "use_start=False, because the translator adds the start token",
            f"{type(target_text).__name__} with use_start=True",
            "Make another processor of the same tokenizer for the target",
        )
    wrong = {side: _other_size(side, text, model) for side, text in texts.items()}
    others = {"source": target_text, "target": source_text}
    is_swapped = not any(_other_size(side, x, model) for side, x in others.items())
    for side, other in wrong.items():
        if other is not None:
            raise _size_error(side, texts[side], *other, is_swapped)
    for part in getattr(model, "models", [model]):  # all members of an ensemble
        _check_pads(source_text.tokens.pad, target_text.tokens.pad, part)


def _check_pads(source_pad, target_pad, model):
    """Check that a model masks what the text processors pad with."""
    pad = getattr(model, "pad", target_pad)
    known = getattr(model, "source_pad", source_pad), pad
    if known != (source_pad, target_pad):
        raise four_part_error(
            "Translator got text processors that pad with other ids than the model",
            f"source_text.tokens.pad={known[0]} and target_text.tokens.pad={known[1]}",
            f"{source_pad} and {target_pad}",
            f"Build the model with pad={target_pad}, source_pad={source_pad}",
        )


def _other_size(side, text, model):
    """Return a size of the model that the text does not have, and what has it."""
    for part in getattr(model, "models", [model]):  # all members of an ensemble
        embedding = getattr(part, f"{side}_embedding", None)
        sizes = {"embeds": getattr(embedding, "input_dim", None)}
        if side == "target":
            sizes["predicts"] = getattr(
                getattr(part, "head", None), "vocabulary_size", None
            )
        for verb, size in sizes.items():
            if size not in (None, text.vocabulary_size):
                return size, verb
        # A pretrained encoder may have more ids than its tokenizer, which is harmless.
        most = getattr(getattr(part, "encoder", None), "vocabulary_size", None)
        if side == "source" and most is not None and text.vocabulary_size > most:
            return most, "embeds"
    return None


def _size_error(side, text, size, verb, is_swapped):
    remedy = (
        "Pass the processor with which the model was trained, or build the "
        f"model with {side}_vocabulary={text.vocabulary_size}"
    )
    if is_swapped:
        remedy = "The two processors fit the other side: pass the source_text first"
    return four_part_error(
        f"Translator got a {side}_text that does not fit the model",
        f"a vocabulary of {size} tokens, as many as the model {verb}",
        f"{type(text).__name__} with {text.vocabulary_size}",
        remedy,
    )


def warn_if_untrained(model):
    """Warn if the bias of the head has its initial value, which training changes."""
    product = getattr(getattr(model, "head", None), "last_product", None)
    bias = getattr(product, "bias", None)
    if bias is not None and not keras.ops.any(bias):
        warnings.warn(
            four_parts(
                "Translator has a model that was not trained",
                "a model after fit, or with loaded weights",
                f"{abbreviated(model)} with zeros as the bias of its head",
                "Train translator.model with fit, or load a trained translator with "
                "Translator.load",
            ),
            stacklevel=3,
        )


def as_texts(texts):
    """Return texts as a list of str that UTF-8 can encode."""
    if isinstance(texts, str):
        raise four_part_error(
            "Translator.translate got one string",
            "a list of strings",
            abbreviated(texts),
            "Put it into a list, or call the translator itself: translator(text)",
        )
    try:
        listed = [texts] if isinstance(texts, (bytes, dict)) else list(texts)
    except TypeError:  # None, a number, a tensor without axes
        listed = [texts]
    for i, text in enumerate(listed):
        if not isinstance(text, str):
            place = "" if text is texts else f" at position {i}"
            raise _not_a_text(text, place)
    return [well_formed(text) for text in listed]  # a `Translation` holds its source


def _not_a_text(value, place):
    """Return the error for a value that is not a string; the remedy fits the value."""
    what, remedy = "a value that is not a string", "Pass a text, or a list of texts"
    if place:
        remedy = "Leave it out, or pass its text"
    leaf = next(iter(tree.flatten(value)), None)
    if _is_id(leaf):
        what = "token ids instead of texts"
        remedy = (
            "Pass the texts, because the translator encodes them; for ids call "
            "decode(translator.model, ids, translator.search, 50)"
        )
    elif isinstance(leaf, bytes) or "string" in str(getattr(leaf, "dtype", "")):
        is_tensor = hasattr(leaf, "numpy")
        remedy = f"Decode bytes first: text{'.numpy()' * is_tensor}.decode()"
    elif isinstance(leaf, str):
        remedy = 'Pass one string for each text, e.g. " ".join(tokens) or pairs.source'
    return four_part_error(
        f"Translator got {what}",
        "a string or a list of strings",
        f"{abbreviated(value)}{place}",
        remedy,
    )


def _is_id(leaf):
    is_number = isinstance(leaf, (int, np.integer)) and not isinstance(leaf, bool)
    return is_number or "int" in str(getattr(leaf, "dtype", ""))
