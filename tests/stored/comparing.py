"""Two values as JSON has them: numbers may differ a little, nothing else may."""

import math


def differences(found, expected, tolerance=1e-5, where=""):
    """Lines that say where the first is not the second."""
    if isinstance(expected, dict) and isinstance(found, dict):
        names = sorted({*expected, *found})
        pairs = [(f"{where}/{n}", found.get(n), expected.get(n)) for n in names]
    elif isinstance(expected, list) and isinstance(found, (list, tuple)):
        if len(found) != len(expected):
            return [f"{where}: {len(found)} values, expected {len(expected)}"]
        both = zip(found, expected, strict=True)
        pairs = [(f"{where}/{i}", *pair) for i, pair in enumerate(both)]
    else:
        same = found == expected or _are_near(found, expected, tolerance)
        return [] if same else [f"{where}: {found!r}, expected {expected!r}"]
    return [line for at, *pair in pairs for line in differences(*pair, tolerance, at)]


def _are_near(found, expected, tolerance):
    if not all(type(x) in (int, float) for x in (found, expected)):
        return False
    return math.isclose(found, expected, rel_tol=tolerance, abs_tol=tolerance)
