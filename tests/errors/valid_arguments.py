"""Valid arguments and layers; each invalid case differs from them in one argument."""

import numpy as np

import keras_seqattn as ks

UNITS = 3
# Batch 2, target 3, source 5; query and embedding are 4 wide, values 6.


def ones(*shape):
    return np.ones(shape, "float32")


def mask(*shape):
    return np.ones(shape, bool)


def additive():
    return ks.BahdanauAttention(UNITS)


def bahdanau_cell(cell="gru", **options):
    return ks.layers.BahdanauCell(UNITS, additive(), cell=cell, **options)


def built(layer):
    layer(ones(2, 3, 4), ones(2, 5, 6))
    return layer


def decoder():
    return ks.AttentionDecoder(bahdanau_cell())


def attend(query=None, value=None, attention=None, **masks):
    """Calls an attention on a good query and value, but for what is given."""
    query = ones(2, 3, 4) if query is None else query
    value = ones(2, 5, 6) if value is None else value
    return (attention or additive())(query, value, **masks)


def decode(inputs=None, value=None, cell=None, **options):
    inputs = ones(2, 3, 4) if inputs is None else inputs
    value = ones(2, 5, 6) if value is None else value
    return ks.AttentionDecoder(cell or bahdanau_cell())(inputs, value, **options)
