"""The report of a filter: how many pairs were dropped, and why."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Report:
    """Counts of dropped pairs by reason; printed, it is a small table.

    Args:
        total: number of pairs before the filter.
        dropped: `{reason: count}`; a pair is counted once, for the first reason.

    Example:
        >>> report = Report(1200, {"empty": 4, "longer than 500 characters": 11})
        >>> report.kept
        1185
        >>> print(report)
        1185 of 1200 pairs kept
              4 empty
             11 longer than 500 characters
    """

    total: int
    dropped: dict[str, int]

    @property
    def kept(self):
        """The number of pairs that were kept."""
        return self.total - sum(self.dropped.values())

    def __str__(self):
        rows = [f"{self.kept} of {self.total} pairs kept"]
        rows += [f"{count:7} {reason}" for reason, count in self.dropped.items()]
        return "\n".join(rows)
