"""The attention layers of Keras itself, as mechanisms of the library."""

import contextlib
import math
import warnings

import keras
from keras import ops

from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.layers.attention import Attention
from keras_seqattn.layers.composite import training_kwargs
from keras_seqattn.layers.parts.nested_layers import build_part, serialize_part
from keras_seqattn.ops.mask import zero_padding
from keras_seqattn.types import Attended

HEADS = {  # attributes with the number of heads, which is the number of alignments
    keras.layers.MultiHeadAttention: "num_heads",
    keras.layers.GroupQueryAttention: "num_query_heads",
}


@keras.saving.register_keras_serializable(package="keras_seqattn")
class KerasAttention(Attention):
    """Makes a mechanism of an attention layer of Keras, for decoder cells and decoders.

    Keras's layer computes alignment and context. Three things differ from a call of
    this layer itself: what the padding holds does not matter, even if it is NaN; a
    query without a real position to attend to gets zeros; and a masked query gets
    zeros. With dropout, the alignment is the one before dropout.

    Keras's `MultiHeadAttention` and `GroupQueryAttention` project keys and values in
    each call. So in a decoder they project the whole source at every step, and
    `prepare` only stores it. `MultiHeadAttention` of this library projects once.

    Args:
        layer: `keras.layers.Attention`, `AdditiveAttention`, `MultiHeadAttention` or
            `GroupQueryAttention`, without a sliding window and without flash attention.
            If it has its weights already, it keeps them.
        **kwargs: of `keras.layers.Layer`.

    Call arguments: those of `Attention`.

    Returns:
        As `Attention`; the alignment of a layer with heads has an axis of heads before
        the target: `[batch, heads, target, source]`, for a single query
        `[batch, heads, source]`. In step form, `attend`, it is
        `[batch, ..., heads, source]`.

    Equations:
        Those of the layer.

    Shapes:
        query: [batch, target, query_depth]
        value: [batch, source, memory_depth]
        context: [batch, target, context_depth]
        alignment: [batch, heads, target, source]

    Example:
        >>> attention = KerasAttention(keras.layers.AdditiveAttention())
        >>> query, value = keras.ops.ones((2, 3, 4)), keras.ops.ones((2, 5, 4))
        >>> attention(query, value).shape
        TensorShape([2, 3, 4])

    References:
        Luong, Pham, Manning 2015, arXiv:1508.04025.
        Bahdanau, Cho, Bengio 2015, arXiv:1409.0473.
        Vaswani et al. 2017, arXiv:1706.03762.
        Ainslie et al. 2023, arXiv:2305.13245 (grouped queries).
    """

    parts = ("layer",)
    implementation = "auto"

    def __init__(self, layer, **kwargs):
        _check_layer(layer)
        kwargs.setdefault("dtype", layer.dtype_policy)
        # Not Attention's constructor: Keras's layer has values and dropout of its own.
        super(Attention, self).__init__(**kwargs)
        self.layer = layer
        of_heads = [name for kind, name in HEADS.items() if isinstance(layer, kind)]
        self.heads = getattr(layer, of_heads[0]) if of_heads else None

    def build(self, query_shape, value_shape, key_shape=None):
        self._check_shapes(query_shape, value_shape, key_shape)
        query_shape = (query_shape[0], None, query_shape[-1])
        shapes = [query_shape, value_shape, key_shape or value_shape]
        if self.layer.built:
            _check_depths(self.layer, shapes)
        elif self.heads:
            build_part(self, self.layer, *shapes)
        else:
            build_part(self, self.layer, shapes)

    def project_values(self, value):
        # A copy has no mask attached, which Keras's layer would use, and remove.
        return ops.copy(value)

    def project_keys(self, value):
        return ops.copy(value)

    @Attention.step_verb
    def attend(self, query, memory, state=(), training=None):
        axes = ops.shape(query)[1:-1]
        rows = ops.reshape(query, (-1, math.prod(axes), query.shape[-1]))
        mask, is_real = _without_empty_rows(memory.mask)
        quiet = contextlib.nullcontext()
        if memory.values.shape[1] == 1:  # fine, but Keras warns about such a softmax
            quiet = warnings.catch_warnings(action="ignore", category=UserWarning)
        with quiet:
            context, alignment = self._run(rows, memory, mask, training)
        if self.heads:
            alignment = ops.swapaxes(alignment, 1, 2)  # heads after the query
        context, alignment = (
            ops.reshape(x, (-1, *axes, *ops.shape(x)[2:]))
            for x in (zero_padding(context, is_real), zero_padding(alignment, is_real))
        )
        return Attended(context, alignment, state)

    def _run(self, rows, memory, mask, training):
        """Contexts `[batch, rows, depth]`; alignments `[batch, (heads,) rows, source]`.

        Args:
            rows: queries, `[batch, rows, query_depth]`.
            memory: what `prepare` returned.
            mask: `[batch or 1, rows or 1, source]`, or None.
            training: whether dropout applies.
        """
        given = {"return_attention_scores": True, **training_kwargs(training)}
        if self.heads:
            given |= {"key": memory.keys, "attention_mask": mask}
            return self.layer(rows, memory.values, **given)
        tensors, masks = [rows, memory.values, memory.keys], [None, mask]
        context, alignment = self.layer(tensors, mask=masks, **given)
        if self.layer.dropout:  # this layer returns what dropout leaves
            given["training"] = False
            _, alignment = self.layer(tensors, mask=masks, **given)
        return context, alignment

    def check_shapes(self, query_shape, value_shape):
        super().check_shapes(query_shape, value_shape)
        if not self.heads and query_shape[-1] != value_shape[-1]:
            raise four_part_error(
                f"KerasAttention got {type(self.layer).__name__} for unequal depths",
                "query_depth = key_depth (without a key, memory_depth)",
                f"{query_shape[-1]} and {value_shape[-1]}",
                "Use a layer with projections, e.g. keras.layers.MultiHeadAttention, "
                "or make the depths equal",
            )

    def compute_output_shape(self, query_shape, value_shape):
        depth = query_shape[-1] if self.heads else value_shape[-1]
        own = self.layer.get_config().get("output_shape")  # of MultiHeadAttention
        return (*query_shape[:-1], own[-1] if own else depth)

    def alignment_shape(self, query_shape, value_shape):
        heads = (self.heads,) if self.heads else ()
        return (query_shape[0], *heads, *query_shape[1:-1], value_shape[1])

    def get_config(self):
        config, layer = super(Attention, self).get_config(), serialize_part(self.layer)
        if config["dtype"]["class_name"] == "DTypePolicyMap":
            # Some projections are int8, and Keras's layer builds them by its policy.
            layer["config"]["dtype"] = config["dtype"]
        return {**config, "layer": layer}


