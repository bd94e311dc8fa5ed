"""Checks that a shortlist fits the model and the arguments of `decode`."""

import numpy as np
import tensorflow as tf

from keras_seqattn.decoding.checks import check_forced, check_ids, check_vocabulary
from keras_seqattn.decoding.model_checks import can_shorten
from keras_seqattn.decoding.shortlist import Shortlist, fixed_ids
from keras_seqattn.errors import abbreviated, four_part_error


def check_shortlist(shortlist, model, source, rules):
    """Check that the model can use the shortlist and that all forced tokens fit in."""
    if not isinstance(shortlist, Shortlist):
        raise four_part_error(
            "decode got an unusable shortlist",
            "a Shortlist or None",
            abbreviated(shortlist),
            "Make one with Shortlist.learn",
        )
    if not can_shorten(model):
        raise four_part_error(
            "decode got a shortlist for a model that always computes all logits",
            "one with the method shorten(memory, ids), in an Ensemble all of them",
            abbreviated(model),
            "Drop the shortlist, or define the method (see Seq2Seq.shorten)",
        )
    check_fit(shortlist, model)
    check_ids(source, "shortlist", "Drop the shortlist")
    search, special, prefix = rules
    vocabulary = len(shortlist.frequent)
    check_vocabulary(vocabulary, search, special)
    listed = set(fixed_ids(special, search.forbidden_tokens))
    if prefix is not None and tf.executing_eagerly():
        check_forced(prefix, vocabulary, special)
        listed |= set(np.unique(prefix).tolist())
    size = min(shortlist.size, vocabulary)
    if len(listed) > size or min(listed) < 0 or max(listed) >= vocabulary:
        raise four_part_error(
            "decode got a shortlist with too little room",
            "room for the special tokens, forbidden_tokens and the prefix, at most "
            f"{size} ids from 0 to {vocabulary - 1}",
            f"{len(listed)} ids from {min(listed)} to {max(listed)}",
            "Make a Shortlist of a larger size",
        )


def check_fit(shortlist, model):
    """Check that shortlist and model have the same vocabularies.

    A model that does not tell its sizes passes.
    """
    sizes = {"source": len(shortlist.table), "target": len(shortlist.frequent)}
    for member in getattr(model, "models", [model]):  # an ensemble has several
        for side, size in sizes.items():
            embedding = getattr(member, f"{side}_embedding", None)
            expected = getattr(embedding, "input_dim", size)
            if size != expected:
                raise four_part_error(
                    "Shortlist does not fit the model",
                    f"a {side} vocabulary of {expected} tokens, as many as the model "
                    "embeds",
                    repr(shortlist),
                    "Make one with Shortlist.learn",
                )
