"""Which tests run against a fault, and in which order."""

import re
from pathlib import Path

from tools.mutations.sources import lines_of

# All other folders have the tests of their own name. Folders of tests that do not exist
# are skipped: a record may have been drawn before its tests moved.
OWN = {
    "ops": ["ops", "oracles", "goldens"],
    "layers": ["layers", "oracles", "goldens", "contract"],
    "models": ["models", "contract"],
    "callbacks": ["callbacks", "tensorboard"],
    "checks": ["layers", "models"],
    "manifest": ["test_manifest.py", "export"],
    "pipeline": ["export"],
}
ERRORS = (  # tests/errors tests their errors
    "ops",
    "layers",
    "models",
    "decoding",
    "losses",
    "metrics",
    "callbacks",
    "optimizers",
    "checks",
)
FIRST = 6  # files that run before all others
COMMON = {"call", "build", "get_config", "compute_mask", "step", "start", "main"}


def test_folders(path, kind):
    """Return the folders of tests of a module, whether or not they exist.

    Args:
        path: of the module, from the root.
        kind: of fault.
    """
    folder = path.split("/")[1].removesuffix(".py")
    errors = ["errors"] if kind == "dropped raise" and folder in ERRORS else []
    return [f"tests/{name}" for name in [*errors, *OWN.get(folder, [folder])]]


def runs(root, record, place):
    """Return arguments of pytest for several runs, the most relevant tests first.

    Args:
        root: of the project.
        record: of the fault.
        place: `Place` of the fault today. Its tests run, and those in the record.

    Returns:
        list of lists of strings.
    """
    by_hand = record.get("now", {}).get("tests")
    folders = [*test_folders(place.path, record["kind"]), *record["tests"]]
    folders = list(dict.fromkeys(by_hand or folders))
    files = {
        file.relative_to(root).as_posix(): file.read_text(encoding="utf-8")
        for folder in folders
        for file in tests_in(Path(root) / folder)
    }
    if not files:
        raise ValueError(
            f"{record['id']} has no tests. Expected files test_*.py in one of "
            f"{', '.join(folders)}, received none. Add the new folder to OWN in "
            'tools/mutations/choice.py, or "tests" to the "now" of this fault.'
        )
    said = said_at(root, place)
    scores = {file: score(file, text, place, said) for file, text in files.items()}
    if record["kind"] == "dropped raise":  # whose calls stand in other files
        scores |= {file: 99 for file in files if file.startswith("tests/errors/")}
    ranked = sorted(files, key=lambda file: -scores[file])
    first = [file for file in ranked if scores[file]][:FIRST]
    rest = [file for file in ranked if file not in first]
    words = " or ".join(words_of(place)) or "test"
    quick, slow = ["-m", "not system"], ["-m", "system"]
    chosen = [(first, quick)] if first else []
    if rest:
        chosen += [(rest, ["-k", words]), (rest, ["-k", f"not ({words})", *quick])]
    return [[*some, *which] for some, which in [*chosen, (ranked, slow)]]


def tests_in(path):
    """Return a file of tests, or all files in a folder."""
    return [path] if path.is_file() else sorted(path.rglob("test_*.py"))


def words_of(place):
    """Return words for names of tests: `local` for `local_attention.py`."""
    words = [Path(place.path).stem.split("_")[0]]
    words += [name.strip("_") for name in place.function.split(".") if telling(name)]
    return sorted({word for word in words if len(word) > 2 and word.isidentifier()})


def telling(name):
    """Return whether few functions have this name."""
    return len(name) > 3 and name not in COMMON and not name.startswith("__")


def said_at(root, place):
    """Return the texts in a function, mainly of its errors: tests look for them."""
    text = Path(root, place.path).read_text(encoding="utf-8")
    lines = lines_of(place.path, text)
    code = "\n".join(line.text for line in lines if line.function == place.function)
    return set(re.findall(r'(?<=["}])[^"{}\n]{12,}(?=["{])', code))


def score(file, text, place, said):
    """Return a score: how often a file of tests names a function, class and module."""
    module = Path(place.path).stem
    points = 8 * (Path(file).stem.removeprefix("test_") == module)
    names = place.function.split(".")
    for name, weight in [(module, 2), *((name, 4) for name in names)]:
        if telling(name):
            found = len(re.findall(rf"\b{re.escape(name)}\b", text))
            points += weight * bool(found) + min(found, 20) / 20
    return points + 6 * min(3, sum(words in text for words in said))
