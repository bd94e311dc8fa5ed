"""The report of a reader or filter: how many pairs were dropped, and why."""

import dataclasses

EXAMPLES = 3  # for each reason


@dataclasses.dataclass(frozen=True)
class Report:
    """Counts of dropped pairs by reason; printed, it is a small table.

    Args:
        total: number of pairs before the filter, or of rows in the file.
        dropped: `{reason: count}`; a pair is counted once, for the first reason.
        examples: `{reason: list of str}`, the first dropped pairs, with their lines if
            they were read from a file.
        rows: the positions, from 0, of the rows that `read_pairs` has left out.

    Example:
        >>> report = Report(
        ...     1200,
        ...     {"no tab": 2, "longer than 500 characters": 11},
        ...     {"no tab": ["line 5: fixed", "line 80: two words"]},
        ... )
        >>> report.kept
        1187
        >>> print(report)
        1187 of 1200 pairs kept
              2 no tab                      line 5: fixed
                                            line 80: two words
             11 longer than 500 characters
    """

    total: int
    dropped: dict[str, int] = dataclasses.field(default_factory=dict)
    examples: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    rows: list[int] = dataclasses.field(default_factory=list, repr=False)

    @property
    def kept(self):
        """The number of pairs that were kept."""
        return self.total - sum(self.dropped.values())

    def then(self, later):
        """Return one report of this filter and a later one.

        Args:
            later: the `Report` of a filter that got the pairs that this one kept.
        """
        counts, examples = dict(self.dropped), dict(self.examples)
        for reason, count in later.dropped.items():
            counts[reason] = counts.get(reason, 0) + count
        for reason, few in later.examples.items():
            examples[reason] = [*examples.get(reason, []), *few][:EXAMPLES]
        return Report(self.total, counts, examples, self.rows)

    def __str__(self):
        rows = [f"{self.kept} of {self.total} pairs kept"]
        width = max(map(len, self.dropped), default=0)
        for reason, count in self.dropped.items():
            first, *others = self.examples.get(reason) or [""]
            rows.append(f"{count:7} {reason:{width}}  {first}".rstrip())
            rows += [f"{'':{7 + 1 + width}}  {example}" for example in others]
        return "\n".join(rows)
