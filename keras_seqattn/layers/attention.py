"""The base of all attention mechanisms."""

import inspect

import keras
from keras import ops, tree

from keras_seqattn.checks import check_count, check_rate
from keras_seqattn.errors import four_part_error
from keras_seqattn.layers.composite import Composite, plain_call, training_kwargs
from keras_seqattn.layers.parts import checks
from keras_seqattn.layers.parts.dropout import LoopDropout
from keras_seqattn.layers.parts.keras_call import check_key, spread_list
from keras_seqattn.ops import dispatch
from keras_seqattn.ops.align import context_vector
from keras_seqattn.ops.mask import (
    both,
    carry_mask,
    causal_mask,
    row_positions,
    zero_padding,
)
from keras_seqattn.types import Attended, Memory


class Attention(Composite):
    """Base of the mechanisms: a softmax over scores, a context as weighted sum.

    A mechanism with another score overrides `score`, and `project_keys` if it projects
    the values. One that aligns in another way overrides `attend`. One that remembers
    earlier queries overrides `initial_state` and `next_state` too.

    Args:
        value_units: depth of a learned value projection W_V; None: the context is a
            weighted sum of the values as they are.
        dropout: rate at which alignments are dropped before the context is summed. The
            alignment that is returned is the one before dropout.
        kernel_initializer: for the projections.
        seed: for dropout.
        implementation: of a score with a hidden layer. "reference" is the equation;
            "fast" computes the hidden layer in parts, and again for the gradient: less
            memory. "auto" chooses by the shapes. Without a hidden layer, "fast" is an
            error.
        **kwargs: of `keras.layers.Layer`.

    Call arguments:
        query: `[batch, query_depth]`, or `[batch, target, query_depth]`. Or the first
            tensors in a list, as `keras.layers.Attention` takes them: `[query, value]`
            or `[query, value, key]`, and `mask=[query_mask, value_mask]`.
        value: `[batch, source, memory_depth]`; or an `Encoded`, or a ragged tensor:
            they bring their mask, and a `value_mask` beside them masks even more.
        query_mask: `[batch, target]`, True = real. A masked query gives zeros
            and does not change the state.
        value_mask: `[batch, source]`, True = real.
        return_attention_scores: whether to return the alignment too.
        use_causal_mask: whether position t of the query attends to the positions 1 to t
            of the value only: self-attention over a sequence that is not known to its
            end.
        training: whether dropout applies.
        key: `[batch, source, key_depth]`, what the scores read instead of the value;
            None: the value.
        key_mask: `[batch, source]`, True = real; it masks even more than `value_mask`.

    Returns:
        context `[batch, memory_depth]` or `[batch, target, memory_depth]`; with
        `return_attention_scores=True` also the alignment, `[batch, source]` or
        `[batch, target, source]`.

    Equations:
        context[b, m] = sum{alignment[b, s] * values[b, s, m] : s}  Bahdanau (5)
        alignment = softmax(scores)  Bahdanau (6)

    References:
        Bahdanau, Cho, Bengio 2015, arXiv:1409.0473.
    """

    _has_fast_score = False  # whether `score` uses `_implementation_of`
    needs_positions = False  # whether `score` reads the `positions` of a memory
    takes_mask_per_query = True  # whether a mask may be [batch, target, source]

    def __init__(
        self,
        value_units=None,
        dropout=0.0,
        kernel_initializer="glorot_uniform",
        seed=None,
        implementation="auto",
        **kwargs,
    ):
        super().__init__(**kwargs)
        owner = type(self).__name__
        checks.check_implementation(owner, implementation)
        if value_units is not None:
            check_count(owner, "value_units", value_units)
        check_rate(owner, "dropout", dropout)
        self.value_units = value_units
        self.dropout = dropout
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.seed = seed
        self.implementation = implementation
        self.alignment_dropout = LoopDropout(
            dropout, seed=seed, dtype=self.dtype_policy, name="alignment_dropout"
        )
        self.value_projection = None
        if value_units is not None:
            self.value_projection = self.make_projection(
                value_units, "value_projection"
            )

    def build(self, query_shape, value_shape, key_shape=None):
        self._check_shapes(query_shape, value_shape, key_shape)
        if not self._has_fast_score:
            reason = "the score has the readable form only"
            dispatch.check_fast(type(self).__name__, self.implementation, reason)
        if self.value_projection is not None:
            self.value_projection.build(value_shape)
        self.alignment_dropout.build((query_shape[0], value_shape[1]))

    @property
    def takes_key(self):
        """Whether the scores may read keys that are not the values."""
        return "key" in inspect.signature(self.prepare).parameters

    # One step ---------------------------------------------------------------------

    @Composite.step_verb
    def prepare(self, value, mask=None, key=None):
        """Project the source once, and set its padding to zero.

        Args:
            value: `[batch, source, memory_depth]`, or an `Encoded` with its mask.
            mask: `[batch, source]`, True = real, or None.
            key: `[batch, source, key_depth]`, what the scores read; None: the value.

        Returns:
            `Memory(values, keys, mask)`; its `positions` number the real positions from
            1 on if `needs_positions`.
        """
        checks.check_source(type(self).__name__, value.shape)
        checks.check_mask(
            type(self).__name__, mask, "value", value.shape, "source", "mask"
        )
        value = zero_padding(value, mask)
        if key is None:
            key = value
        else:
            check_key(self, value.shape, key.shape)
            key = zero_padding(key, mask)
        positions = row_positions(mask, value) if self.needs_positions else ()
        values, keys = self.project_values(value), self.project_keys(key)
        return Memory(values, keys, mask, positions=positions)

    def initial_state(self, memory):
        """The state before the first query, a nest; () without a state."""
        return ()

    @Composite.step_verb
    def attend(self, query, memory, state=(), training=None):
        """Attend to the memory, once for every query.

        Args:
            query: `[batch, ..., query_depth]`: the axes between batch and depth are
                independent queries to the same memory (beam, or all target positions
                of a mechanism without state).
            memory: what `prepare` returned.
            state: what `initial_state` or the last `attend` returned.
            training: whether dropout applies.

        Returns:
            `Attended(context, alignment, state)`.
        """
        scores = self.score(query, memory, state)
        alignment = dispatch.masked_softmax(scores, memory.mask)
        state = self.next_state(state, alignment)
        return self.read(alignment, memory, state, training)

    def score(self, query, memory, state=()):
        """Scores `[batch, ..., source]` of a query against a memory.

        They may be float32 in half precision. A score runs in a loop, so use
        `apply_projection` and `compute_weight`.
        """
        raise four_part_error(
            f"{type(self).__name__} has no score",
            "a subclass of Attention that defines score(query, memory, state)",
            "none",
            "Define it; it returns scores [batch, ..., source]",
            kind=NotImplementedError,
        )

    def _implementation_of(self, score):
        """The score of `ops.score`, run by the `implementation` of this layer."""
        return dispatch.choose_score(type(self).__name__, self.implementation, score)

    def next_state(self, state, alignment):
        """The state after an alignment `[batch, ..., source]`, float32."""
        return state

    def read(self, alignment, memory, state, training=None):
        """Sum the values, weighted by the alignment after dropout."""
        alignment = ops.cast(alignment, self.compute_dtype)
        dropped = self.alignment_dropout(alignment, **training_kwargs(training))
        return Attended(context_vector(dropped, memory.values), alignment, state)

    def project_values(self, value):
        """The values of the memory, `[batch, source, value_units or memory_depth]`."""
        return value if self.value_projection is None else self.value_projection(value)

    def project_keys(self, value):
        """The keys of the memory, `[batch, source, ...]`, computed once per source.

        The argument is the key instead of the value, if there is one.
        """
        return value

    # Whole sequences --------------------------------------------------------------

    def __call__(self, *args, **kwargs):
        args, kwargs = spread_list(type(self).__name__, args, kwargs)
        args, kwargs = plain_call(self, args, kwargs)
        return super().__call__(*args, **kwargs)

    def call(
        self,
        query,
        value,
        query_mask=None,
        value_mask=None,
        return_attention_scores=False,
        use_causal_mask=False,
        training=None,
        key=None,
        key_mask=None,
    ):
        given = query_mask, value_mask, key_mask
        self._check(query, value, key, given, use_causal_mask)
        value_mask, own = both(value_mask, key_mask), () if key is None else (key,)
        memory = self.prepare(value, value_mask, *own)
        state = self.initial_state(memory)
        query, masks = zero_padding(query, query_mask), ()
        if use_causal_mask:
            masks = causal_mask(ops.shape(value)[1], value_mask)
        in_turn = use_causal_mask and not self.takes_mask_per_query
        if len(query.shape) == 3 and (tree.flatten(state) or in_turn):
            context, alignment = self._in_turn(
                query, memory, state, query_mask, masks, training
            )
        else:
            if use_causal_mask:
                memory = memory._replace(mask=masks)
            context, alignment, _ = self.attend(query, memory, state, training=training)
            context = zero_padding(context, query_mask)
            alignment = zero_padding(alignment, query_mask)
        if len(query.shape) == 3:
            alignment = ops.moveaxis(alignment, 1, -2)  # heads before target
        context = carry_mask(context, query_mask)
        return (context, alignment) if return_attention_scores else context

    def _in_turn(self, query, memory, state, query_mask, masks, training):
        """Attend with one query after the other: some depend on those before.

        Args:
            query: `[batch, target, query_depth]`.
            memory: what `prepare` returned.
            state: before the first query.
            query_mask: `[batch, target]`, or None.
            masks: `[batch or 1, target, source]`, one for each query, or ().
            training: whether dropout applies.
        """
        if not isinstance(masks, tuple):
            batch, target = ops.shape(query)[:2]
            masks = ops.broadcast_to(masks, (batch, target, ops.shape(masks)[-1]))

        def step(inputs_t, state):
            query_t, mask_t = inputs_t
            seen = memory if isinstance(mask_t, tuple) else memory._replace(mask=mask_t)
            attended = self.attend(query_t, seen, state, training=training)
            return (attended.context, attended.alignment), attended.state

        of_loop = "reference" if self.implementation == "reference" else "auto"
        results, _ = dispatch.unroll(
            type(self).__name__,
            of_loop,
            training,
            step,
            (query, masks),
            state,
            query_mask,
        )
        return results

    def compute_mask(self, query, previous_mask):
        return previous_mask  # of the query; the alignment has none

    def compute_output_shape(self, query_shape, value_shape):
        return (*query_shape[:-1], self.value_units or value_shape[-1])

    def alignment_shape(self, query_shape, value_shape):
        return (*query_shape[:-1], value_shape[1])

    def compute_output_spec(
        self,
        query,
        value,
        query_mask=None,
        value_mask=None,
        return_attention_scores=False,
        use_causal_mask=False,
        training=None,
        key=None,
        key_mask=None,
    ):
        given = query_mask, value_mask, key_mask
        self._check(query, value, key, given, use_causal_mask)
        shapes = query.shape, value.shape
        context = keras.KerasTensor(
            self.compute_output_shape(*shapes), self.compute_dtype
        )
        if not return_attention_scores:
            return context
        return context, keras.KerasTensor(
            self.alignment_shape(*shapes), self.compute_dtype
        )

    def check_shapes(self, query_shape, value_shape):
        """Check that query and value fit together."""
        owner = type(self).__name__
        checks.check_rank(
            owner,
            "query",
            query_shape,
            "[batch, query_depth]",
            "[batch, target, query_depth]",
        )
        checks.check_target(owner, "a query", query_shape)
        checks.check_source(owner, value_shape)
        checks.check_batch(owner, "query", query_shape, value_shape)

    def _check_shapes(self, query_shape, value_shape, key_shape):
        """Check that query and keys fit together; without a key the values are keys."""
        check_key(self, value_shape, key_shape)
        self.check_shapes(query_shape, key_shape or value_shape)

    def _check(self, query, value, key, masks, use_causal_mask):
        owner, (query_mask, value_mask, key_mask) = type(self).__name__, masks
        lengths = query.shape[1:-1], value.shape[1:-1]
        if use_causal_mask and (len(query.shape) == 2 or _differ(*lengths)):
            raise four_part_error(
                f"{owner} cannot use a causal mask",
                "query and value of one length, because they are one sequence",
                f"query of shape {tuple(query.shape)} and value of shape "
                f"{tuple(value.shape)}",
                "Drop use_causal_mask, or pass the same sequence twice",
            )
        self._check_shapes(query.shape, value.shape, None if key is None else key.shape)
        if query_mask is not None and len(query.shape) == 2:
            raise four_part_error(
                f"{owner} got a query_mask for a single query",
                "None with a query [batch, query_depth]",
                f"a mask of shape {tuple(query_mask.shape)}",
                "Drop it, or give the query a target axis",
            )
        checks.check_mask(owner, query_mask, "query", query.shape, "target")
        checks.check_mask(owner, value_mask, "value", value.shape, "source")
        checks.check_mask(owner, key_mask, "key", value.shape, "source")

    def get_config(self):
        return {
            **super().get_config(),
            "value_units": self.value_units,
            "dropout": self.dropout,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
            "seed": self.seed,
            "implementation": self.implementation,
        }


def _differ(a, b):
    return a[0] != b[0] and None not in (a[0], b[0])
