"""Reference or fast: the only door to `ops.fast`.

A fast version has the name, the parameters and the results of the readable one beside
it, and says by inspection whether it supports a call: None, or the reason why not.
"""

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
        raise ValueError(
            f"{owner} cannot run its fast implementation. Expected a call that it "
            f"supports, received one where {reason}. Pass implementation='auto', which "
            "takes the readable one here."
        )
    return fast
