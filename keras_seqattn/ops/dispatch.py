"""Reference or fast: the only door to `ops.fast`.

A fast function has the name, the parameters and the results of a readable one. It does
not support every call: a `reason` says why not, and is None where it does.
"""

from keras_seqattn.errors import four_part_error
from keras_seqattn.ops import align, cell
from keras_seqattn.ops.fast import align as fast_align
from keras_seqattn.ops.fast import cell as fast_cell
from keras_seqattn.ops.fast import score as fast_score
from keras_seqattn.ops.fast.unroll import Unrolling
from keras_seqattn.ops.loop_ops import in_loop
from keras_seqattn.ops.unroll import dynamic_unroll, in_eager_mode

IMPLEMENTATIONS = ("auto", "reference", "fast")


def choose(owner, implementation, reference, fast, reason):
    """Return the function to call.

    Args:
        owner: name of the layer, for the error.
        implementation: "auto": the fast one if it supports the call; "reference";
            "fast": that one, or an error with the reason.
        reference: the readable function.
        fast: the other one.
        reason: why the fast one cannot do this call; None: it can.
    """
    return fast if runs_fast(owner, implementation, reason) else reference


def runs_fast(owner, implementation, reason):
    """Whether a call runs the fast function; the arguments are those of `choose`."""
    check_fast(owner, implementation, reason)
    return implementation != "reference" and reason is None


def check_fast(owner, implementation, reason):
    """Check that the fast function can run if "fast" is demanded."""
    if implementation == "fast" and reason is not None:
        raise four_part_error(
            f"{owner} cannot run its fast implementation",
            "a call that it supports",
            f"one where {reason}",
            "Pass implementation='auto', which takes the readable one here",
        )


def unroll(
    owner, implementation, training, step, inputs, state, mask=None, project=None
):
    """Run `dynamic_unroll`, with `owner` and `implementation` as in `choose`.

    The fast loop has a fast gradient, which a SavedModel cannot keep: so "auto" takes
    it in training only. In eager mode both run step by step in Python.
    """
    arguments = {"inputs": inputs, "state": state, "mask": mask, "project": project}
    is_idle = implementation == "auto" and not training
    if implementation == "reference" or is_idle or in_eager_mode():
        return dynamic_unroll(step, **arguments)
    loop = Unrolling(step, **arguments)
    if runs_fast(owner, implementation, loop.reason):
        return loop.run()
    return dynamic_unroll(step, **arguments)


def choose_score(owner, implementation, reference):
    """Return a function with the arguments of a score with a hidden layer.

    It runs the readable score or the fast one of the same name. A fast loop over time
    computes its steps again for the gradient, so the readable score is enough there.
    """
    fast = getattr(fast_score, reference.__name__)

    def score(query, keys, v, *rest):
        if implementation == "auto" and in_loop():
            return reference(query, keys, v, *rest)
        reason = fast_score.supports(query, keys, v)
        chosen = choose(owner, implementation, reference, fast, reason)
        if implementation == "auto" and reason is None:
            pays = fast_score.pays(query, keys, v)
            chosen = fast_score.where(pays, fast, reference)
        return chosen(query, keys, v, *rest)

    return score


def masked_softmax(scores, mask=None):
    """See `ops.align.masked_softmax`; a fast loop keeps the alignment."""
    return (fast_align if in_loop() else align).masked_softmax(scores, mask)


def cell_step(kind):
    """Return the step function of a named cell; a fast loop has some fused ones."""
    name = f"{kind}_step"
    equations = fast_cell if in_loop() and hasattr(fast_cell, name) else cell
    return getattr(equations, name)
