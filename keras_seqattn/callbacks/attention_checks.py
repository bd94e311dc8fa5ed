"""Checks of the arguments of `AttentionCallback`: early, not after an epoch."""

import os

import tensorflow as tf

from keras_seqattn.checks import check_choice, check_count
from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.metrics.alignment_error import GoldLinks

_NEEDED = ("model", "source_text", "target_text", "search", "pipeline")


def check_translator(translator):
    """Check that an object has the attributes of a Translator."""
    missing = [name for name in _NEEDED if not hasattr(translator, name)]
    if missing or isinstance(translator, type):
        raise four_part_error(
            "AttentionCallback got an unusable translator",
            "a Translator",
            abbreviated(translator),
            "Build one from the model and its text processors: Translator(model, "
            "source_text, target_text)",
        )


def check_texts(sentences, references):
    """Return the sentences as a list, and as many references or None."""
    sentences = _texts("sentences", sentences)
    for i, text in enumerate(sentences):
        if not text.strip():
            raise four_part_error(
                "AttentionCallback got a blank sentence",
                "text in each sentence",
                f"{abbreviated(text)} at position {i}",
                "Leave out the blank sentence",
            )
    if references is None:
        return sentences, None
    references = _texts("references", references)
    if len(references) != len(sentences):
        raise four_part_error(
            "AttentionCallback got references that do not fit its sentences",
            "one reference for each sentence",
            f"{len(references)} references and {len(sentences)} sentences",
            "Pass one for each, or references=None",
        )
    return sentences, references


def _texts(name, texts):
    """Return a list of one str or more that UTF-8 can encode."""
    if isinstance(texts, (str, bytes)) or not hasattr(texts, "__iter__"):
        raise four_part_error(
            f"AttentionCallback got unusable {name}",
            "a list of str",
            abbreviated(texts),
            "Put a single text into a list",
        )
    texts = list(texts)
    if not texts:
        raise four_part_error(
            f"AttentionCallback got no {name}",
            "a list of one str or more",
            "an empty list",
            "Choose for example 8 sentences of the validation set",
        )
    for i, text in enumerate(texts):
        if not isinstance(text, str) or text != text.encode(errors="replace").decode():
            raise four_part_error(
                f"AttentionCallback got unusable {name}",
                "str without lone surrogates",
                f"{abbreviated(text)} at position {i}",
                "Decode bytes first; of pairs pass pairs.source as sentences and "
                "pairs.target as references, one for each sentence",
            )
    return texts


def check_gold(gold, sentences, references):
    """Return the gold links as a list, or None; check that their words exist."""
    if gold is None:
        return None
    gold = list(gold)
    if references is None or len(gold) != len(sentences):
        received = "no references" if references is None else f"{len(gold)} links"
        raise four_part_error(
            "AttentionCallback got gold links that do not fit",
            "references, and GoldLinks for each sentence",
            f"{received} and {len(sentences)} sentences",
            "Pass both, or gold=None",
        )
    for i, links in enumerate(gold):
        sizes = len(sentences[i].split()), len(references[i].split())
        if not isinstance(links, GoldLinks) or not all(
            0 <= j < sizes[0] and 0 <= k < sizes[1] for j, k in links.possible
        ):
            raise four_part_error(
                "AttentionCallback got unusable gold links",
                f"GoldLinks between {sizes[0]} source words and {sizes[1]} reference "
                "words",
                f"{abbreviated(links)} at position {i}",
                "Take the links from read_alignments; words are separated by white "
                "space and counted from 0",
            )
    return gold


def check_options(every, beam, name):
    """Check the numbers and the name."""
    check_count("AttentionCallback", "every", every, 1)
    if beam is not None:
        check_count("AttentionCallback", "beam", beam, 1)
    if not isinstance(name, str) or not name.strip():
        raise four_part_error(
            "AttentionCallback got an unusable name",
            "a str that is not blank",
            f"name={name!r}",
            "Pass the first part of the tags, for example name='en-de'",
        )


def check_alignments(model, names):
    """Return the names of alignments as a list, or None; check that they exist."""
    if names is None:
        return None
    names = [names] if isinstance(names, str) else list(names)
    for name in names:
        known = getattr(model, "alignment_names", ())
        check_choice("AttentionCallback", "alignment", name, known)
    return names


def check_projector(model):
    """Check that the model has embeddings for the projector."""
    sides = ("source_embedding", "target_embedding")
    if any(not hasattr(getattr(model, side, None), "embeddings") for side in sides):
        raise four_part_error(
            "AttentionCallback got projector=True for a model without known embeddings",
            "a model with source_embedding and target_embedding, such as Seq2Seq",
            f"{type(model).__name__}",
            "Pass projector=False, and call write_embeddings yourself",
        )


def create_run_folder(log_dir):
    """Return the folder of the run; create it if it does not exist."""
    try:
        folder = os.path.join(os.fspath(log_dir), "validation")
        tf.io.gfile.makedirs(folder)
        usable = not os.path.isdir(folder) or os.access(folder, os.W_OK)
    except (TypeError, OSError, tf.errors.OpError):
        usable = False
    if not usable:
        raise four_part_error(
            "AttentionCallback got an unusable log_dir",
            "a folder that exists or can be created",
            f"log_dir={abbreviated(log_dir)}",
            "Choose a path that you can write to and that is not a file",
        )
    return folder
