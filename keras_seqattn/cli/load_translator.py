"""Load the translator of a run or of a folder, and change how it searches."""

import dataclasses
import shlex
from pathlib import Path

from keras_seqattn import shipped_models
from keras_seqattn.decoding.beam import BeamSearch
from keras_seqattn.decoding.greedy import Greedy
from keras_seqattn.decoding.search import Search
from keras_seqattn.errors import four_part_error
from keras_seqattn.translator.translator import Translator
from seqattn_command.options import is_translator

_CONSTRAINTS = dataclasses.fields(Search)  # those that all searches have


def load_translator(path, beam=None, n_best=None, length_penalty=None):
    """Load the translator of a run, of a folder, or a shipped one.

    An option that is None keeps the value of the translator's own search, but the beam
    is never narrower than `n_best`.
    """
    translator = Translator.load(translator_folder(path))
    own = translator.search
    if beam is None and length_penalty is None and n_best in (None, own.n_best):
        return translator
    return translator.with_search(_changed(own, beam, n_best, length_penalty))


def check_order(verb, run, other):
    """Check that the translator is the first word of a verb, not the second."""
    if is_translator(other) and not is_translator(run):
        raise four_part_error(
            f"{verb} got its words in the wrong order",
            "RUN first",
            f"{run!r} {other!r}",
            f"Write: {shlex.join(['seqattn', verb, other, run])}",
        )


def _changed(own, beam, n_best, length_penalty):
    """Return the translator's own search with other options."""
    constraints = {field.name: getattr(own, field.name) for field in _CONSTRAINTS}
    old = own if isinstance(own, BeamSearch) else BeamSearch(1, **constraints)
    width = max(old.width, n_best or 1) if beam is None else beam
    n_best = min(old.n_best, width) if n_best is None else n_best
    if width == 1 and length_penalty is not None:
        raise four_part_error(
            "seqattn got a length penalty that has no effect",
            "--length-penalty with a beam of 2 or more",
            f"--length-penalty {length_penalty} and "
            + (f"the translator's own {own}" if beam is None else f"--beam {beam}"),
            "Leave it out, or add e.g. --beam 5",
        )
    if width == 1 == n_best:
        return Greedy(**constraints)
    penalty = old.length_penalty if length_penalty is None else length_penalty
    return dataclasses.replace(old, width=width, n_best=n_best, length_penalty=penalty)


def translator_folder(path):
    """Return the folder with `translator.json` that belongs to the path."""
    remedy = "Check the path; a run has a translator after its first validation"
    path = Path(shipped_models.resolve_path(path))
    for folder in (path, path / "translator"):
        if (folder / "translator.json").exists():
            return folder
    if (path / "run.json").exists():
        received = "a run without one yet"
    elif (path / "saved_model.pb").exists():
        received = "a SavedModel"
        remedy = "Name the run that was exported; seqattn serve reads SavedModels"
    elif path.exists():
        received = "a path without translator.json"
    else:
        received = "which does not exist"
    raise four_part_error(
        "seqattn found no translator",
        "the folder of a run of seqattn train, one written by Translator.save, or the "
        f"name of a shipped model ({shipped_models.shipped_names()})",
        f"{str(path)!r}, {received}",
        remedy,
    )
