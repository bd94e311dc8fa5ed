"""The arguments of `decode`, checked and divided into tensors and options."""

from typing import Any, NamedTuple

import tensorflow as tf
from keras import tree

from keras_seqattn.decoding import checks
from keras_seqattn.decoding.candidates import TokenRules
from keras_seqattn.decoding.model_checks import can_select, source_pad_of
from keras_seqattn.decoding.relative_length import RelativeLength
from keras_seqattn.decoding.shortlist_checks import check_shortlist
from keras_seqattn.errors import abbreviated, four_part_error

# With so many rows, a matrix product takes longer than reading its weights from memory.
_MANY_ROWS = 16


class SearchInputs(NamedTuple):
    """The tensors of a call of `decode`."""

    source: Any  # nest, batch first
    max_length: Any  # int scalar; (): each sentence has its own, a `RelativeLength`
    seed: Any  # int scalar; (): the search has no seed
    prefix: Any  # int32 [batch, target], padded; (): no tokens are forced

    @property
    def has_seed(self):
        return not isinstance(self.seed, tuple)

    @property
    def has_prefix(self):
        return not isinstance(self.prefix, tuple)


class SearchOptions(NamedTuple):
    """The options of a call of `decode` that its graph depends on; hashable."""

    search: Any  # `Search`
    special: Any  # `SpecialTokens` of the target
    source_pad: int  # id of the padding of the source
    relative_length: Any  # `RelativeLength`; None: all sentences have one maximum
    precomputes: bool  # whether to call `precompute`
    may_shrink: bool  # whether finished sentences may leave the batch
    shortlist: Any  # `Shortlist` or None


class SearchRequest(NamedTuple):
    """A call of `decode` with valid arguments."""

    inputs: SearchInputs
    options: SearchOptions


def make_request(
    model, source, search, max_length, *, tokens, prefix, leaving, shortlist
):
    """Check the arguments of `decode` and return them as a `SearchRequest`."""
    special = checks.as_special("decode", tokens)
    checks.check_model("decode", model)
    checks.check_tokens("decode", model, special)
    checks.check_search("decode", search, max_length, special)
    checks.check_positions(model, max_length)
    source_pad = source_pad_of(model, special.pad)
    source = as_tensors("decode", source, source_pad)
    checks.check_source("decode", source)
    is_relative = isinstance(max_length, RelativeLength)
    if is_relative:
        checks.check_ids(source, "RelativeLength", "Pass an integer as max_length")
    if prefix is not None:
        prefix = tf.cast(prefix, tf.int32)
        checks.check_prefix(prefix, source, max_length, special, source_pad)
        prefix = None if prefix.shape[1] == 0 else prefix
    if shortlist is not None:
        check_shortlist(shortlist, model, source, TokenRules(search, special, prefix))
    if leaving is None:
        leaving = tf.executing_eagerly()
    inputs = SearchInputs(
        source=source,
        max_length=() if is_relative else max_length,
        seed=() if search.seed is None else search.seed % 2**31,
        prefix=() if prefix is None else prefix,
    )
    options = SearchOptions(
        search=search,
        special=special,
        source_pad=source_pad,
        relative_length=max_length if is_relative else None,
        precomputes=hasattr(model, "precompute")
        and _does_precomputing_pay(search, source, max_length),
        # A search without `best_of` draws one array of numbers for the whole batch.
        may_shrink=bool(
            leaving and can_select(model) and search.best_of and prefix is None
        ),
        shortlist=shortlist,
    )
    return SearchRequest(inputs, options)


def as_tensors(owner, source, pad):
    """Return a source as tensors: lists as one tensor, each value of a dict as one."""
    if isinstance(source, (list, tuple)) and not hasattr(source, "_fields"):
        try:
            return tf.convert_to_tensor(source)
        except (ValueError, TypeError):
            raise four_part_error(
                f"{owner} got a source that is not a tensor",
                "ids [batch, source]",
                abbreviated(source),
                "Pad all sentences to one length, e.g. with "
                f"tf.ragged.constant(source).to_tensor({pad})",
            ) from None
    return tree.map_structure(lambda x: checks.as_tensor(x, pad), source)


def _does_precomputing_pay(search, source, max_length):
    """Whether to compute for all source positions what a step computes for its context.

    Both are the same amount of work if a source gets as many queries as it has
    positions. Precomputing also avoids products of few rows, which mostly wait for
    memory; but greedy decoding of many sentences has many rows anyway.
    """
    batch, size = tree.flatten(source)[0].shape[:2]
    if search.beam is None and batch is not None and batch > _MANY_ROWS:
        return False
    if isinstance(max_length, RelativeLength) or size is None:
        return True
    return (search.beam or 1) * max_length >= size
