"""Every error says what, expected, received and remedy, and every one is tried."""

import functools
from pathlib import Path

import pytest

import keras_seqattn as ks
from tests import raised
from tests.errors.calls import CALLS
from tests.errors.decoding import SEARCHES
from tests.errors.layers import LAYERS
from tests.errors.metrics import METRICS, SEVERAL
from tests.errors.models import MODELS
from tests.errors.pretrained import PRETRAINED
from tests.errors.sizes import RATES, SIZES
from tests.errors.training import TRAINING

TABLES = [
    *CALLS,
    *LAYERS,
    *SEARCHES,
    *TRAINING,
    *METRICS,
    *MODELS,
    PRETRAINED,
]  # text -> call
ROWS = raised.rows(*TABLES)
ROWS += [raised.row(call, text) for text, calls in SEVERAL.items() for call in calls]
PACKAGE = Path(ks.__file__).parent
FOLDERS = "decoding layers ops losses metrics callbacks optimizers models".split()
raised_once = functools.cache(raised.raised)
IDS = [row.what.partition(". ")[0] for row in ROWS]


@pytest.mark.parametrize("call, what, parts", ROWS, ids=IDS)
def test_message(call, what, parts):
    raised.check_message(raised_once(call).message, what, *parts)


def arguments(table):
    return [(kind, x, name) for kind, x, names in table for name in names.split()]


@pytest.mark.product
@pytest.mark.parametrize("size", [0, -1, 2.0, True, "many"], ids=repr)
@pytest.mark.parametrize("kind, valid, name", arguments(SIZES))
def test_size(kind, valid, name, size):
    message = raised.raised(lambda: kind(**{**valid, name: size})).message
    assert message == (
        f"{kind.__name__} got an unusable {name}. Expected a positive integer, "
        f"received {name}={size!r}. Pass a Python int, 1 or more."
    )


@pytest.mark.product
@pytest.mark.parametrize("rate", [-0.1, 1.0, 1.5, "0.1"])
@pytest.mark.parametrize("kind, valid, name", arguments(RATES))
def test_rate(kind, valid, name, rate):
    message = raised.raised(lambda: kind(**{**valid, name: rate})).message
    assert message == (
        f"{kind.__name__} got an unusable {name}. Expected a rate in [0, 1), received "
        f"{name}={rate!r}. Use 0 to switch it off."
    )


def test_every_raise_is_tried():
    paths = [path for name in FOLDERS for path in PACKAGE.glob(f"{name}/**/*.py")]
    # tests/tensorboard/test_messages.py tries those of attention_*.py
    paths = [path for path in paths if not path.name.startswith("attention_checks")]
    calls = [row.call for row in ROWS]
    assert not raised.untried([PACKAGE / "checks.py", *paths], calls, raised_once)
