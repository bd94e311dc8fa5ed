"""`python -m benchmarks.worker FD`: the process of one contender.

It executes commands from a pipe, one after the other: `build`, `results`, `repeat`,
`memory`, `peak`, `flops`, `figures`. The pipe is a file descriptor, because libraries
print.
"""

import importlib
import pathlib
import sys
import time
import traceback
from multiprocessing.connection import Connection

from benchmarks import machine
from benchmarks.contender import Unavailable


class Worker:
    """Executes the commands; `build` comes first."""

    def build(self, make, options):
        module, _, function = make.partition(":")
        made = getattr(importlib.import_module(module), function)(**options)
        self.contender = made
        return {"tokens": made.tokens, "notes": made.notes, "versions": _versions()}

    def results(self):
        return self.contender.results()

    def repeat(self):
        """Return the seconds of a repetition: elapsed, of this process, of others."""
        wall, own, busy = time.perf_counter(), time.process_time(), machine.busy()
        self.contender.step()
        wall, own = time.perf_counter() - wall, time.process_time() - own
        return wall, own, machine.busy() - busy - own

    def memory(self):
        """Return the greatest memory of a repetition, beyond that after `build`."""
        before = machine.resident("VmRSS")
        pathlib.Path("/proc/self/clear_refs").write_text("5")  # forgets the peak
        self.contender.step()
        return machine.resident("VmHWM") - before

    def peak(self):
        return machine.gemm_peak()

    def flops(self):
        return self.contender.flops and self.contender.flops()

    def figures(self):
        return self.contender.figures and self.contender.figures()


def _versions():
    names = ("tensorflow", "keras", "torch", "joeynmt")
    loaded = {name: sys.modules[name] for name in names if name in sys.modules}
    return {n: m.__version__ for n, m in loaded.items() if hasattr(m, "__version__")}


def _shortened(error):
    """Return an error and its place in one line."""
    first = str(error).partition("\n")[0]
    where = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{pathlib.Path(where.filename).name}, line {where.lineno}"
    return f"{type(error).__name__}: {first} ({place})"


def main(descriptor):
    connection, worker = Connection(descriptor), Worker()
    while True:
        try:
            command, *arguments = connection.recv()
        except EOFError:  # the process that asks has ended
            return
        try:
            answer = "done", getattr(worker, command)(*arguments)
        except (Unavailable, ModuleNotFoundError) as error:
            answer = "refused", str(error)
        except Exception as error:
            answer = "refused", _shortened(error)
        connection.send(answer)


if __name__ == "__main__":
    main(int(sys.argv[1]))
