"""Where a run was measured: without it a time says nothing."""

import os
import platform
import re
import sys
from pathlib import Path


def machine():
    """The processor and how many cores this process may use, in words."""
    cores = len(os.sched_getaffinity(0)) if _on_linux() else os.cpu_count()
    return f"{_processor()}, {cores} core{'s' if cores > 1 else ''}"


def peak_memory():
    """Most memory of this process so far, in MiB; None where nothing tells it."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(most / (2**10 if _on_linux() else 2**20))  # macOS counts bytes


def _processor():
    if _on_linux():
        found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
        if found:
            return found[1].strip()
    return platform.processor() or platform.machine()


def _on_linux():
    return sys.platform.startswith("linux")
