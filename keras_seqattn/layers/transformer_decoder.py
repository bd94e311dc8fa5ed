"""Vaswani et al. 2017: the decoder of a Transformer."""

from typing import Any, NamedTuple

import keras
from keras import ops

from keras_seqattn.checks import check_choice
from keras_seqattn.errors import four_part_error
from keras_seqattn.layers.composite import Composite, plain_call
from keras_seqattn.layers.parts import checks
from keras_seqattn.layers.parts.alignment_names import (
    SELF,
    choose_alignment,
    layer_names,
    with_heads,
)
from keras_seqattn.layers.parts.transformer import Transformer, check_sequence
from keras_seqattn.ops.mask import carry_mask, causal_mask, zero_padding
from keras_seqattn.ops.past import (
    add_nodes,
    add_own,
    empty_past,
    next_place,
    next_positions,
)
from keras_seqattn.types import Past, Step


class BlockMemories(NamedTuple):
    """A source sentence, prepared for each block."""

    blocks: Any  # a `Memory` for each block
    mask: Any  # [batch, source], True = real; None: everything is real


@keras.saving.register_keras_serializable(package="keras_seqattn")
class TransformerDecoder(Transformer):
    """Layers of self-attention over the target so far, and of attention to the source.

    A whole target (teacher forcing) is computed at once. Step by step, keys and values
    of earlier positions are kept in the state, a `Past`, which the hypotheses of a beam
    share.

    Args:
        units: depth of the inputs, of all layers and of the outputs.
        layers: number of layers.
        heads: of each attention.
        feed_forward_units: size between the two dense layers; None: `4 * units`.
        dropout: rate, of the inputs and of what each sublayer adds.
        attention_dropout: rate of the alignments.
        activation: between the dense layers.
        norm_first: whether each sublayer normalises its inputs; see
            `TransformerEncoder`.
        positions: a `PositionEmbedding`, "sine", or None.
        self_attention: a mechanism of the library, of which each layer gets a copy;
            None: `MultiHeadAttention(units, heads)`. It must align by a softmax and
            have no state.
        attention: the same for the attention to the source.
        alignment: which alignment `step`, searches and `return_attention_scores=True`
            return: the name of a layer, e.g. "layer 2", the mean of its heads; or of
            one of its heads, e.g. "layer 2/head 1". Or the number of a layer, from 0 on
            or from the end: -1 is the last one.
        seed: of the dropout.
        **kwargs: of `keras.layers.Layer`.

    Call arguments:
        inputs: `[batch, target, units]`, the embedded target, shifted right.
        value: `[batch, source, memory_depth]`, the values of the encoder, or an
            `Encoded`.
        initial_state: None: a Transformer starts from nothing.
        inputs_mask: `[batch, target]`, True = real. Masked positions give zeros.
        value_mask: `[batch, source]`, True = real.
        return_attention_scores: whether to return the alignment too; "all": all
            alignments.
        training: whether dropout applies.

    Returns:
        outputs `[batch, target, units]`, which carry the target's mask; with
        `return_attention_scores=True` also the alignments `[batch, target, source]`.
        With "all" also a dict from names to alignments with heads: "layer 1" is
        `[batch, heads, target, source]`, "self/layer 1" is
        `[batch, heads, target, target]`.

    Equations:
        position t attends to positions 1..t of the target  Vaswani (3.2.3)
        and then to all positions of the source; layers as in `TransformerEncoder`

    Shapes:
        inputs: [batch, target, units]
        value: [batch, source, memory_depth]
        output: [batch, target, units]
        alignment: [batch, target, source]

    Example:
        >>> decoder = TransformerDecoder(8, layers=2, heads=2)
        >>> inputs, value = keras.ops.ones((2, 3, 8)), keras.ops.ones((2, 5, 6))
        >>> decoder(inputs, value).shape
        TensorShape([2, 3, 8])

    References:
        Vaswani et al. 2017, arXiv:1706.03762.
    """

    parts = (*Transformer.parts, "attention")
    axis = "target"

    def __init__(
        self, units, layers=6, heads=8, attention=None, alignment=-1, **kwargs
    ):
        super().__init__(units, layers, heads, **kwargs)
        self.templates["attention"] = self._template(attention)
        heads = self.heads_of("attention")
        self._choice = choose_alignment(
            type(self).__name__, alignment, self.layer_count, heads
        )
        self.alignment = alignment

    def build(self, inputs_shape, value_shape):
        self._check_shapes(inputs_shape, value_shape)
        self._build_blocks(inputs_shape, value_shape)

    # One step ---------------------------------------------------------------------

    @Composite.step_verb
    def prepare(self, value, mask=None):
        """`BlockMemories` of a source `[batch, source, memory_depth]`, once for it."""
        owner = type(self).__name__
        checks.check_source(owner, value.shape)
        checks.check_mask(owner, mask, "value", value.shape, "source")
        memories = [block.attention.prepare(value, mask) for block in self.blocks]
        return BlockMemories(memories, mask)

    def precompute(self, memory):
        """Return the memory: nothing more can be computed before the steps."""
        return memory

    def initial_state(self, memory, initial_state=None, max_length=None):
        """The state before the first step, a `Past` without nodes.

        Args:
            memory: what `prepare` returned.
            initial_state: None, or a `Past` from a step, to go on from there.
            max_length: Python integer, the number of steps to make room for, so that no
                shape changes from step to step. None: the past grows with every step.
        """
        if isinstance(initial_state, Past):
            return initial_state
        if initial_state is not None:
            raise _unwanted_state(type(self).__name__, initial_state)
        self._check_length(max_length)
        [one, *_] = keras.tree.flatten(memory.blocks[0].values)
        batch = ops.shape(one)[0]
        x = ops.zeros((batch, 1, self.units), self.compute_dtype)
        nodes = [_nodes(block.self_attention.prepare(x)) for block in self.blocks]
        return empty_past(nodes, batch, max_length)

    @Composite.step_verb
    def step(self, inputs_t, state, memory, training=None):
        """One target step.

        Args:
            inputs_t: `[batch, units]`, or `[batch, beam, units]`: the hypotheses of a
                sentence share its memory and the nodes of their past.
            state: what `initial_state` or the last `step` returned.
            memory: what `prepare` returned.
            training: whether dropout applies.

        Returns:
            `Step(output, alignment, state)`.
        """
        past, memory = Past(*state), BlockMemories(*memory)
        has_beam = len(inputs_t.shape) == 3
        x = inputs_t if has_beam else inputs_t[:, None]
        positions = ops.reshape(next_positions(past), ops.shape(x)[:-1])
        place = next_place(past)
        nodes, past = past.nodes, add_own(past, place)
        mask = past.is_own if has_beam else past.is_own[:, None]
        x = self._begin(x, positions=positions, training=training)
        seen, alignments = [], []
        for block, old, block_memory in zip(
            self.blocks, nodes, memory.blocks, strict=True
        ):

            def remember(new, old=old):
                seen.append(_added(old, new, place))
                return new._replace(**seen[-1], mask=mask)

            x, found = block.run(x, remember, block_memory, training)
            alignments.append(found.memory)
        output, alignment = self._end(x), self._choice.of(alignments)
        if not has_beam:
            output, alignment = output[:, 0], alignment[:, 0]
        return Step(output, alignment, past._replace(nodes=seen))

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
        training=None,
    ):
        self._check(inputs, value, inputs_mask, value_mask, initial_state)
        _check_flag(type(self).__name__, return_attention_scores)
        memory = self.prepare(value, value_mask)
        mask = causal_mask(ops.shape(inputs)[1], inputs_mask)
        x = self._begin(
            zero_padding(inputs, inputs_mask), inputs_mask, training=training
        )
        returns_all, found = return_attention_scores == "all", []
        for block, block_memory in zip(self.blocks, memory.blocks, strict=True):
            x, alignments = block.run(
                x,
                lambda own: own._replace(mask=mask),
                block_memory,
                training,
                keep_own=returns_all,
            )
            found.append(alignments)
        outputs = carry_mask(zero_padding(self._end(x), inputs_mask), inputs_mask)
        if returns_all:
            each = [x.memory for x in found] + [x.own for x in found]
            each = [with_heads(zero_padding(x, inputs_mask)) for x in each]
            return outputs, dict(zip(self.alignment_names, each, strict=True))
        if not return_attention_scores:
            return outputs
        alignment = self._choice.of([x.memory for x in found])
        return outputs, zero_padding(alignment, inputs_mask)

    @property
    def alignment_names(self):
        """The names of the alignments that `return_attention_scores="all"` returns."""
        return layer_names(self.layer_count) + layer_names(self.layer_count, SELF)

    def compute_mask(self, inputs, previous_mask):
        return previous_mask  # of the target; alignments have none

    def compute_output_shape(self, inputs_shape, value_shape):
        return tuple(inputs_shape)

    def compute_output_spec(
        self,
        inputs,
        value,
        initial_state=None,
        inputs_mask=None,
        value_mask=None,
        return_attention_scores=False,
        training=None,
    ):
        self._check(inputs, value, inputs_mask, value_mask, initial_state)
        _check_flag(type(self).__name__, return_attention_scores)
        outputs = keras.KerasTensor(inputs.shape, dtype=self.compute_dtype)
        if not return_attention_scores:
            return outputs
        dtype = self.compute_dtype
        batch, target, source = *inputs.shape[:2], value.shape[1]
        if return_attention_scores != "all":
            return outputs, keras.KerasTensor((batch, target, source), dtype)
        heads = self.heads_of("attention"), self.heads_of("self_attention")
        shapes = (batch, heads[0], target, source), (batch, heads[1], target, target)
        each = [keras.KerasTensor(x, dtype) for x in shapes for _ in self.blocks]
        return outputs, dict(zip(self.alignment_names, each, strict=True))

    @property
    def max_length(self):
        """The greatest number of steps, where positions are learned; None: any."""
        return getattr(self.positions, "max_positions", None)

    def get_config(self):
        return {**super().get_config(), "alignment": self.alignment}

    def _check(self, inputs, value, inputs_mask, value_mask, initial_state):
        owner = type(self).__name__
        self._check_shapes(inputs.shape, value.shape)
        checks.check_mask(owner, inputs_mask, "inputs", inputs.shape, "target")
        checks.check_mask(owner, value_mask, "value", value.shape, "source")
        if initial_state is not None:
            raise _unwanted_state(owner, initial_state)

    def _check_shapes(self, inputs_shape, value_shape):
        owner = type(self).__name__
        check_sequence(owner, inputs_shape, "target", self.units)
        checks.check_source(owner, value_shape)
        checks.check_batch(owner, "inputs", inputs_shape, value_shape)

    def _check_length(self, max_length):
        most = self.max_length
        if None not in (most, max_length) and max_length > most:
            raise four_part_error(
                f"{type(self).__name__} cannot take so many steps",
                f"at most {most}: it has learned no more positions",
                f"max_length={max_length}",
                f"Pass max_length={most}, or positions='sine' to the layer",
            )


def _check_flag(owner, flag):
    check_choice(owner, "return_attention_scores", flag, (True, False, "all"))


def _unwanted_state(owner, state):
    return four_part_error(
        f"{owner} got an initial_state",
        "None: a Transformer starts from nothing",
        f"a {type(state).__name__}",
        "Drop the bridge: this decoder knows the source from its attention",
    )


def _nodes(memory):
    """The tensors of a `Memory` that a past keeps, as a dict."""
    return {"values": memory.values, "keys": memory.keys}


def _added(nodes, memory, place):
    """The nodes of one block and those of the new positions, as a dict."""
    return {
        name: add_nodes(nodes[name], new, place) for name, new in _nodes(memory).items()
    }
