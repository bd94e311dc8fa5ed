"""Finding a translator in a folder, and setting how it searches."""

from pathlib import Path

from keras_seqattn.cli.errors import user_error
from keras_seqattn.decoding.beam import BeamSearch
from keras_seqattn.decoding.greedy import Greedy
from keras_seqattn.export import shipped
from keras_seqattn.translator.translator import Translator


def search(width, length_penalty=1.0, n_best=1):
    """A beam; of width 1 the same as greedy."""
    if width == 1 == n_best:
        return Greedy()
    return BeamSearch(width, length_penalty=length_penalty, n_best=n_best)


def load(path, beam=None, n_best=1, length_penalty=None):
    """The translator of a run, or the one in the folder itself.

    What is None is as the translator has it; the beam is never narrower than `n_best`.
    """
    translator = Translator.load(folder_of(path))
    if beam is None and n_best == 1 and length_penalty is None:
        return translator
    own = translator.search
    own = own if isinstance(own, BeamSearch) else BeamSearch(1)
    beam = max(own.width, n_best) if beam is None else beam
    penalty = own.length_penalty if length_penalty is None else length_penalty
    return translator.with_search(search(beam, penalty, n_best))


def folder_of(path):
    """The folder with `translator.json`."""
    path = Path(shipped.named(path))
    for folder in (path, path / "translator"):
        if (folder / "translator.json").exists():
            return folder
    received = f"{str(path)!r}, a run without one yet"
    if not (path / "run.json").exists():
        received = f"{str(path)!r}, " + ("without" if path.exists() else "no folder")
    raise user_error(
        "seqattn found no translator",
        "the folder of a run of seqattn train, one written by Translator.save, or the "
        f"name of a shipped model ({shipped.names()})",
        received,
        "Check the path; a run has a translator after its first validation",
    )
