"""Draw faults by a seed, evenly from all kinds and all folders."""

import collections
import random

from tools.mutations.choice import test_folders
from tools.mutations.edits import edited, edits, is_fault
from tools.mutations.kinds import KINDS
from tools.mutations.sources import lines_of, plain, sources

FOLDERS = (
    "ops",
    "layers",
    "decoding",
    "models",
    "training",
    "text",
    "data",
    "export",
    "translator",
    "serving",
    "tensorboard",
    "cli",
)


def draw(root, seed, count):
    """Return the records of faults that `tools/mutations.json` holds.

    Args:
        root: of the project.
        seed: of the draw; the same sources and seed give the same faults.
        count: how many.

    Returns:
        list of dicts.
    """
    chance, texts = random.Random(seed), sources(root)
    possible = by_folder_and_kind(texts)
    drawn, used = [], collections.Counter()
    while len(drawn) < count and possible:
        folder, kind = least_used(possible, used, chance)
        choices = possible[folder, kind]
        fewest = min(used[path] for path, _ in choices)
        some = [choice for choice in choices if used[choice[0]] == fewest]
        path, edit = chance.choice(some)
        choices.remove((path, edit))
        if not choices:
            del possible[folder, kind]
        if used[path, edit.line] or not is_fault(texts[path], edit):
            continue
        used.update([folder, kind, (folder, kind), path, (path, edit.line)])
        drawn.append((path, edit))
    order = sorted(drawn, key=lambda one: (FOLDERS.index(folder_of(one[0])), one))
    return [
        record(f"m{number:02}", path, edit, texts[path])
        for number, (path, edit) in enumerate(order, start=1)
    ]


def by_folder_and_kind(texts):
    """Return `{(folder, kind): [(path, edit), ...]}`."""
    possible = collections.defaultdict(list)
    for path, text in texts.items():
        if folder_of(path) in FOLDERS:
            for edit, _ in edits(text):
                possible[folder_of(path), edit.kind].append((path, edit))
    return dict(possible)


def folder_of(path):
    """Return `ops` for `keras_seqattn/ops/fast/cell.py`, "" for a file in no folder."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else ""


def least_used(possible, used, chance):
    """Return the folder, and in it the kind, that were drawn least often; then draw."""
    folders = sorted({folder for folder, _ in possible})
    folder = min(folders, key=lambda name: (used[name], chance.random()))
    kinds = [kind for kind in KINDS if (folder, kind) in possible]

    def rank(kind):
        places = sum(of == kind for _, of in possible)
        return used[kind], used[folder, kind], places, chance.random()

    return folder, min(kinds, key=rank)


def record(name, path, edit, text):
    """Return the record of a fault, which finds it again after the code has moved."""
    lines = {line.number: line for line in lines_of(path, text)}
    own = lines[edit.line]
    same = [
        line.number
        for line in lines.values()
        if (line.function, plain(line.text)) == (own.function, plain(own.text))
    ]
    return {
        "id": name,
        "kind": edit.kind,
        "path": path,
        "function": own.function,
        "line": own.text,
        "mutated": edited(own.text, edit),
        "statement": own.statement,
        "nth": same.index(edit.line) + 1,  # of the same lines in this function
        "of": len(same),
        "tests": test_folders(path, edit.kind),
    }
