"""The decoder: a decoder cell that runs over the target."""

import functools

import keras
from keras import ops, tree

from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.layers.composite import Composite, plain_call
from keras_seqattn.layers.decoder_cell import PROTOCOL
from keras_seqattn.layers.parts import checks
from keras_seqattn.layers.parts.nested_layers import build_part, serialize_part
from keras_seqattn.ops import dispatch
from keras_seqattn.ops.mask import carry_mask, zero_padding
from keras_seqattn.ops.unroll import static_unroll
from keras_seqattn.types import Memory


@keras.saving.register_keras_serializable(package="keras_seqattn")
class AttentionDecoder(Composite):
    """Runs a decoder cell over a whole target (teacher forcing), or step by step.

    Both ways use the same weights and the same code. It has its own loop because
    `keras.layers.RNN` can neither pass a memory to its cell nor return alignments.

    Args:
        cell: a `DecoderCell`, such as `BahdanauCell` or `LuongCell`, or another layer
            with its methods.
        unroll: whether to unroll the loop in Python, for short targets of known length;
            else one compiled loop serves all lengths.
        implementation: of that loop. "reference": TensorFlow computes the gradient;
            "fast": less memory and fewer, larger products, but no second derivatives;
            "auto": "fast" in training if possible, else "reference". Eager calls and
            `unroll` ignore it.
        **kwargs: of `keras.layers.Layer`.

    Call arguments:
        inputs: `[batch, target, embedding]`, the embedded target, shifted right.
        value: `[batch, source, memory_depth]`, the values of the encoder; or all that
            it returned, `Encoded`, with its mask. A `value_mask` beside it masks even
            more.
        initial_state: the recurrent state before the first step, in Keras's structure
            (a bridge makes one), or a whole state that was returned; None: zeros.
        inputs_mask: `[batch, target]`, True = real. Masked steps give zeros and leave
            the state as it is.
        value_mask: `[batch, source]`, True = real.
        return_attention_scores: whether to return the alignments too.
        return_state: whether to return the last state too, for `step`, or to go on
            from as `initial_state`.
        training: whether dropout applies.

    Returns:
        outputs `[batch, target, output_depth]`, which carry the target's mask; then, as
        chosen, alignments `[batch, target, source]`, and the last state.

    Shapes:
        inputs: [batch, target, embedding]
        value: [batch, source, memory_depth]
        output: [batch, target, output_depth]
        alignment: [batch, target, source]

    Example:
        >>> decoder = AttentionDecoder(BahdanauCell(8, attention=BahdanauAttention(8)))
        >>> inputs, value = keras.ops.ones((2, 3, 4)), keras.ops.ones((2, 5, 6))
        >>> outputs, alignments = decoder(inputs, value, return_attention_scores=True)
        >>> memory = decoder.prepare(value)
        >>> state = decoder.initial_state(memory)
        >>> step = decoder.step(inputs[:, 0], state, memory)
        >>> bool(keras.ops.all(step.output == outputs[:, 0]))
        True
    """

    parts = ("cell",)

    def __init__(self, cell, unroll=False, implementation="auto", **kwargs):
        is_object = not isinstance(cell, type)
        missing = [name for name in PROTOCOL if not (is_object and hasattr(cell, name))]
        if missing:
            raise four_part_error(
                "AttentionDecoder got an unusable cell",
                "a decoder cell (see DecoderCell)",
                f"{abbreviated(cell)}, which lacks {', '.join(missing)}",
                "Wrap a recurrent cell first, e.g. BahdanauCell(256, "
                "attention=BahdanauAttention(256), cell='gru')",
            )
        kwargs.setdefault("dtype", cell.dtype_policy)
        super().__init__(**kwargs)
        checks.check_implementation(type(self).__name__, implementation)
        self.cell, self.unroll, self.implementation = cell, unroll, implementation

    def build(self, inputs_shape, value_shape):
        self._check_shapes(inputs_shape, value_shape)
        build_part(self, self.cell, inputs_shape, value_shape)

    # One step ---------------------------------------------------------------------

    @Composite.step_verb
    def prepare(self, value, mask=None):
        """`Memory` of a source `[batch, source, memory_depth]`: once per source."""
        checks.check_source(type(self).__name__, value.shape)
        checks.check_mask(
            type(self).__name__, mask, "value", value.shape, "source", "mask"
        )
        return self.cell.prepare(value, mask)

    def precompute(self, memory):
        """Return a memory with more precomputed, so that the steps get cheaper.

        It pays if there are about as many queries as source positions, and if the
        products of a step have few rows: `decode` decides. It has no dropout: do not
        train with it.
        """
        return self.cell.precompute(Memory(*memory))

    def initial_state(self, memory, initial_state=None):
        """The state before the first step, from the recurrent part of it.

        Args:
            memory: what `prepare` returned.
            initial_state: recurrent state in Keras's structure; None: zeros. A whole
                state, which a call with `return_state=True` or a step returned, goes on
                from there.
        """
        checks.check_memory(f"{type(self).__name__}.initial_state", memory)
        if isinstance(initial_state, self.cell.state_type):
            return initial_state
        if initial_state is None:
            initial_state = self.cell.zero_state(memory)
        else:
            sizes = self.cell.state_size
            if not checks.is_state(initial_state, sizes):
                whole = self._whole(initial_state, memory)
                if whole is not None:
                    return whole
            checks.check_state(type(self).__name__, initial_state, sizes)
            checks.check_state_batch(type(self).__name__, initial_state, memory)
            states = [
                ops.cast(x, self.compute_dtype) for x in tree.flatten(initial_state)
            ]
            initial_state = tree.pack_sequence_as(sizes, states)
        return self.cell.initial_state(memory, initial_state)

    def _whole(self, state, memory):
        """A whole state: a reloaded Functional model passes a plain list. Or None."""
        start = self.cell.initial_state(memory, self.cell.zero_state(memory))
        received, expected = tree.flatten(state), tree.flatten(start)
        is_whole = isinstance(state, (list, tuple)) and len(state) == len(start)
        if not is_whole or len(received) != len(expected):
            return None
        if not all(map(_may_be, received, expected)):
            return None
        return tree.pack_sequence_as(start, received)

    @Composite.step_verb
    def step(self, inputs_t, state, memory, training=None):
        """One target step.

        Args:
            inputs_t: `[batch, ..., embedding]`; axes between (beam) share the memory.
            state: what `initial_state` or the last `step` returned.
            memory: what `prepare` returned.
            training: whether dropout applies. A single step draws all of its masks,
                also those that a call draws once for a sequence.

        Returns:
            `Step(output, alignment, state)`.
        """
        # A reloaded Functional model returns plain lists in place of named tuples.
        state, memory = self.cell.state_type(*state), Memory(*memory)
        _check_axes(inputs_t, state)
        inputs_t, noise = self.cell.drop(inputs_t, training, axis=None)
        projected_t = self.cell.project(inputs_t)
        return self.cell.step(projected_t, state, memory, noise, training)

    # Whole sequences --------------------------------------------------------------

    def __call__(self, *args, **kwargs):
        args, kwargs = plain_call(self, args, kwargs)
        return super().__call__(*args, **kwargs)

    def call(
        self,
        inputs,
        value,
        initial_state=None,
        inputs_mask=None,
        value_mask=None,
        return_attention_scores=False,
        return_state=False,
        training=None,
    ):
        self._check(inputs, value, inputs_mask, value_mask)
        memory = self.prepare(value, value_mask)
        state = self.initial_state(memory, initial_state)
        inputs, noise = self.cell.drop(zero_padding(inputs, inputs_mask), training)

        def step(projected_t, state):
            step = self.cell.step(projected_t, state, memory, noise, training)
            if return_attention_scores:
                return (step.output, step.alignment), step.state
            return (step.output,), step.state

        unroll = static_unroll
        if not self.unroll:
            unroll = functools.partial(
                dispatch.unroll, type(self).__name__, self.implementation, training
            )
        (outputs, *alignments), state = unroll(
            step, inputs, state, mask=inputs_mask, project=self.cell.project
        )
        results = [carry_mask(outputs, inputs_mask)]
        results += [ops.moveaxis(a, 1, -2) for a in alignments]  # heads before target
        if return_state:
            results.append(state)
        return results[0] if len(results) == 1 else tuple(results)

    def compute_mask(self, inputs, previous_mask):
        return previous_mask  # of the target; alignments and state have none

    def compute_output_shape(self, inputs_shape, value_shape):
        return self.cell.compute_output_shape(inputs_shape, value_shape)

    def compute_output_spec(
        self,
        inputs,
        value,
        initial_state=None,
        inputs_mask=None,
        value_mask=None,
        return_attention_scores=False,
        return_state=False,
        training=None,
    ):
        if return_state:  # the structure of the state is the cell's: trace it
            return keras.Operation.compute_output_spec(
                self,
                inputs,
                value,
                initial_state=initial_state,
                inputs_mask=inputs_mask,
                value_mask=value_mask,
                return_attention_scores=return_attention_scores,
                return_state=True,
            )
        self._check(inputs, value, inputs_mask, value_mask)
        shapes, dtype = (inputs.shape, value.shape), self.compute_dtype
        outputs = keras.KerasTensor(self.compute_output_shape(*shapes), dtype)
        if not return_attention_scores:
            return outputs
        return outputs, keras.KerasTensor(self.cell.alignment_shape(*shapes), dtype)

    def get_config(self):
        return {
            **super().get_config(),
            "cell": serialize_part(self.cell),
            "unroll": self.unroll,
            "implementation": self.implementation,
        }

    def _check(self, inputs, value, inputs_mask, value_mask):
        owner = type(self).__name__
        self._check_shapes(inputs.shape, value.shape)
        checks.check_mask(owner, inputs_mask, "inputs", inputs.shape, "target")
        checks.check_mask(owner, value_mask, "value", value.shape, "source")

    def _check_shapes(self, inputs_shape, value_shape):
        owner, words = type(self).__name__, "[batch, target, embedding]"
        checks.check_rank(owner, "inputs", inputs_shape, words)
        checks.check_target(owner, "inputs", inputs_shape)
        checks.check_source(owner, value_shape)
        checks.check_batch(owner, "inputs", inputs_shape, value_shape)


def _check_axes(inputs_t, state):
    """Check that one step has the axes of its state: none between, or a beam."""
    for each in tree.flatten(getattr(state, "recurrent", ()))[:1]:
        if len(each.shape) != len(inputs_t.shape):
            raise four_part_error(
                "AttentionDecoder.step got inputs with other axes than its state",
                f"those of a state of shape {tuple(each.shape)}",
                f"inputs of shape {tuple(inputs_t.shape)}",
                "Pass one step, [batch, embedding]; call the decoder itself on a "
                "whole sequence",
            )


def _may_be(x, y):
    """Whether x can take the place of y, by their shapes."""
    shapes = [tuple(getattr(tensor, "shape", ())) for tensor in (x, y)]
    if len(set(map(len, shapes))) > 1:
        return False
    return all(a == b or None in (a, b) for a, b in zip(*shapes, strict=True))
