"""Vaswani et al. 2017: one layer of a Transformer, of the encoder or of the decoder."""

from typing import Any, NamedTuple

import keras

from keras_seqattn.layers.composite import Composite, training_kwargs

EPSILON = 1e-6  # of the layer normalisations


class BlockAlignments(NamedTuple):
    """Where the positions of a block looked: `[batch, time, (heads,) ...]`."""

    own: Any  # at its own sequence; None: it was not kept
    memory: Any  # at the memory; None: there is none


class Residual(Composite):
    """The connection around a sublayer: normalisation, dropout and a sum.

    Args:
        norm_first: whether the input of the sublayer is normalised ("pre"); else the
            sum is, as in the paper.
        dropout: rate, of the result of the sublayer.
        seed: of the dropout.
        **kwargs: of `keras.layers.Layer`.
    """

    def __init__(self, norm_first, dropout, seed, **kwargs):
        super().__init__(**kwargs)
        self.norm_first = norm_first
        self.norm = keras.layers.LayerNormalization(
            epsilon=EPSILON, dtype=self.dtype_policy, name="norm"
        )
        self.drop = keras.layers.Dropout(dropout, seed=seed, dtype=self.dtype_policy)

    def build(self, shape):
        self.norm.build(shape)

    def around(self, sublayer, x, training=None):
        """`x` and what the function `sublayer` adds to it."""
        drop = training_kwargs(training)
        if self.norm_first:
            return x + self.drop(sublayer(self.norm(x)), **drop)
        return self.norm(x + self.drop(sublayer(x), **drop))  # Vaswani (3.1)


class TransformerBlock(Composite):
    """Self-attention, attention to a memory if there is one, and two dense layers.

    Whole sequences and single steps run the same code: `seen` says which positions the
    self-attention may read.

    Args:
        units: size of inputs and outputs.
        feed_forward_units: size between the dense layers.
        activation: between them.
        norm_first: see `Residual`.
        dropout: rate, also between the dense layers.
        self_attention: mechanism, a new one.
        attention: mechanism for the memory, a new one; None: there is no memory.
        seed: of the dropout.
        **kwargs: of `keras.layers.Layer`.
    """

    def __init__(
        self,
        units,
        feed_forward_units,
        activation,
        norm_first,
        dropout,
        self_attention,
        attention=None,
        seed=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        policy = self.dtype_policy

        def residual(name, number):
            own_seed = None if seed is None else seed + number
            return Residual(norm_first, dropout, own_seed, dtype=policy, name=name)

        self.kernel_initializer = keras.initializers.get("glorot_uniform")
        self.self_attention, self.attention = self_attention, attention
        self.self_residual = residual("self_residual", 0)
        self.residual = None if attention is None else residual("residual", 1)
        self.dense_residual = residual("dense_residual", 2)
        self.inner = self.make_projection(
            feed_forward_units, "inner", use_bias=True, activation=activation
        )
        self.inner_drop = keras.layers.Dropout(
            dropout, seed=None if seed is None else seed + 3, dtype=policy
        )
        self.outer = self.make_projection(units, "outer", use_bias=True)
        self.units = units

    def build(self, shape, memory_shape=None):
        self.self_attention.build(shape, shape)
        self.self_residual.build(shape)
        if self.attention is not None:
            self.attention.build(shape, memory_shape)
            self.residual.build(shape)
        self.dense_residual.build(shape)
        self.inner.build(shape)
        self.outer.build((*shape[:-1], self.inner.units))

    def run(self, x, seen, memory=None, training=None, keep_own=False):
        """The output of the block, and its `BlockAlignments`.

        Args:
            x: `[batch, time, units]`; a step has the beam in the place of time.
            seen: function from the `Memory` of `x` to that of all positions that the
                self-attention may read.
            memory: of `self.attention.prepare`.
            training: whether dropout applies.
            keep_own: whether to return the alignment of the self-attention too, which
                is large: the caller decides how long it is needed.
        """
        alignments = BlockAlignments(None, None)

        def attend_to_self(x):
            nonlocal alignments
            own = seen(self.self_attention.prepare(x))
            attended = self.self_attention.attend(x, own, training=training)
            if keep_own:
                alignments = alignments._replace(own=attended.alignment)
            return attended.context

        def attend(x):
            nonlocal alignments
            attended = self.attention.attend(x, memory, training=training)
            alignments = alignments._replace(memory=attended.alignment)
            return attended.context

        def feed_forward(x):
            inner = self.inner_drop(self.inner(x), **training_kwargs(training))
            return self.outer(inner)  # Vaswani (2)

        x = self.self_residual.around(attend_to_self, x, training)
        if self.attention is not None:
            x = self.residual.around(attend, x, training)
        return self.dense_residual.around(feed_forward, x, training), alignments
