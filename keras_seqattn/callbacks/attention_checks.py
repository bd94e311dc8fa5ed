"""What the callback is given: errors now, not after an epoch."""

import os

import tensorflow as tf

from keras_seqattn.checks import check_count
from keras_seqattn.errors import four_part_error
from keras_seqattn.metrics.alignment_error import GoldLinks

_NEEDED = ("model", "source_text", "target_text", "search", "pipeline")


def check_translator(translator):
    """It has what a Translator has."""
    missing = [name for name in _NEEDED if not hasattr(translator, name)]
    if missing or isinstance(translator, type):
        raise four_part_error(
            "AttentionCallback got an unusable translator",
            "a Translator",
            repr(translator),
            "Make one of the model and its text processors: Translator(model, "
            "source_text, target_text)",
        )


def check_texts(sentences, references):
    """Some sentences, and as many references or None, as lists."""
    sentences = _texts("sentences", sentences)
    for i, text in enumerate(sentences):
        if not text.strip():
            raise four_part_error(
                "AttentionCallback got a blank sentence",
                "text in each",
                f"{text!r} at position {i}",
                "Leave it out",
            )
    if references is None:
        return sentences, None
    references = _texts("references", references)
    if len(references) != len(sentences):
        raise four_part_error(
            "AttentionCallback got references that do not fit its sentences",
            "one for each",
            f"{len(references)} references and {len(sentences)} sentences",
            "Pass as many, or references=None",
        )
    return sentences, references


def _texts(name, texts):
    """A list of one str or more, which UTF-8 can spell."""
    if isinstance(texts, (str, bytes)) or not hasattr(texts, "__iter__"):
        raise four_part_error(
            f"AttentionCallback got unusable {name}",
            "a list of str",
            repr(texts),
            "Put a single one in a list",
        )
    texts = list(texts)
    if not texts:
        raise four_part_error(
            f"AttentionCallback got no {name}",
            "a list of one str or more",
            "an empty one",
            "Choose some of the validation set, e.g. 8",
        )
    for i, text in enumerate(texts):
        if not isinstance(text, str) or text != text.encode(errors="replace").decode():
            raise four_part_error(
                f"AttentionCallback got unusable {name}",
                "str of whole characters",
                f"{text!r} at position {i}",
                "Decode bytes before; one reference for each sentence is enough",
            )
    return texts


def check_gold(gold, sentences, references):
    """Links between words that are there, as a list; or None."""
    if gold is None:
        return None
    gold = list(gold)
    if references is None or len(gold) != len(sentences):
        received = "no references" if references is None else f"{len(gold)} links"
        raise four_part_error(
            "AttentionCallback got gold links that do not fit",
            "GoldLinks of each sentence and its reference",
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
                f"{links!r} at position {i}",
                "Take them from read_alignments; words are what stands between white "
                "space, counted from 0",
            )
    return gold


def check_options(every, beam, name):
    """Numbers are numbers, a name is a name."""
    check_count("AttentionCallback", "every", every, 1)
    if beam is not None:
        check_count("AttentionCallback", "beam", beam, 1)
    if not isinstance(name, str) or not name.strip():
        raise four_part_error(
            "AttentionCallback got an unusable name",
            "a str that is not blank",
            f"name={name!r}",
            "It is the first part of the tags, e.g. 'en-de'",
        )


def check_projector(model):
    """It has embeddings that can be named."""
    if not hasattr(model, "source_embedding") or not hasattr(model, "target_embedding"):
        raise four_part_error(
            "AttentionCallback got projector=True for a model whose embeddings it "
            "does not know",
            "source_embedding and target_embedding, as Seq2Seq has",
            f"{type(model).__name__}",
            "Call write_embeddings yourself",
        )


def made_run(log_dir):
    """The folder of the run, made where missing."""
    try:
        folder = os.path.join(os.fspath(log_dir), "validation")
        tf.io.gfile.makedirs(folder)
        usable = not os.path.isdir(folder) or os.access(folder, os.W_OK)
    except (TypeError, OSError, tf.errors.OpError):
        usable = False
    if not usable:
        raise four_part_error(
            "AttentionCallback got an unusable log_dir",
            "a folder, or a place for one",
            f"log_dir={log_dir!r}",
            "Choose one that you can write to, and where no file stands in the way",
        )
    return folder
