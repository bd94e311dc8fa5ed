"""The values that travel between the rows of the library: immutable named tuples.

Memory, state and masks are arguments and results: no layer keeps them as attributes.
"""

from typing import Any, NamedTuple

__all__ = [
    "Attended",
    "Decoded",
    "Encoded",
    "Memory",
    "Past",
    "Scored",
    "SpecialTokens",
    "Started",
    "Step",
]


class SpecialTokens(NamedTuple):
    """The ids of the tokens that are no words, on one side: source or target."""

    pad: int = 0
    start: int = 1
    end: int = 2
    unknown: int = 3  # used by the text side: a search treats it like any word


class Memory(NamedTuple):
    """A source sentence, prepared once and attended to at every target step."""

    values: Any  # [batch, source, memory_depth], zero where nothing is real
    keys: Any  # [batch, source, units], the projected values
    mask: Any  # [batch, source], True = real; None: everything is real
    values_and_feed: Any = ()  # [batch, source, ...], [h_j; F h_j] of `precompute`
    positions: Any = ()  # int32 [batch, source], 1 to S; (): not needed


class Encoded(NamedTuple):
    """What an encoder returns."""

    values: Any  # [batch, source, memory_depth], zero where nothing is real
    mask: Any  # [batch, source], always a tensor
    state: Any  # list with one entry per layer, each in the structure of its cell


class Attended(NamedTuple):
    """What an attention mechanism returns for a query."""

    context: Any  # [batch, ..., memory_depth]
    alignment: Any  # [batch, ..., source]; with heads [batch, ..., heads, source]
    state: Any  # nest, batch first; () for mechanisms without a past


class Past(NamedTuple):
    """The positions that a decoder has seen, for the attention of later ones to them.

    A position is a node. All hypotheses of a sentence share its nodes, and each knows
    its own: where hypotheses part, only `is_own` differs, and no node is copied.
    """

    nodes: Any  # nest of [batch, ..., nodes, depth]: keys, values, as `prepare` made it
    is_own: Any  # bool [batch, (beam,) nodes], whether a node belongs to a hypothesis
    used: Any = ()  # int32 [batch], how many nodes are in use; (): all, it grows


class Step(NamedTuple):
    """What a decoder returns for one target position."""

    output: Any  # [batch, ..., output_depth]
    alignment: Any  # [batch, ..., source]; with heads [batch, ..., heads, source]
    state: Any  # nest, batch first


class Started(NamedTuple):
    """What a model returns for a source, before the first target step."""

    state: Any  # nest, batch first
    memory: Any  # has a `mask`, [batch, source], True = real; None: everything is real


class Decoded(NamedTuple):
    """What a search returns, `[batch, n_best, ...]`, the best hypothesis first."""

    tokens: Any  # [batch, n_best, target], the end token included, padded after it
    lengths: Any  # [batch, n_best], the end token counts; 0: there is no hypothesis
    scores: Any  # [batch, n_best], log-probability under the model
    ranking: Any  # [batch, n_best], the penalised value that sorts
    alignments: Any  # [batch, n_best, target, source]; heads before target


class Scored(NamedTuple):
    """How probable a target is under a model."""

    scores: Any  # [batch], log-probability of the target
    log_probs: Any  # [batch, target], of each token; zero in the padding
    alignments: Any  # [batch, target, source]; heads before target


class Readout(NamedTuple):
    """The factors of logits: the logits are `hidden @ kernel + bias`."""

    hidden: Any  # [batch, ..., depth], in the dtype of the product
    kernel: Any  # weight [depth, vocabulary], or [vocabulary, depth]
    bias: Any  # weight [vocabulary], or None
    transposed: bool  # whether the kernel is [vocabulary, depth], an embedding's
    training: bool  # whether gradients will be computed


class Columns(NamedTuple):
    """The columns of the last product for some tokens, gathered once for many steps."""

    kernel: Any  # [depth, size], in the dtype of the product
    bias: Any  # [size]; (): none


class SourcedMemory(NamedTuple):
    """A memory with the ids of its source, for a head that reads them."""

    memory: Any
    source: Any  # int32 [batch, source], the id of the padding where nothing is real

    @property
    def mask(self):
        return self.memory.mask


class Shortened(NamedTuple):
    """A memory with columns of the last product, for all tokens or for a list of them.

    With a list, tokens are places in the list: the inputs of a step and its logits.
    """

    memory: Any
    ids: Any  # int32 [size], the token at each place; (): all tokens, in their order
    columns: Any  # of the head, e.g. `Columns`

    @property
    def mask(self):
        return self.memory.mask


class TokenLosses(NamedTuple):
    """How well a model predicts its labels, without the padding."""

    total: Any  # scalar, the weighted sum of the losses
    negative_log_likelihood: Any  # [batch, target], of labels; zero in the padding
    correct: Any  # [batch, target], whether no other token is more probable
