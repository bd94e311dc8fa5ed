"""Finding a translator in a folder, and setting how it searches."""

import dataclasses
from pathlib import Path

from keras_seqattn import shipped_models as shipped
from keras_seqattn.decoding.beam import BeamSearch
from keras_seqattn.decoding.greedy import Greedy
from keras_seqattn.decoding.search import Search
from keras_seqattn.errors import four_part_error
from keras_seqattn.translator.translator import Translator

_RULES = dataclasses.fields(Search)  # what a search may not choose, whichever it is


def search(width, length_penalty=1.0):
    """A beam; of width 1 the same as greedy."""
    if width == 1:
        return Greedy()
    return BeamSearch(width, length_penalty=length_penalty)


def load(path, beam=None, n_best=None, length_penalty=None):
    """The translator of a run, or the one in the folder itself.

    What is None is as the translator has it; the beam is never narrower than `n_best`.
    """
    translator = Translator.load(folder_of(path))
    own = translator.search
    if beam is None and length_penalty is None and n_best in (None, own.n_best):
        return translator
    return translator.with_search(_changed(own, beam, n_best, length_penalty))


def _changed(own, beam, n_best, length_penalty):
    """A search with all that its own one has and nobody has asked to be otherwise."""
    rules = {field.name: getattr(own, field.name) for field in _RULES}
    old = own if isinstance(own, BeamSearch) else BeamSearch(1, **rules)
    width = max(old.width, n_best or 1) if beam is None else beam
    n_best = min(old.n_best, width) if n_best is None else n_best
    if width == 1 and length_penalty is not None:
        raise four_part_error(
            "seqattn got a length penalty that nothing would use",
            "--length-penalty with a beam of 2 or more",
            f"--length-penalty {length_penalty} and "
            + (f"the translator's own {own}" if beam is None else f"--beam {beam}"),
            "Leave it out, or add e.g. --beam 5",
        )
    if width == 1 == n_best:
        return Greedy(**rules)
    penalty = old.length_penalty if length_penalty is None else length_penalty
    return dataclasses.replace(old, width=width, n_best=n_best, length_penalty=penalty)


def folder_of(path):
    """The folder with `translator.json`."""
    path = Path(shipped.resolve_path(path))
    for folder in (path, path / "translator"):
        if (folder / "translator.json").exists():
            return folder
    received = f"{str(path)!r}, a run without one yet"
    if not (path / "run.json").exists():
        received = f"{str(path)!r}, " + ("without" if path.exists() else "no folder")
    raise four_part_error(
        "seqattn found no translator",
        "the folder of a run of seqattn train, one written by Translator.save, or the "
        f"name of a shipped model ({shipped.shipped_names()})",
        received,
        "Check the path; a run has a translator after its first validation",
    )
