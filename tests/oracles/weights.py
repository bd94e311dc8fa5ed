"""The library's layers as the oracles want them: their weights, in float64.

Only weights are read here, never a result: what a layer computes with them is the
oracle's business. A layer that is missing in these tables has no oracle.
"""

import functools
from typing import Any, NamedTuple

import keras
import numpy as np
from keras import tree

import keras_seqattn as ks
from keras_seqattn.layers.parts.cell_factory import KerasCell, NormalizedCell
from tests.oracles import alignment as align
from tests.oracles import attention, cells, decoders, scores


def array(variable):
    return np.asarray(keras.ops.convert_to_numpy(variable), dtype="float64")


def kernel(layer):
    """Of a `Dense`, or None without one."""
    return None if layer is None else array(layer.kernel)


def randomize(layer, seed=5, scale=0.7):
    """Random weights, biases too: zeros and ones would hide a mistake."""
    random = np.random.default_rng(seed)
    for weight in layer.weights:
        weight.assign(scale * random.normal(size=weight.shape))


class Mechanism(NamedTuple):
    """An attention layer's oracle."""

    attend: Any  # (query, value, mask, state) -> context, alignment, state
    start: Any = lambda mask: ()  # the first state, of a mask [batch, source]

    def over_targets(self, query, value, query_mask, value_mask):
        """Contexts [batch, target, ...], alignments [batch, target, ..., source]."""
        query, value = query.astype("float64"), value.astype("float64")
        attend, first = self.bind(value, value_mask), self.first(value, value_mask)
        contexts, alignments, _ = decoders.over_time(attend, query, first, query_mask)
        return contexts, alignments

    def first(self, value, mask):
        """The state before the first query."""
        whole = align.everything_real(*value.shape[:2])
        return self.start(whole if mask is None else mask)

    def bind(self, value, mask):
        """attend(query, state), as the decoders want it."""
        return lambda query, state: self.attend(query, value, mask, state)


def mechanism(layer):
    """The oracle of an attention layer that has been built."""
    return MECHANISMS[type(layer)](layer)


def plain_score(layer):
    """A function of `scores` with its weights, and the projection of the values."""
    weights = SCORES[type(layer)](layer)
    score = functools.partial(getattr(scores, weights.pop("score")), **weights)
    return {"score": score, "value_kernel": kernel(layer.value_projection)}


def additive_score(layer):
    weights = {"score": "additive", **projections(layer), "v": array(layer.v)}
    if layer.normalize:
        weights |= {"g": array(layer.g), "b": array(layer.bias)}
    return weights


def luong_score(layer):
    name = layer.score_name
    weights = {"score": name}
    if layer.scale:
        weights["scale"] = array(layer.g)
    if name == "general":  # a Dense on the memory holds W_a transposed
        weights["kernel"] = kernel(layer.key_projection).T
    elif name == "concat":
        halves = layer.query_projection, layer.key_projection
        weights["kernel"] = np.concatenate([kernel(half) for half in halves])
        weights["v"] = array(layer.v)
    return weights


def projected_dot_score(layer):
    factor = 1.0 if layer.factor is None else layer.factor
    return {"score": "projected_dot", **projections(layer), "factor": factor}


def one_layer_score(layer):
    halves = projections(layer).values()
    return {"score": "one_layer", "w": np.concatenate(list(halves))[:, 0]}


def projections(layer):
    kernels = kernel(layer.query_projection), kernel(layer.key_projection)
    return dict(zip(("query_kernel", "key_kernel"), kernels, strict=True))


def softmax(layer):
    """Any plain score under a softmax."""
    if getattr(layer, "score_name", None) == "location":
        weights = {"kernel": kernel(layer.query_projection)}
        return Mechanism(functools.partial(attention.location, **weights))
    return Mechanism(functools.partial(attention.softmax, **plain_score(layer)))


def local(layer):
    weights = {**plain_score(layer.attention), "window": layer.window}
    if layer.position == "monotonic":
        attend = functools.partial(attention.local_m, **weights)
        return Mechanism(attend, lambda mask: np.zeros(len(mask), dtype=int))
    weights["position"] = functools.partial(
        align.predicted_position,
        position_kernel=kernel(layer.position_projection),
        position_v=array(layer.v_p),
    )
    return Mechanism(functools.partial(attention.local_p, **weights))


