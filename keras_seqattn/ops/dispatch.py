"""Reference or fast: the only door to `ops.fast`.

A fast version has the name, the parameters and the results of the readable one beside
it, and says by inspection whether it supports a call: None, or the reason why not.
"""

from keras_seqattn.errors import four_part_error
from keras_seqattn.ops import align, cell
from keras_seqattn.ops.fast import align as fast_align
from keras_seqattn.ops.fast import cell as fast_cell
from keras_seqattn.ops.fast import score as fast_score
from keras_seqattn.ops.fast.unroll import Unrolling
from keras_seqattn.ops.products import in_loop
from keras_seqattn.ops.unroll import dynamic_unroll, in_eager_mode

IMPLEMENTATIONS = ("auto", "reference", "fast")


def choose(owner, implementation, reference, fast, reason):
    """The function to call.

    Args:
        owner: name of the layer, for the error.
        implementation: "auto": the fast one where it can; "reference"; "fast": that
            one, or an error with the reason.
        reference: the readable function.
        fast: the other one.
        reason: why the fast one cannot do this call; None: it can.
    """
    if implementation == "reference" or (implementation == "auto" and reason):
        return reference
    if reason:
        raise four_part_error(
            f"{owner} cannot run its fast implementation",
            "a call that it supports",
            f"one where {reason}",
            "Pass implementation='auto', which takes the readable one here",
        )
    return fast


def unroll(
    owner, implementation, training, step, inputs, state, mask=None, project=None
):
    """`dynamic_unroll`, with `owner` and `implementation` as in `choose`.

    What is fast is the gradient, which a SavedModel cannot keep: so "auto" takes it in
    training only. Eagerly there is no loop: all go step by step in Python.
    """
    given = step, inputs, state, mask, project
    is_idle = implementation == "auto" and not training
    if implementation == "reference" or is_idle or in_eager_mode():
        return dynamic_unroll(*given)
    loop = Unrolling(*given)
    return choose(
        owner, implementation, lambda: dynamic_unroll(*given), loop.run, loop.reason
    )()


def choose_score(owner, implementation, reference, query, keys, v):
    """The readable score with a hidden layer, or the fast one of its name.

    A fast loop computes again what a step does, so there the readable one will do.
    """
    given = query, keys, v
    if implementation == "auto" and in_loop():
        return reference
    fast, reason = getattr(fast_score, reference.__name__), fast_score.supports(*given)
    if implementation == "auto" and reason is None:
        return fast_score.where(fast_score.pays(*given), fast, reference)
    return choose(owner, implementation, reference, fast, reason)


def masked_softmax(scores, mask=None):
    """See `ops.align.masked_softmax`; in a fast loop the alignment is kept."""
    return (fast_align if in_loop() else align).masked_softmax(scores, mask)


def cell_step(kind):
    """The equations of a named cell: in a fast loop the fused ones, if there are."""
    name = f"{kind}_step"
    equations = fast_cell if in_loop() and hasattr(fast_cell, name) else cell
    return getattr(equations, name)
