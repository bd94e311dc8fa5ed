"""The values of all validations, and which weights are kept."""

import json

from keras_seqattn.errors import four_part_error
from keras_seqattn.files import replacing
from keras_seqattn.safe_reading import JSON, parse_json, read_bytes

_UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError)


class ValidationRecord:
    """The validations of one training, in the order of their steps.

    An entry is `{"step": int, "values": {name: float}, "best": bool}`; `best` says
    whether it was the best validation so far (and its weights could be saved).

    A resumed training may repeat some steps: it was killed after a validation and
    before it saved its state. It repeats their validations, too, and these count once.
    The best of them stays in `ahead` until a new validation is at least as good.

    Args:
        metric: the `TextMetric` that decides which validation is best.
    """

    def __init__(self, metric):
        self.metric, self.entries, self.ahead = metric, [], None

    @property
    def best(self):
        """The entry whose weights are kept, or None."""
        return self.ahead or self._best_so_far

    @property
    def waited(self):
        """The number of validations after the best one."""
        best = [entry["best"] for entry in self.entries]
        return best[::-1].index(True) if True in best else len(best)

    def is_better(self, values):
        """Whether these values are better than those of all entries."""
        return self._is_better(values, self._best_so_far)

    def is_worth_saving(self, values):
        """Whether the disk has no better weights yet."""
        if self.ahead is None:
            return True
        return not self._is_better(self.ahead["values"], {"values": values})

    def add(self, step, values, best, is_saved=True):
        """Add an entry; `is_saved` says whether its weights are the kept ones now."""
        self.entries.append({"step": step, "values": values, "best": best})
        if best and is_saved:
            self.ahead = None

    def clear(self):
        self.entries, self.ahead = [], None

    def rewind(self, step):
        """Forget the entries after the step at which training continues.

        The best one stays.
        """
        best = self.best
        self.entries = [e for e in self.entries if e["step"] <= step]
        self.ahead = best if best and best["step"] > step else None

    def write(self, path):
        entries = self.entries + ([self.ahead] if self.ahead else [])
        entries = sorted(entries, key=lambda entry: entry["step"])
        state = {"metric": self.metric.name, "entries": entries}
        with replacing(path) as unfinished:
            unfinished.write_text(json.dumps(state, indent=1), encoding="utf-8")

    def read(self, path):
        """Read the entries that `write` wrote."""
        metric, entries = read_entries(path)
        if metric != self.metric.name:
            raise four_part_error(
                "Validation got the folder of another training",
                f"a training whose first metric is {self.metric.name!r}",
                f"{str(path)!r} with {metric!r}",
                "Use a new folder, or the same first metric",
            )
        self.entries, self.ahead = entries, None

    @property
    def _best_so_far(self):
        best = [entry for entry in self.entries if entry["best"]]
        return best[-1] if best else None

    def _is_better(self, values, than):
        name = self.metric.name
        return self.metric.is_better(values[name], than and than["values"][name])


def read_entries(path):
    """Return the name of the deciding metric, and the entries of a file."""
    try:
        state = parse_json(read_bytes("Validation", path, JSON))
        metric = state["metric"]
        return metric, [_entry(entry, metric) for entry in state["entries"]]
    except (*_UNREADABLE, OverflowError) as error:
        raise four_part_error(
            "Validation got a record that it cannot read",
            "a file that Validation wrote",
            f"{str(path)!r}",
            "Delete the file: the weights beside it stay, only the best value is "
            "forgotten",
        ) from error


def _entry(entry, metric):
    """Return the entry with values of the right types; errors tell what is missing."""
    values = {name: float(value) for name, value in entry["values"].items()}
    values = {metric: values.pop(metric), **values}
    return {"step": int(entry["step"]), "values": values, "best": bool(entry["best"])}
