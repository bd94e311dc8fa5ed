"""Whole-sequence decoders: a loop over time, inside it a loop over rows for the mask.

inputs [batch, target, depth]; `attend(query, attention_state)` gives (context,
alignment, attention_state), see `weights.Mechanism`; `cell(x, state)` gives the next
state; cells and cell_states are lists, bottom first. A masked target step keeps every
state and gives zero output and alignment.
"""

import numpy as np

from .cells import output_of


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


def over_time(step, inputs, state, mask=None):
    """step(x, state) -> (*outputs, state), over all x [batch, depth] of the inputs.

    -> outputs, each [batch, target, ...], and the last state
    """
    shown = []
    for t in range(inputs.shape[1]):
        real = real_at(mask, inputs, t)
        *outputs, new = step(inputs[:, t], state)
        shown.append([blank(real, output) for output in outputs])
        state = carry(real, new, state)
    return *[np.stack(x, axis=1) for x in zip(*shown, strict=True)], state


def climb(cells, x, layers):
    """The new state of every layer; each reads what the one below it shows."""
    new = []
    for cell, layer in zip(cells, layers, strict=True):
        new.append(cell(x, layer))
        x = output_of(new[-1])
    return new


def bahdanau(
    inputs,
    cell_states,
    attention_state,
    *,
    attend,
    cells,
    mask=None,
    readout="state",
    use_inputs=True,
):
    """Bahdanau et al. 2015, eqs. (4), (5), A.2.2: attend with s_{i-1}, then update.

    c_i = attend(s_{i-1});  s_i = f([x_i; c_i], s_{i-1});  output [s_i; c_i], or
    [s_{i-1}; c_i] (A.2.2) with the readout "previous_state". The top layer attends.
    Without inputs, x_i is s_{i-1}.
    -> outputs, alignments, (cell_states, attention_state)
    """

    def step(x, state):
        layers, attention = state
        before = output_of(layers[-1])
        context, alignment, attention = attend(before, attention)
        word = x if use_inputs else before
        new = climb(cells, join(word, context), layers)  # (4)
        s = before if readout == "previous_state" else output_of(new[-1])
        return join(s, context), alignment, (new, attention)

    return over_time(step, inputs, (cell_states, attention_state), mask)


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
    activation=np.tanh,
    input_feeding=True,
    joined=False,
):
    """Luong et al. 2015, eq. (5) and section 3.3: update, attend, feed h~_t back.

    h_t = f([x_t; h~_{t-1}], h_{t-1});  c_t = attend(h_t)
    h~_t = tanh(W_c [c_t; h_t])                                         (5)
    The top h_t attends. attentional is h~_0, [batch, units] (zeros). Without
    attentional_kernel h~_t is c_t itself, or [c_t; h_t] if joined.
    -> outputs h~_t, alignments, (cell_states, attention_state, attentional)
    """

    def step(x, state):
        layers, attention, fed = state
        new = climb(cells, join(x, fed) if input_feeding else x, layers)
        h = output_of(new[-1])
        context, alignment, attention = attend(h, attention)
        fed = join(context, h) if joined else context
        if attentional_kernel is not None:
            mixed = join(context, h) @ attentional_kernel
            fed = mixed if activation is None else activation(mixed)  # (5)
        return fed, alignment, (new, attention, fed)

    return over_time(step, inputs, (cell_states, attention_state, attentional), mask)


def gnmt(
    inputs,
    cell_states,
    attention_state,
    *,
    attend,
    cells,
    mask=None,
    residual_from=2,
    query="previous",
):
    """Wu et al. 2016, eq. (4), section 3.1: one context for all layers but the bottom.

    a_i = attend(y_{i-1}), y_{i-1} the bottom layer's previous output          (4)
    layer k: m_k = f([x_k; a_i], m_k); x_{k+1} = m_k, and + x_k from the third on (6)
    The query "current" is y_i instead. residual_from counts from 0. Numbers to be
    checked. -> outputs [top; a_i], alignments, (cell_states, attention_state)
    """

    def step(x, state):
        layers, attention = state
        new = [cells[0](x, layers[0])]
        y = output_of(new[0] if query == "current" else layers[0])
        context, alignment, attention = attend(y, attention)  # (4)
        x = output_of(new[0])
        for k in range(1, len(cells)):
            new.append(cells[k](join(x, context), layers[k]))
            h = output_of(new[k])
            x = h + x if k >= residual_from else h  # (6)
        return join(x, context), alignment, (new, attention)

    return over_time(step, inputs, (cell_states, attention_state), mask)


def conditional(inputs, cell_state, attention_state, *, attend, cells, mask=None):
    """Sennrich et al. 2017, section 2: the conditional GRU.

    s'_j = GRU_1(y_{j-1}, s_{j-1});  c_j = ATT(C, s'_j);  s_j = GRU_2(s'_j, c_j)
    GRU_2 has s'_j for its state and c_j for its input. cells are both of them.
    -> outputs [s_j; c_j], alignments, (cell_state, attention_state)
    """
    first, second = cells

    def step(x, state):
        s, attention = state
        s = first(x, s)
        context, alignment, attention = attend(output_of(s), attention)
        s = second(context, s)
        return join(output_of(s), context), alignment, (s, attention)

    return over_time(step, inputs, (cell_state, attention_state), mask)


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

    def step(x, layers):
        new = climb(cells, join(x, c), layers)
        return join(output_of(new[-1]), c), new

    return over_time(step, inputs, state, mask)


def context_only(inputs, cell_states, *, cells, mask=None, feed_context=False):
    """No attention: Sutskever et al. 2014; with feed_context Cho et al. 2014.

    Sutskever: the encoder's last state is only the initial state. Cho (section 2.2,
    h_t = f(h_{t-1}, y_{t-1}, c)): c, the initial h of the top layer, joins the
    bottom layer's input at every step. -> outputs of the top, cell_states
    """
    c = output_of(cell_states[-1])

    def step(x, layers):
        new = climb(cells, join(x, c) if feed_context else x, layers)
        return output_of(new[-1]), new

    return over_time(step, inputs, cell_states, mask)