def monotonic(layer):
    soft = {"exact": "soft", "closed": "parallel"}[layer.form]
    mode = soft if layer.inference == "soft" else "hard"
    weights = {**plain_score(layer.attention), "r": array(layer.r)}
    weights["step"] = getattr(align, f"{mode}_monotonic")
    attend = functools.partial(attention.monotonic, **weights)
    return Mechanism(attend, align.first_position)


def coverage(layer):
    weights = projections(layer) | {"coverage_kernel": array(layer.w_c)}
    weights |= {"v": array(layer.v), "b": array(layer.bias)}
    weights["value_kernel"] = kernel(layer.value_projection)
    attend = functools.partial(attention.coverage, **weights)
    return Mechanism(attend, lambda mask: np.zeros(mask.shape))


def location_sensitive(layer):
    weights = projections(layer) | {"filters": array(layer.convolution.kernel)}
    weights["location_kernel"] = kernel(layer.location_projection)
    weights |= {"v": array(layer.w), "b": array(layer.bias)}
    weights["value_kernel"] = kernel(layer.value_projection)
    attend = functools.partial(attention.location_sensitive, **weights)
    if not layer.use_cumulative:
        return Mechanism(attend, align.first_position)

    def cumulative(query, value, mask, state):  # Shen et al. 2018, section 2.2
        context, alpha, _ = attend(query, value, mask, state)
        return context, alpha, state + alpha

    return Mechanism(cumulative, lambda mask: np.zeros(mask.shape))


def multi_head(layer):
    def split(weights):  # [..., units] to [..., heads, units / heads]
        return weights.reshape([*weights.shape[:-1], layer.heads, -1])

    weights = {name: split(weight) for name, weight in projections(layer).items()}
    weights |= {"v": array(layer.v), "output_kernel": kernel(layer.output_projection)}
    weights["value_kernel"] = split(kernel(layer.value_projection))
    return Mechanism(functools.partial(attention.multi_head_additive, **weights))


def multi_head_dot(layer):
    def split(dense):  # a kernel and its bias; [..., units] to [..., heads, depth]
        bias = 0.0 if dense.bias is None else array(dense.bias)
        parts = (kernel(dense), np.broadcast_to(bias, [layer.units]))
        return [x.reshape([*x.shape[:-1], layer.heads, -1]) for x in parts]

    last = layer.output_projection
    return Mechanism(
        functools.partial(
            attention.multi_head_dot,
            to_query=split(layer.query_projection),
            to_key=split(layer.key_projection),
            to_value=split(layer.value_projection),
            to_context=(kernel(last), array(last.bias)),
        )
    )


