"""Whole-sequence decoders: a loop over time, inside it a loop over rows for the mask.

inputs [batch, target, depth]; `attend(query, attention_state)` gives (context,
alignment, attention_state), see `attention.bind`; `cell(x, state)` gives the next
state. A masked target step keeps every state and gives zero output and alignment.
"""

import numpy as np

from .cells import output_of
from .precision import float64


def carry(real, new, old):
    """Row by row: the new state where the step is real, the old one elsewhere."""
    if isinstance(old, (list, tuple)):
        entries = [carry(real, a, b) for a, b in zip(new, old, strict=True)]
        return entries if isinstance(old, list) else tuple(entries)
    return np.array([new[n] if real[n] else old[n] for n in range(len(real))])


def blank(real, array):
    """Row by row: zeros where the step is not real."""
    return carry(real, array, np.zeros_like(array))


def real_at(mask, inputs, t):
    return np.ones(len(inputs), dtype=bool) if mask is None else mask[:, t]


def join(*arrays):
    return np.concatenate(arrays, axis=-1)


@float64
def bahdanau(inputs, cell_state, attention_state, *, attend, cell, mask=None):
    """Bahdanau et al. 2015, eqs. (4), (5), A.2.2: attend with s_{i-1}, then update.

    c_i = attend(s_{i-1});  s_i = f([x_i; c_i], s_{i-1});  output [s_i; c_i]
    -> outputs, alignments, (cell_state, attention_state)
    """
    state = (cell_state, attention_state)
    outputs, alignments = [], []
    for t in range(inputs.shape[1]):
        real = real_at(mask, inputs, t)
        s, attention = state
        context, alignment, attention = attend(output_of(s), attention)
        s = cell(join(inputs[:, t], context), s)  # (4)
        outputs.append(blank(real, join(output_of(s), context)))
        alignments.append(blank(real, alignment))
        state = carry(real, (s, attention), state)
    return np.stack(outputs, axis=1), np.stack(alignments, axis=1), state


@float64
def luong(
    inputs,
    cell_states,
    attention_state,
    attentional,
    *,
    attend,
    cells,
    mask=None,
    attentional_kernel=None,
    attentional_bias=0.0,
    activation=np.tanh,
    input_feeding=True,
):
    """Luong et al. 2015, eq. (5) and section 3.3: update, attend, feed h~_t back.

    h_t = f([x_t; h~_{t-1}], h_{t-1});  c_t = attend(h_t)
    h~_t = tanh(W_c [c_t; h_t])                                         (5)
    cells and cell_states are lists, bottom first; the top h_t attends. attentional
    is h~_0, [batch, units] (zeros). Without attentional_kernel h~_t is c_t itself.
    -> outputs h~_t, alignments, (cell_states, attention_state, attentional)
    """
    state = (cell_states, attention_state, attentional)
    outputs, alignments = [], []
    for t in range(inputs.shape[1]):
        real = real_at(mask, inputs, t)
        layers, attention, fed = state
        x = join(inputs[:, t], fed) if input_feeding else inputs[:, t]
        new = []
        for cell, layer in zip(cells, layers, strict=True):
            new.append(cell(x, layer))
            x = output_of(new[-1])
        context, alignment, attention = attend(x, attention)
        fed = context
        if attentional_kernel is not None:
            mixed = join(context, x) @ attentional_kernel + attentional_bias
            fed = mixed if activation is None else activation(mixed)  # (5)
        outputs.append(blank(real, fed))
        alignments.append(blank(real, alignment))
        state = carry(real, (new, attention, fed), state)
    return np.stack(outputs, axis=1), np.stack(alignments, axis=1), state


