"""The zoo of a checkout: the folder `zoo` beside this package.

A wheel has no such file: there the folder itself is `keras_seqattn/zoo`.
"""

import importlib.util
import sys
from pathlib import Path

_FOLDER = Path(__file__).parents[1] / "zoo"
_SPEC = importlib.util.spec_from_file_location(
    __name__, _FOLDER / "__init__.py", submodule_search_locations=[str(_FOLDER)]
)
sys.modules[__name__] = _package = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_package)
