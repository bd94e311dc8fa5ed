"""What the encoder and the decoder of a Transformer have in common."""

import copy

import keras

from keras_seqattn.checks import check_count, check_rate
from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.layers.attention import Attention
from keras_seqattn.layers.composite import Composite, training_kwargs
from keras_seqattn.layers.multi_head_attention import MultiHeadAttention
from keras_seqattn.layers.parts.checks import check_attention, check_heads, check_rank
from keras_seqattn.layers.parts.nested_layers import serialize_part
from keras_seqattn.layers.parts.transformer_block import EPSILON, TransformerBlock
from keras_seqattn.layers.position_embedding import PositionEmbedding


class Transformer(Composite):
    """Base of `TransformerEncoder` and `TransformerDecoder`: their arguments."""

    parts = ("positions", "self_attention")
    axis = "source"  # the name of the axis of its inputs

    def __init__(
        self,
        units,
        layers=6,
        heads=8,
        feed_forward_units=None,
        dropout=0.0,
        attention_dropout=0.0,
        activation="relu",
        norm_first=False,
        positions="sine",
        self_attention=None,
        seed=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        owner = type(self).__name__
        check_heads(owner, units, heads)
        check_count(owner, "layers", layers)
        if feed_forward_units is not None:
            check_count(owner, "feed_forward_units", feed_forward_units)
        check_rate(owner, "dropout", dropout)
        check_rate(owner, "attention_dropout", attention_dropout)
        self.units, self.layer_count, self.heads = units, layers, heads
        self.feed_forward_units = feed_forward_units
        self.dropout, self.attention_dropout = dropout, attention_dropout
        self.activation = keras.activations.get(activation)
        self.norm_first, self.seed = norm_first, seed
        if positions == "sine":
            positions = PositionEmbedding(dtype=self.dtype_policy, name="positions")
        elif not isinstance(positions, (PositionEmbedding, type(None))):
            raise four_part_error(
                f"{owner} got unusable positions",
                "'sine', a PositionEmbedding, or None",
                abbreviated(positions),
                "Pass e.g. positions=PositionEmbedding('learned', max_positions=512)",
            )
        self.positions = positions
        # Class and configuration of the mechanisms; None: `MultiHeadAttention`.
        self.templates = {"self_attention": self._template(self_attention)}
        self.drop = keras.layers.Dropout(dropout, seed=seed, dtype=self.dtype_policy)
        self.norm = None
        if norm_first:
            self.norm = keras.layers.LayerNormalization(
                epsilon=EPSILON, dtype=self.dtype_policy, name="norm"
            )

    def _template(self, attention):
        """The class of a mechanism and its serialized form, or None."""
        if attention is None:
            return None
        owner = type(self).__name__
        check_attention(owner, attention)
        has_state = type(attention).initial_state is not Attention.initial_state
        if has_state or not attention.takes_mask_per_query:
            raise four_part_error(
                f"{owner} got an attention that cannot run in parallel",
                "a mechanism that aligns by a softmax and has no state",
                type(attention).__name__,
                "Pass e.g. MultiHeadAttention(units) or BahdanauAttention(units)",
            )
        return type(attention), serialize_part(attention)

    def _block(self, number):
        return TransformerBlock(
            self.units,
            self.feed_forward_units or 4 * self.units,
            self.activation,
            self.norm_first,
            self.dropout,
            **{name: self._mechanism(name, number) for name in self.templates},
            seed=self._seed(10 * number + 1),
            dtype=self.dtype_policy,
            name=f"block_{number}",
        )

    def _mechanism(self, name, number):
        """A new mechanism for a block."""
        if self.templates[name] is not None:
            kind, serialized = self.templates[name]
            config = copy.deepcopy(serialized["config"])
            if config.get("seed") is not None:  # or all layers would drop the same
                config["seed"] += 10 * number
            return kind.from_config(config)
        offset = 6 + [*self.templates].index(name)
        return MultiHeadAttention(
            self.units,
            self.heads,
            value_units=self.units,
            dropout=self.attention_dropout,
            seed=self._seed(10 * number + offset),
            dtype=self.dtype_policy,
            name=name,
        )

    def heads_of(self, name):
        """The number of heads of "self_attention" or "attention"; 1 without heads."""
        if self.templates[name] is None:
            return self.heads
        shape = (None, None, self.units)
        of_alignment = self._mechanism(name, 0).alignment_shape
        _, *heads, _, _ = of_alignment(shape, shape)
        return heads[0] if heads else 1

    def _seed(self, number):
        return None if self.seed is None else self.seed + number

    def _build_blocks(self, shape, memory_shape=None):
        check_sequence(type(self).__name__, shape, self.axis, self.units)
        if self.positions is not None:
            self.positions.build(shape)
        self.blocks = [self._block(number) for number in range(self.layer_count)]
        for block in self.blocks:
            block.build(shape, memory_shape)
        if self.norm is not None:
            self.norm.build(shape)

    def _begin(self, inputs, mask=None, positions=None, training=None):
        """The inputs of the first block, with positions and dropout."""
        if self.positions is not None:
            inputs = self.positions(inputs, mask=mask, positions=positions)
        return self.drop(inputs, **training_kwargs(training))

    def _end(self, x):
        """The outputs, from those of the last block."""
        return x if self.norm is None else self.norm(x)

    def get_config(self):
        return {
            **super().get_config(),
            **{name: made and made[1] for name, made in self.templates.items()},
            "positions": None
            if self.positions is None
            else serialize_part(self.positions),
            "units": self.units,
            "layers": self.layer_count,
            "heads": self.heads,
            "feed_forward_units": self.feed_forward_units,
            "dropout": self.dropout,
            "attention_dropout": self.attention_dropout,
            "activation": keras.activations.serialize(self.activation),
            "norm_first": self.norm_first,
            "seed": self.seed,
        }


def check_sequence(owner, shape, axis, units):
    """Check the inputs of a Transformer, `[batch, time, units]`."""
    check_rank(owner, "sequence", shape, f"[batch, {axis}, units]")
    if shape[1] == 0 or shape[-1] != units:
        raise four_part_error(
            f"{owner} got inputs that do not fit its units",
            f"[batch, {axis}, {units}] with {axis} >= 1",
            f"shape {tuple(shape)}",
            "Give the embedding as many units as the layer has; for an empty sentence "
            "pass one padded position and a mask that is False there",
        )
