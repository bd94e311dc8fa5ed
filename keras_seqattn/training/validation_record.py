"""What was measured when, and which weights of it are kept."""

import json

from keras_seqattn.training.checkpoint import replacing


class ValidationRecord:
    """The validations of one training, best first found.

    An entry is `{"step": int, "values": {name: float}, "best": bool}`; `best` says
    whether it was the best one when it came (and its weights could be saved).

    Args:
        metric: the `TextMetric` that decides.
    """

    def __init__(self, metric):
        self.metric, self.entries = metric, []

    @property
    def best(self):
        """The best entry, or None."""
        found = [entry for entry in self.entries if entry["best"]]
        return found[-1] if found else None

    @property
    def waited(self):
        """How many validations came after the best one."""
        best = [entry["best"] for entry in self.entries]
        return best[::-1].index(True) if True in best else len(best)

    def is_better(self, values):
        than = self.best and self.best["values"][self.metric.name]
        return self.metric.is_better(values[self.metric.name], than)

    def add(self, step, values, best):
        self.entries.append({"step": step, "values": values, "best": best})

    def rewind(self, step):
        """Forgets what came after a step, at which training goes on. The best stays."""
        best = self.best
        self.entries = [e for e in self.entries if e["step"] <= step or e is best]

    def write(self, path):
        state = {"metric": self.metric.name, "entries": self.entries}
        with replacing(path) as unfinished:
            unfinished.write_text(json.dumps(state, indent=1), encoding="utf-8")

    def read(self, path):
        """Goes on from what `write` wrote."""
        try:
            state = json.loads(path.read_text(encoding="utf-8"))
            metric = state["metric"]
            entries = [_entry(entry, metric) for entry in state["entries"]]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ValueError(
                "Validation got a record that it cannot read. Expected what it wrote "
                f"itself, received {str(path)!r}. Delete the file: the weights beside "
                "it stay, only the best value is forgotten."
            ) from error
        if metric != self.metric.name:
            raise ValueError(
                "Validation got the folder of another training. Expected one that was "
                f"judged by {self.metric.name!r}, received {str(path)!r} with "
                f"{metric!r}. Use a new folder, or the same first metric."
            )
        self.entries = entries


def _entry(entry, metric):
    """What was read as an entry, if all is there that is asked of it later."""
    values = {metric: float(entry["values"][metric]), **entry["values"]}
    return {"step": int(entry["step"]), "values": values, "best": entry["best"]}
