"""A search among the tokens of a shortlist: places in the list stand for tokens."""

import dataclasses

import numpy as np
import tensorflow as tf

from keras_seqattn.decoding.checks import check_forced, check_ids, check_vocabulary
from keras_seqattn.decoding.protocol import can_shorten
from keras_seqattn.decoding.shortlist import Shortlist, given_ids
from keras_seqattn.errors import four_part_error


def shortlisted(shortlist, source, search, tokens, prefix):
    """The list of a batch, and what knows tokens in places of it.

    Special tokens are in their own places; words that are forbidden come after them, in
    places that are known beforehand, as the search wants them.

    Args:
        shortlist: `Shortlist`.
        source: ids `[batch, source]`.
        search: `Search`.
        tokens: `SpecialTokens`.
        prefix: int32 `[batch, target]`, or None.

    Returns:
        `(ids, search, prefix)`, the ids int32 `[size]`.
    """
    forbidden = search.forbidden_tokens
    ids = shortlist.ids(source, tokens, forbidden, prefix)
    if forbidden:
        given = given_ids(tokens, forbidden)
        places = tuple(given.index(token) for token in forbidden)
        search = dataclasses.replace(search, forbidden_tokens=places)
    if prefix is not None:
        nowhere = tf.fill([len(shortlist.frequent)], tokens.pad)
        here = tf.range(tf.size(ids))
        places = tf.tensor_scatter_nd_update(nowhere, ids[:, None], here)
        prefix = tf.gather(places, prefix)
    return ids, search, prefix


def check_shortlist(shortlist, model, source, search, tokens, prefix):
    """The model can be shortened, has these vocabularies, and there is room."""
    if not isinstance(shortlist, Shortlist):
        raise four_part_error(
            "decode got an unusable shortlist",
            "a Shortlist or None",
            repr(shortlist),
            "Make one with Shortlist.learn",
        )
    if not can_shorten(model):
        raise four_part_error(
            "decode got a shortlist for a model that always has logits of all tokens",
            "one with the method shorten(memory, ids), in an Ensemble all of them",
            repr(model),
            "Drop the shortlist, or define the method (see Seq2Seq.shorten)",
        )
    check_fit(shortlist, model)
    check_ids(source, "shortlist", "Drop the shortlist.")
    vocabulary = len(shortlist.frequent)
    check_vocabulary(vocabulary, search, tokens)
    listed = set(given_ids(tokens, search.forbidden_tokens))
    if prefix is not None and tf.executing_eagerly():
        check_forced(prefix, vocabulary, tokens)
        listed |= set(np.unique(prefix).tolist())
    size = min(shortlist.size, vocabulary)
    if len(listed) > size or max(listed) >= vocabulary:
        raise four_part_error(
            "decode got a shortlist with too little room",
            "one for all ids up to the largest special token, forbidden_tokens and "
            f"the prefix, {size} at most and below {vocabulary}",
            f"{len(listed)} ids up to {max(listed)}",
            "Make a Shortlist of a larger size",
        )


def check_fit(shortlist, model):
    """Its vocabularies are those of the model, as far as the model says."""
    sizes = {"source": len(shortlist.table), "target": len(shortlist.frequent)}
    for part in getattr(model, "models", [model]):  # of an ensemble, each one
        for side, size in sizes.items():
            embedding = getattr(part, f"{side}_embedding", None)
            expected = getattr(embedding, "input_dim", size)
            if size != expected:
                raise four_part_error(
                    "Shortlist does not fit the model",
                    f"a {side} vocabulary of {expected} tokens, as many as the model "
                    "embeds",
                    repr(shortlist),
                    "Make one with Shortlist.learn",
                )
