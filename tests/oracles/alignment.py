"""Alignments alpha_ij from scores or probabilities, row by row.

Scores are [batch, source] ([batch, heads, source] in the softmax), a mask is
[batch, source] with True = real. What a masked position holds is never read.
"""

import numpy as np


def sigmoid(x):
    """1 / (1 + exp(-x)), written with tanh so that it cannot overflow."""
    return 0.5 * (1.0 + np.tanh(0.5 * np.asarray(x, dtype="float64")))


def everything_real(batch, source):
    return np.ones([batch, source], dtype=bool)


def softmax_over(scores, chosen):
    """exp(e_j) / sum_k exp(e_k) over the chosen positions, 0 elsewhere."""
    alignment = np.zeros(len(scores))
    chosen = [j for j in range(len(scores)) if chosen[j]]
    if not chosen:
        return alignment
    largest = max(scores[j] for j in chosen)
    total = sum(np.exp(scores[j] - largest) for j in chosen)
    for j in chosen:
        alignment[j] = np.exp(scores[j] - largest) / total
    return alignment


def masked_softmax(scores, mask=None):
    """Bahdanau et al. 2015, eq. (6), over the real positions; nothing real: zeros."""
    if mask is None:
        mask = everything_real(scores.shape[0], scores.shape[-1])
    alignment = np.zeros(scores.shape)
    for index in np.ndindex(scores.shape[:-1]):
        alignment[index] = softmax_over(scores[index], mask[index[0]])  # (6)
    return alignment


def first_position(mask):
    """alpha_0 of monotonic attention: all on the first position (Raffel, 2.3)."""
    alignment = np.zeros(mask.shape)
    for n, real in enumerate(mask):
        if real.any():
            alignment[n, np.flatnonzero(real)[0]] = 1.0
    return alignment


def count(mask):
    """The number s of each real position, from 1 on; 0 in the padding."""
    numbers = np.zeros(mask.shape, int)
    for n, real in enumerate(mask):
        numbers[n, real] = 1 + np.arange(real.sum())
    return numbers


def soft_monotonic(probabilities, previous, mask=None):
    """Raffel et al. 2017, eqs. (13), (14): the expected monotonic alignment.

    q_ij = (1 - p_i,j-1) q_i,j-1 + alpha_i-1,j        (13), q_i0 = p_i0 = 0
    alpha_ij = p_ij q_ij                               (14)
    A masked position has p = 0: it is never chosen, the scan goes on past it.
    """
    batch, source = probabilities.shape
    mask = everything_real(batch, source) if mask is None else mask
    alignment = np.zeros([batch, source])
    for n in range(batch):
        q = p_before = 0.0
        for j in range(source):
            p = probabilities[n, j] if mask[n, j] else 0.0
            q = (1.0 - p_before) * q + previous[n, j]  # (13)
            alignment[n, j] = p * q  # (14)
            p_before = p
    return alignment


def parallel_monotonic(probabilities, previous, mask=None, *, floor=1e-10):
    """Raffel et al. 2017, appendix C.1: (13), (14) in closed form, with a floor.

    alpha_ij = p_ij E_ij sum_{k <= j} alpha_i-1,k / max(E_ik, floor),
    E_ij = prod_{k < j} (1 - p_ik). Not equal to `soft_monotonic` where E falls under
    the floor: what stood on such a position before is lost. Published numbers
    (TensorFlow Addons) hold this loss.
    """
    batch, source = probabilities.shape
    mask = everything_real(batch, source) if mask is None else mask
    alignment = np.zeros([batch, source])
    for n in range(batch):
        passed, total = 1.0, 0.0
        for j in range(source):
            p = probabilities[n, j] if mask[n, j] else 0.0
            total += previous[n, j] / max(passed, floor)
            alignment[n, j] = p * passed * total
            passed *= 1.0 - p
    return alignment


def hard_monotonic(probabilities, previous, mask=None, *, threshold=0.5):
    """Raffel et al. 2017, at test time: the first j >= t_{i-1} with p > 1/2.

    previous is one-hot at t_{i-1}; all zeros (nothing fired before) stays all zeros,
    which is what (13), (14) give for p in {0, 1}.
    """
    batch, source = probabilities.shape
    mask = everything_real(batch, source) if mask is None else mask
    alignment = np.zeros([batch, source])
    for n in range(batch):
        if not previous[n].any():
            continue
        for j in range(int(np.argmax(previous[n])), source):
            if mask[n, j] and probabilities[n, j] > threshold:
                alignment[n, j] = 1.0
                break
    return alignment


def local_m(scores, position, window, mask=None):
    """Luong et al. 2015, section 3.2, local-m: (7) inside [p_t - D, p_t + D].

    position [batch] is p_t = t with t = 1, 2, ...; real source positions count from 1.
    A window beyond the end of the sentence is empty: all zeros.
    """
    batch, source = scores.shape
    mask = everything_real(batch, source) if mask is None else mask
    alignment, numbers = np.zeros([batch, source]), count(mask)
    for n in range(batch):
        inside = [abs(s - position[n]) <= window for s in numbers[n]]
        alignment[n] = softmax_over(scores[n], np.logical_and(inside, mask[n]))  # (7)
    return alignment


def predicted_position(query, length, *, position_kernel, position_v):
    """Luong et al. 2015, eq. (9): p_t = S sigmoid(v_p . tanh(W_p h_t)), [batch].

    length [batch] is S, the number of real source positions of each row.
    Numbering of (9) and (10) to be checked.
    """
    rows = zip(query, length, strict=True)
    return np.array(
        [S * sigmoid(position_v @ np.tanh(h @ position_kernel)) for h, S in rows]
    )


def local_p(scores, position, window, mask=None):
    """Luong et al. 2015, eq. (10), local-p, sigma = D / 2, not renormalised.

    a_t(s) = align(h_t, h_s) exp(-(s - p_t)^2 / (2 sigma^2))           (10)
    """
    alignment = local_m(scores, position, window, mask)
    sigma = window / 2.0
    mask = everything_real(*scores.shape) if mask is None else mask
    for n, numbers in enumerate(count(mask)):
        for j, s in enumerate(numbers):
            distance = s - position[n]
            alignment[n, j] *= np.exp(-(distance**2) / (2.0 * sigma**2))  # (10)
    return alignment


def coverage_update(coverage, alignment):
    """See et al. 2017, eq. (10): c^t = sum over t' < t of a^t', as a running sum."""
    return coverage + alignment