def of_keras(layer):
    """A layer of Keras; its scores have no kernels, or its heads have everything."""
    inner = layer.layer
    if layer.heads is None:
        if isinstance(inner, keras.layers.AdditiveAttention):
            each = np.eye(inner.scale.shape[0])
            kernels = {"query_kernel": each, "key_kernel": each}
            score = functools.partial(scores.additive, v=array(inner.scale), **kernels)
        else:
            score = functools.partial(scores.dot, scale=array(inner.scale))
        return Mechanism(functools.partial(attention.softmax, score=score))

    def split(dense):  # keys and values may have fewer heads, which queries share
        weights = array(dense.kernel), array(dense.bias)
        return [np.repeat(x, layer.heads // x.shape[-2], axis=-2) for x in weights]

    last = inner._output_dense
    kernel, bias = array(last.kernel), array(last.bias)
    attend = functools.partial(
        attention.multi_head_dot,
        to_query=split(inner._query_dense),
        to_key=split(inner._key_dense),
        to_value=split(inner._value_dense),
        to_context=(kernel.reshape(-1, kernel.shape[-1]), bias),
    )

    def without_bias(query, value, mask, state):  # of an empty source
        context, alpha, state = attend(query, value, mask, state)
        is_real = True if mask is None else mask.any(axis=1, keepdims=True)
        return np.where(is_real, context, 0), alpha, state

    return Mechanism(without_bias)


SCORES = {
    ks.BahdanauAttention: additive_score,
    ks.LuongAttention: luong_score,
    ks.layers.OneLayerAttention: one_layer_score,
    ks.layers.ProjectedDotAttention: projected_dot_score,
}
MECHANISMS = {
    **dict.fromkeys(SCORES, softmax),
    ks.layers.CoverageAttention: coverage,
    ks.layers.KerasAttention: of_keras,
    ks.layers.LocalAttention: local,
    ks.layers.LocationSensitiveAttention: location_sensitive,
    ks.layers.MonotonicAttention: monotonic,
    ks.layers.MultiHeadAdditiveAttention: multi_head,
    ks.layers.MultiHeadAttention: multi_head_dot,
}


def step_of(cell):
    """cell(x, state) of a cell inside a decoder; x is the input, then what is fed."""
    if isinstance(cell, KerasCell):
        return keras_step(cell.cell)
    if isinstance(cell, NormalizedCell):
        fed = () if cell.fed_kernel is None else (cell.fed_kernel, cell.fed_norm)
        pairs = [(cell.input_kernel, cell.input_norm), fed]
        return normalized_step(
            getattr(cells, cell.kind),
            [product(dense.kernel, norm) for dense, norm in filter(None, pairs)],
            product(cell.recurrent_kernel.kernel, cell.recurrent_norm),
            cell.state_norm,
        )
    parts = [cell.input_kernel, cell.fed_kernel]
    weights = {"kernel": np.concatenate([kernel(p) for p in parts if p is not None])}
    weights["recurrent_kernel"] = kernel(cell.recurrent_kernel)
    weights["bias"] = array(cell.input_kernel.bias)
    if cell.kind == "gru":
        weights["bias"] = np.stack([weights["bias"], array(cell.recurrent_kernel.bias)])
    if cell.kind == "gru_paper":
        weights["recurrent_kernel"] = np.concatenate(
            [weights["recurrent_kernel"], kernel(cell.proposal_kernel)], axis=1
        )
    return functools.partial(getattr(cells, cell.kind), **weights)


def product(weight, norm):
    return array(weight), array(norm.gain), array(norm.bias)


def normalized_step(step, products, recurrent, state_norm=None):
    weights = {"products": products, "recurrent": recurrent}
    if state_norm is not None:
        weights["state_norm"] = array(state_norm.gain), array(state_norm.bias)
    return functools.partial(step, **weights)


def keras_step(cell):
    """cell(x, state) of a Keras cell: a stock one, or one of ours."""
    if isinstance(cell, (ks.layers.LayerNormGRUCell, ks.layers.LayerNormLSTMCell)):
        is_lstm = isinstance(cell, ks.layers.LayerNormLSTMCell)
        return normalized_step(
            cells.layer_norm_lstm if is_lstm else cells.layer_norm_gru,
            [product(cell.kernel, cell.input_norm)],
            product(cell.recurrent_kernel, cell.recurrent_norm),
            cell.state_norm if is_lstm else None,
        )
    step = {
        keras.layers.GRUCell: cells.gru,
        keras.layers.LSTMCell: cells.lstm,
        keras.layers.SimpleRNNCell: cells.simple,
    }[type(cell)]
    if step is cells.gru and not cell.reset_after:
        step = cells.gru_reset_before
    names = ("kernel", "recurrent_kernel", "bias")
    return functools.partial(step, **{n: array(getattr(cell, n)) for n in names})


def steps_of(stack):
    """The cells of a `CellStack`, bottom first, those of a Keras stack one by one."""
    (first, *_) = stack.cells
    if isinstance(getattr(first, "cell", None), keras.layers.StackedRNNCells):
        return [keras_step(cell) for cell in first.cell.cells]
    return [step_of(cell) for cell in stack.cells]


def recurrent_layer(layer, batch):
    """A stock layer inside an encoder: (cell, initial state)."""
    cell = layer.cell
    state = tree.map_structure(lambda size: np.zeros([batch, size]), cell.state_size)
    state = list(state) if isinstance(state, (list, tuple)) else state
    return keras_step(cell), state
