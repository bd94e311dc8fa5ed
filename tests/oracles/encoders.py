"""Encoders: values [batch, source, depth] -> values, state (one entry per layer).

A layer is a pair (cell, initial_state), `cell(x, state)` giving the next state.
Padding is passed over: it changes no state and its output is zero.
"""

import numpy as np

from .cells import output_of
from .decoders import join, over_time


def one_way(values, layer, mask=None, *, backwards=False):
    """Over the real steps, first to last or last to first; outputs in source order."""
    cell, state = layer

    def step(x, state):
        new = cell(x, state)
        return output_of(new), new

    turn = slice(None, None, -1 if backwards else 1)
    mask = None if mask is None else mask[:, turn]
    outputs, state = over_time(step, values[:, turn], state, mask)
    return outputs[:, turn], state


def stacked_one_way(values, layers, mask=None, *, backwards=False, residual_from=99):
    """Sutskever et al. 2014, section 2; Luong et al. 2015: one-way layers.

    Both papers reverse the source; here its order stays and the layers go backwards.
    From layer `residual_from` on, counted from 0, x_{k+1} = h_k + x_k.
    """
    states = []
    for k, layer in enumerate(layers):
        outputs, state = one_way(values, layer, mask, backwards=backwards)
        values = outputs + values if k >= residual_from else outputs
        states.append(state)
    return values, states


def merge_states(merge, forward, backward):
    """merge(fw, bw), inside the cell's own structure."""
    if isinstance(forward, (list, tuple)):
        both = zip(forward, backward, strict=True)
        return [merge_states(merge, f, b) for f, b in both]
    return merge(forward, backward)


def bidirectional(values, forward, backward, mask=None, *, merge=join):
    """Bahdanau et al. 2015, section A.2.1, eq. (7): h_j = [h_j forward; h_j backward].

    -> values [batch, source, 2 * units], state [fw; bw]. Numbering to be checked.
    """
    ahead, forward_state = one_way(values, forward, mask)
    behind, backward_state = one_way(values, backward, mask, backwards=True)
    return merge(ahead, behind), merge_states(merge, forward_state, backward_state)


def stacked_bidirectional(values, layers, mask=None, *, residual_from=99, merge=join):
    """Bidirectional layers on top of each other; layers are (forward, backward).

    Chen et al. 2018, section 4.1 (to be checked): from layer `residual_from` on,
    counted from 0, a layer adds what it has read to what it puts out.
    """
    states = []
    for k, layer in enumerate(layers):
        outputs, state = bidirectional(values, *layer, mask, merge=merge)
        values = outputs + values if k >= residual_from else outputs
        states.append(state)
    return values, states


def gnmt(values, bottom, layers, mask=None, *, residual_from=2):
    """Wu et al. 2016, sections 3.1, 3.2: one bidirectional layer, then one-way ones.

    bottom is (forward, backward). The bottom is layer 0; from layer `residual_from`
    on x_{k+1} = m_k + x_k, eq. (6), numbering to be checked.
    """
    values, state = bidirectional(values, *bottom, mask)
    states = [state]
    for k, layer in enumerate(layers, start=1):
        outputs, state = one_way(values, layer, mask)
        values = outputs + values if k >= residual_from else outputs  # (6)
        states.append(state)
    return values, states


def group(values, mask=None, factor=2):
    """Chan et al. 2016, eq. (5), numbering to be checked: [h_2i; h_2i+1] as one step.

    A last group that is not full is filled with zeros. A group is real when any step
    in it is. -> values [batch, ceil(source / factor), factor * depth], mask
    """
    batch, source, depth = values.shape
    real = np.ones([batch, source], dtype=bool) if mask is None else mask
    groups = -(-source // factor)
    grouped = np.zeros([batch, groups, factor * depth])
    grouped_mask = np.zeros([batch, groups], dtype=bool)
    for n in range(batch):
        for j in range(source):
            if real[n, j]:
                i, k = divmod(j, factor)
                grouped[n, i, k * depth : (k + 1) * depth] = values[n, j]
                grouped_mask[n, i] = True
    return grouped, grouped_mask


def pyramid(values, layers, mask=None, *, factor=2):
    """Chan et al. 2016, section 3.1: a bidirectional layer, grouping before each next.

    h_i^j = BiRNN(h_{i-1}^j, [h_2i^{j-1}; h_2i+1^{j-1}]); layers are (forward,
    backward). The bottom layer reads the values as they are, so that the source
    shrinks by factor ** (len(layers) - 1). -> values, states, mask
    """
    states = []
    for k, (forward, backward) in enumerate(layers):
        if k > 0:
            values, mask = group(values, mask, factor)  # (5)
        values, state = bidirectional(values, forward, backward, mask)
        states.append(state)
    if mask is None:
        mask = np.ones(values.shape[:2], dtype=bool)
    return values, states, mask


def normalized(values, gain, bias, mask=None, epsilon=1e-5):
    """Ba et al. 2016: each position by its own mean and variance; padding stays 0."""
    deviation = values - values.mean(axis=-1, keepdims=True)
    variance = (deviation**2).mean(axis=-1, keepdims=True)
    new = gain * deviation / np.sqrt(variance + epsilon) + bias
    return new if mask is None else np.where(mask[..., None], new, 0.0)
