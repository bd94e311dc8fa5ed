"""A search in which places in a shortlist stand for tokens."""

import dataclasses

import tensorflow as tf

from keras_seqattn.decoding.candidates import TokenRules
from keras_seqattn.decoding.shortlist import fixed_ids
from keras_seqattn.types import SpecialTokens


def to_places(shortlist, source, source_pad, rules):
    """Return the ids of a batch, and the rules with places in place of tokens.

    Special tokens come first, forbidden tokens after them, in places that do not depend
    on the batch, because the options of a search are constants.

    Args:
        shortlist: `Shortlist`.
        source: ids `[batch, source]`.
        source_pad: id of the padding of the source.
        rules: `TokenRules`.

    Returns:
        `(ids, rules)`, the ids int32 `[size]`: the token in each place.
    """
    search, special, prefix = rules
    forbidden = search.forbidden_tokens
    ids = shortlist.ids(source, special, forbidden, prefix, source_pad)
    place_of = fixed_ids(special, forbidden).index
    special = SpecialTokens(*map(place_of, special))
    if forbidden:
        places = tuple(map(place_of, forbidden))
        search = dataclasses.replace(search, forbidden_tokens=places)
    if prefix is not None:
        places = tf.fill([len(shortlist.frequent)], special.pad)
        places = tf.tensor_scatter_nd_update(
            places, ids[:, None], tf.range(tf.size(ids))
        )
        prefix = tf.gather(places, prefix)
    return ids, TokenRules(search, special, prefix)
