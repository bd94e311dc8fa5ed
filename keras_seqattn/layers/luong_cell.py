"""Luong et al. 2015: update, then attend, and feed the result back."""

from typing import Any, NamedTuple

import keras
from keras import ops

from keras_seqattn.checks import check_choice, check_count
from keras_seqattn.layers.decoder_cell import AttentiveCell
from keras_seqattn.layers.parts.cell_stack import CellStack
from keras_seqattn.types import Step


class LuongState(NamedTuple):
    """The state of a `LuongCell`."""

    recurrent: Any
    attentional: Any  # h~_{t-1}, or () without input feeding
    attention: Any


@keras.saving.register_keras_serializable(package="keras_seqattn")
class LuongCell(AttentiveCell):
    """Updates, then attends with the new state: h_t -> a_t -> c_t -> h~_t.

    Args:
        units: size of the recurrent state.
        attention: the mechanism, e.g. `LuongAttention("general")`.
        cell: "lstm" (the paper's), "gru", or another that `DecoderCell` takes.
        layers: recurrent layers; the query is the state of the top one.
        attentional: size of h~; "units": that of the state; "concat": no such layer,
            h~_t is `[c_t; h_t]` (the form of lectures, which feed nothing back); None:
            no such layer, h~_t is c_t (a variant of other toolkits).
        attentional_activation: of that layer; None: linear, as in tensorflow/nmt.
        use_input_feeding: whether h~_{t-1} is an input of the bottom layer.
        **kwargs: of `DecoderCell`.

    Equations:
        h_t = f(h_{t-1}, [x_t; h~_{t-1}])  Luong (3.3)
        c_t = sum{a_t(s) * h_s : s}  Luong (3.1: c_t)
        h~_t = tanh(W_c [c_t; h_t])  Luong (5)
        h~_t = [c_t; h_t], if attentional="concat"  Luong (5: concat)

    Shapes:
        inputs: [batch, target, embedding]
        value: [batch, source, memory_depth]
        output: [batch, target, units]; "concat": units + memory_depth
        alignment: [batch, target, source]

    Example:
        >>> cell = LuongCell(8, attention=LuongAttention("general"))
        >>> inputs, value = keras.ops.ones((2, 3, 4)), keras.ops.ones((2, 5, 6))
        >>> AttentionDecoder(cell)(inputs, value).shape
        TensorShape([2, 3, 8])

    References:
        Luong, Pham, Manning 2015, arXiv:1508.04025.
    """

    state_type = LuongState

    def __init__(
        self,
        units,
        attention,
        cell="lstm",
        attentional="units",
        attentional_activation="tanh",
        use_input_feeding=True,
        **kwargs,
    ):
        super().__init__(units, attention, cell, **kwargs)
        owner = type(self).__name__
        if isinstance(attentional, str):
            check_choice(owner, "attentional", attentional, ("units", "concat"))
        elif attentional is not None:
            check_count(owner, "attentional", attentional)
        self.attentional = attentional
        self.attentional_activation = keras.activations.get(attentional_activation)
        self.use_input_feeding = use_input_feeding
        self.recurrence = CellStack(self, name="recurrence")
        self.attentional_layer = None
        if attentional not in ("concat", None):
            self.attentional_layer = self.make_projection(
                units if attentional == "units" else attentional,
                "attentional_layer",
                activation=self.attentional_activation,
            )

    def initializers_of_cell(self):
        # The attentional layer uses the other one.
        return {"recurrent_initializer": self.recurrent_initializer}

    def build(self, inputs_shape, value_shape):
        self.build_attention(inputs_shape, value_shape)
        context_depth = self.context_depth(inputs_shape, value_shape)
        if self.attentional_layer is not None:
            self.attentional_layer.build((None, context_depth + self.units))
        self.output_depth = self.compute_output_shape(inputs_shape, value_shape)[-1]
        fed_depth = self.output_depth if self.use_input_feeding else None
        self.recurrence.build(inputs_shape[-1], fed_depth)

    def initial_state(self, memory, recurrent):
        attentional = ()
        if self.use_input_feeding:
            batch = ops.shape(memory.values)[0]
            attentional = ops.zeros((batch, self.output_depth), self.compute_dtype)
        return LuongState(recurrent, attentional, self.attention.initial_state(memory))

    def step(self, projected_t, state, memory, noise=(), training=None):
        cells, joined = self.recurrence, projected_t
        if self.use_input_feeding:
            fed = cells.feed(state.attentional, noise, training)
            joined = cells.join(projected_t, fed)
        h, recurrent = cells.step(  # Luong (3.3)
            joined, state.recurrent, noise, training
        )
        context, alignment, attention = self.attention.attend(  # Luong (3.1: c_t)
            h, memory, state.attention, training=training
        )
        attentional = context
        if self.attentional is not None:
            attentional = ops.concatenate([context, h], axis=-1)  # Luong (5: concat)
        if self.attentional_layer is not None:
            attentional = self.apply_projection(  # Luong (5)
                self.attentional_layer, attentional
            )
        fed = attentional if self.use_input_feeding else ()
        return Step(attentional, alignment, LuongState(recurrent, fed, attention))

    def compute_output_shape(self, inputs_shape, value_shape):
        if self.attentional_layer is not None:
            depth = self.attentional_layer.units
        else:
            depth = self.context_depth(inputs_shape, value_shape)
            depth += self.units if self.attentional == "concat" else 0
        return (*inputs_shape[:-1], depth)

    def get_config(self):
        return {
            **super().get_config(),
            "attentional": self.attentional,
            "attentional_activation": keras.activations.serialize(
                self.attentional_activation
            ),
            "use_input_feeding": self.use_input_feeding,
        }
