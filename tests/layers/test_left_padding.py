"""Padding before a sentence means the same as padding behind it, to every mechanism."""

import numpy as np
import pytest

from tests.layers.mechanism_cases import MASK, MECHANISMS, assert_close, built, of_row

LENGTHS = MASK.sum(axis=1)


def to_the_left(rows, axis=0):
    """Each row of the batch with its padding before it; `axis` of source in a row."""
    shift = len(MASK[0]) - LENGTHS
    moved = [np.roll(x, n, axis) for x, n in zip(rows, shift, strict=True)]
    return np.stack(moved)


@pytest.mark.parametrize("name", MECHANISMS)
def test_left_is_right(name):
    query, value = of_row(name, target=4)
    layer = built(MECHANISMS[name].make(), query, value)
    value[~MASK] = np.nan
    options = {"return_attention_scores": True}
    context, alignment = layer(query, value, value_mask=MASK, **options)
    mask, value = to_the_left(MASK), to_the_left(value)
    on_the_left = layer(query, value, value_mask=mask, **options)
    assert_close(on_the_left[0], context)
    assert_close(on_the_left[1], to_the_left(np.asarray(alignment), axis=-1))
