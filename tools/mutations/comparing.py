"""Compare two files of results: a caught fault must stay caught."""

import collections

from tools.mutations.campaign import is_caught
from tools.mutations.kinds import KINDS

REMEDIES = {
    "survived": "bring back what {by} tested",
    "time": "run it alone, with more --seconds",
    "not found": '"python -m tools.mutations where" says what to write to its "now"',
    "fails anyway": "repair {after}, which fails without the fault too",
}


def table(records, before, after):
    """Return how many faults of each kind were caught.

    Args:
        records: of the faults.
        before: results by names.
        after: results by names.

    Returns:
        text.
    """
    counts = collections.Counter()
    for record in records:
        for kind in (record["kind"], "all"):
            counts[kind, "drawn"] += 1
            counts[kind, "before"] += is_caught(before.get(record["id"]))
            counts[kind, "after"] += is_caught(after.get(record["id"]))
    rows = [f"{'caught':15}{'drawn':>8}{'before':>8}{'after':>8}"]
    for kind in (*KINDS, "all"):
        cells = (f"{counts[kind, name]:8}" for name in ("drawn", "before", "after"))
        rows.append(f"{kind:15}{''.join(cells)}")
    return "\n".join(rows)


def lost(records, before, after):
    """Return the faults that are no longer caught, each with a remedy.

    Args:
        records: of the faults. One whose `now` has `gone` with a reason is passed over.
        before: results by names.
        after: results by names.

    Returns:
        list of texts.
    """
    found = []
    for record in records:
        name = record["id"]
        was, is_now = before.get(name), after.get(name)
        if not is_caught(was) or is_caught(is_now) or "gone" in record.get("now", {}):
            continue
        outcome = is_now["outcome"] if is_now else "not run"
        remedy = REMEDIES.get(outcome, "run it: python -m tools.mutations run")
        remedy = remedy.format(by=was["by"], after=is_now and is_now.get("by"))
        found.append(
            f"{name} is no longer caught: {record['kind']} in {record['path']}, "
            f"{record['function']}. Expected a test that fails with "
            f"{record['mutated'].strip()!r} for {record['line'].strip()!r}, received: "
            f"{outcome}. To do: {remedy}."
        )
    return found
