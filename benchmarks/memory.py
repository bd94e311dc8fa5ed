"""`python -m benchmarks.memory [name ...]`: the most memory that something takes.

Each case has a process of its own, which builds it, with its inputs, and then runs it
once. What counts is the peak of the resident memory meanwhile, above what was resident
after building.
"""

import argparse
import pathlib
import subprocess
import sys

CASES = {}
STATUS = pathlib.Path("/proc/self/status")


def case(build):
    """Registers `build() -> run` under its name; its docstring says what it is."""
    CASES[build.__name__] = build
    return build


@case
def whole_sequence_attention():
    """Additive attention, 2000 x 2000, batch 4, units 256: forth and back."""
    from benchmarks.whole_sequence import gradients

    return gradients("auto", batch=4, length=2000, units=256)


def peak(name):
    """Of a case, in MB."""
    command = [sys.executable, "-m", "benchmarks.memory", "--here", name]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return float(done.stdout)


def peak_here(name):
    """The same in this process, which should have done nothing else before."""
    run = CASES[name]()
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
    before = _resident("VmRSS")
    run()
    return _resident("VmHWM") - before


def _resident(field):
    """In MB; Linux alone knows."""
    for line in STATUS.read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024 / 1e6
    raise OSError(
        f"{STATUS} does not say how much memory this process takes. Expected a line "
        f"{field}, received none. Measure on Linux."
    )


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help=f"default: {', '.join(CASES)}")
    parser.add_argument("--here", metavar="NAME", help="in this process, MB alone")
    options = parser.parse_args(arguments)
    if options.here:
        print(peak_here(options.here))
        return
    unknown = sorted(set(options.names) - set(CASES))
    if unknown:
        parser.error(f"got {unknown}, expected of {list(CASES)}")
    for name in options.names or CASES:
        print(f"{name}: {CASES[name].__doc__}\n  peak {peak(name):.0f} MB", flush=True)


if __name__ == "__main__":
    main()
