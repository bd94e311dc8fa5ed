"""Call arguments and step-by-step calls of the layers that the contract checks."""

import numpy as np
from keras import ops, tree

from keras_seqattn.ops.mask import zero_padding
from keras_seqattn.ops.unroll import static_unroll

PADDED_ATTENTION = {"query": "query_mask", "value": "value_mask"}
PADDED_DECODER = {"inputs": "inputs_mask", "value": "value_mask"}
PADDED_ENCODER = {"inputs": "mask"}


def mask_of(lengths, size):
    """Return a mask `[batch, size]`, True for the first `length` positions of a row."""
    return np.arange(size)[None, :] < np.asarray(lengths)[:, None]


def lengths_of(batch, size, empty):
    """Return lengths: a full row, shorter rows, and an empty row."""
    lengths = [max(1, size - 2 * i) for i in range(batch)]
    lengths[empty % batch] = 0
    return lengths


def normal(rng, *shape):
    """Return standard normal numbers, float32."""
    return rng.normal(size=shape).astype("float32")


def attention_arguments(rng, batch, source, target, query_depth=4, memory_depth=6):
    """Return arguments of an attention layer.

    The last row has an empty source, and the row before it an empty target.
    """
    return {
        "query": normal(rng, batch, target, query_depth),
        "value": normal(rng, batch, source, memory_depth),
        "query_mask": mask_of(lengths_of(batch, target, empty=-2), target),
        "value_mask": mask_of(lengths_of(batch, source, empty=-1), source),
        "return_attention_scores": True,
    }


def decoder_arguments(state_size):
    """Return a function that makes arguments of a decoder with these state sizes."""

    def arguments(rng, batch, source, target):
        attention = attention_arguments(rng, batch, source, target)
        return {
            "inputs": attention["query"],
            "value": attention["value"],
            "initial_state": tree.map_structure(
                lambda size: normal(rng, batch, size), state_size
            ),
            "inputs_mask": attention["query_mask"],
            "value_mask": attention["value_mask"],
            "return_attention_scores": True,
            "return_state": True,
        }

    return arguments


def encoder_arguments(rng, batch, source, target):
    """Return arguments of an encoder; the last row has an empty source."""
    return {
        "inputs": normal(rng, batch, source, 5),
        "mask": mask_of(lengths_of(batch, source, empty=-1), source),
    }


def attention_stepwise(
    layer, query, value, query_mask=None, value_mask=None, **options
):
    """Return the results of an attention layer, computed query by query."""
    memory = layer.prepare(value, value_mask)

    def step(query_t, state):
        context, alignment, state = layer.attend(query_t, memory, state)
        return (context, alignment), state

    queries, state = zero_padding(query, query_mask), layer.initial_state(memory)
    (context, alignment), _ = static_unroll(step, queries, state, query_mask)
    return context, ops.moveaxis(alignment, 1, -2)


def decoder_stepwise(
    decoder,
    inputs,
    value,
    initial_state=None,
    inputs_mask=None,
    value_mask=None,
    max_length=None,
    **options,
):
    """Return the results of a decoder, computed one target step after the other.

    With `max_length`, the decoder has a past, which gets room for so many steps.
    """
    memory = decoder.prepare(value, value_mask)
    room = {} if max_length is None else {"max_length": max_length}

    def step(inputs_t, state):
        output, alignment, state = decoder.step(inputs_t, state, memory)
        return (output, alignment), state

    steps, state = (
        zero_padding(inputs, inputs_mask),
        decoder.initial_state(memory, initial_state, **room),
    )
    (output, alignment), state = static_unroll(step, steps, state, inputs_mask)
    return output, ops.moveaxis(alignment, 1, -2), state