def _without_empty_rows(mask):
    """A mask in which every row has a real position, and which rows had one before.

    Keras's layers spread the alignment of an empty row evenly, or make it NaN.

    Args:
        mask: `[batch, source]`, or `[batch, target, source]`, or None.
    """
    if mask is None:
        return None, None
    mask = mask if len(mask.shape) == 3 else mask[:, None]
    is_real = ops.any(mask, axis=-1)
    return ops.logical_or(mask, ops.logical_not(is_real)[..., None]), is_real


def _check_layer(layer):
    """Check that it is a layer of Keras that can align step by step."""
    name, reason, kinds = abbreviated(layer), None, (keras.layers.Attention, *HEADS)
    config = layer.get_config() if isinstance(layer, kinds) else {}
    if not isinstance(layer, kinds):
        reason = name
    elif config.get("sliding_window"):
        reason = f"{name} with a sliding_window, which needs the position of a query"
    elif getattr(layer, "_flash_attention", None):
        reason = f"{name} with flash attention, which returns no alignment"
    elif (config.get("attention_axes") or (1,)) not in ((1,), [1], (-2,), [-2]):
        reason = f"{name} with attention_axes={config['attention_axes']}"
    elif len(config.get("output_shape") or (1,)) > 1:
        reason = f"{name} with output_shape={config['output_shape']}"
    if reason is not None:
        raise four_part_error(
            "KerasAttention got an unusable layer",
            "Attention, AdditiveAttention, MultiHeadAttention or GroupQueryAttention "
            "of keras.layers, from [batch, time, depth] to [batch, time, depth]",
            reason,
            "Pass e.g. keras.layers.MultiHeadAttention(num_heads=8, key_dim=32); for a "
            "window around the source use LocalAttention",
        )


def _check_depths(layer, shapes):
    """Check that a layer with weights has been built for tensors of these depths."""
    config = layer.get_build_config()
    built = list(config.get("shapes_dict", config).values())
    built = built[0] if len(built) == 1 else built
    built = [*built, built[1]][:3]  # without a key, the value
    expected, received = ([shape[-1] for shape in each] for each in (built, shapes))
    if expected != received or any(len(shape) != 3 for shape in built):
        raise four_part_error(
            f"KerasAttention got {layer.name!r}, which was built for other tensors",
            f"query, value and key of the shapes {built}, as it was built",
            f"{shapes}",
            "Pass a new layer, or tensors of the depths that this one has weights for",
        )