@float64
def gnmt(
    inputs,
    cell_states,
    attention_state,
    *,
    attend,
    cells,
    mask=None,
    residual_from=2,
    context_to_bottom=True,
):
    """Wu et al. 2016, eq. (4), section 3.1: one context for all layers.

    a_i = attend(y_{i-1}), y_{i-1} the bottom layer's previous output          (4)
    layer k: m_k = f([x_k; a_i], m_k); x_{k+1} = m_k, and + x_k from the third on (6)
    Without context_to_bottom only the layers above the bottom get a_i.
    residual_from counts from 0. Numbers to be checked.
    -> outputs of the top, alignments, (cell_states, attention_state)
    """
    state = (cell_states, attention_state)
    outputs, alignments = [], []
    for t in range(inputs.shape[1]):
        real = real_at(mask, inputs, t)
        layers, attention = state
        context, alignment, attention = attend(output_of(layers[0]), attention)  # (4)
        x, new = inputs[:, t], []
        for k, (cell, layer) in enumerate(zip(cells, layers, strict=True)):
            fed = x if k == 0 and not context_to_bottom else join(x, context)
            new.append(cell(fed, layer))
            h = output_of(new[-1])
            x = h + x if k >= residual_from else h  # (6)
        outputs.append(blank(real, x))
        alignments.append(blank(real, alignment))
        state = carry(real, (new, attention), state)
    return np.stack(outputs, axis=1), np.stack(alignments, axis=1), state


@float64
def conditional(inputs, cell_state, attention_state, *, attend, cells, mask=None):
    """Sennrich et al. 2017, section 2: the conditional GRU.

    s'_j = GRU_1(y_{j-1}, s_{j-1});  c_j = ATT(C, s'_j);  s_j = GRU_2(s'_j, c_j)
    GRU_2 has s'_j for its state and c_j for its input. cells are both of them.
    -> outputs [s_j; c_j], alignments, (cell_state, attention_state)
    """
    first, second = cells
    state = (cell_state, attention_state)
    outputs, alignments = [], []
    for t in range(inputs.shape[1]):
        real = real_at(mask, inputs, t)
        s, attention = state
        s = first(inputs[:, t], s)
        context, alignment, attention = attend(output_of(s), attention)
        s = second(context, s)
        outputs.append(blank(real, join(output_of(s), context)))
        alignments.append(blank(real, alignment))
        state = carry(real, (s, attention), state)
    return np.stack(outputs, axis=1), np.stack(alignments, axis=1), state


@float64
def cho(inputs, last, *, cells, summary, starts, mask=None):
    """Cho et al. 2014, section 2.2 and appendix A: a summary c, fed at every step.

    c = tanh(V h_N);  h_0 = tanh(V' c);  h_t = f(h_{t-1}, [y_{t-1}; c])
    last is h_N. summary is (V, bias); starts are the (V', bias) of each cell, a list
    of them for an LSTM's [h, c]. -> outputs [h_t; c], cell_states
    """

    def dense(x, layer):
        return np.tanh(x @ layer[0] + layer[1])

    c = dense(last, summary)
    state = [
        [dense(c, one) for one in start] if isinstance(start, list) else dense(c, start)
        for start in starts
    ]
    outputs = []
    for t in range(inputs.shape[1]):
        real = real_at(mask, inputs, t)
        x, new = join(inputs[:, t], c), []
        for cell, layer in zip(cells, state, strict=True):
            new.append(cell(x, layer))
            x = output_of(new[-1])
        outputs.append(blank(real, join(x, c)))
        state = carry(real, new, state)
    return np.stack(outputs, axis=1), state


@float64
def context_only(inputs, cell_states, *, cells, mask=None, feed_context=False):
    """No attention: Sutskever et al. 2014; with feed_context Cho et al. 2014.

    Sutskever: the encoder's last state is only the initial state. Cho (section 2.2,
    h_t = f(h_{t-1}, y_{t-1}, c)): c, the initial h of the top layer, joins the
    bottom layer's input at every step. -> outputs of the top, cell_states
    """
    c = output_of(cell_states[-1])
    state, outputs = cell_states, []
    for t in range(inputs.shape[1]):
        real = real_at(mask, inputs, t)
        x = join(inputs[:, t], c) if feed_context else inputs[:, t]
        new = []
        for cell, layer in zip(cells, state, strict=True):
            new.append(cell(x, layer))
            x = output_of(new[-1])
        outputs.append(blank(real, x))
        state = carry(real, new, state)
    return np.stack(outputs, axis=1), state
