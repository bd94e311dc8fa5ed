"""What every zoo function says of itself: docstring, presets, sizes, optimizer."""

import gc
import inspect
import re
from pathlib import Path

import keras
import numpy as np
import pytest

import keras_seqattn as ksa
from keras_seqattn import zoo
from keras_seqattn.zoo import parameters
from tests.contract import docstrings
from tests.raised import check_error
from tests.zoo.rows import NAMES, ROWS

README = Path(zoo.__file__).with_name("README.md")
SECTIONS = ["Args", "Returns", "Differences from the paper", "References"]
SIZES = [(name, size) for name, row in ROWS.items() for size in row.sizes]
IDS = [f"{name}-{'-'.join(map(str, s.options.values()))}" for name, s in SIZES]


def function(name):
    return getattr(zoo, name)


def test_every_function_has_a_row_and_an_optimizer():
    differ = sorted(set(NAMES) ^ set(ROWS))
    assert not differ, f"the zoo and ROWS of tests/zoo/rows.py differ in {differ}"
    wanted = [name + end for name in NAMES for end in ("", "_optimizer")]
    assert sorted(zoo.__all__) == sorted(wanted)
    assert all(inspect.isfunction(function(name)) for name in zoo.__all__)


@pytest.mark.parametrize("name", ROWS)
def test_docstring_and_presets_with_numbers_only(name):
    build = function(name)
    assert list(docstrings.sections(build)) == SECTIONS
    arguments = list(inspect.signature(build).parameters)
    assert docstrings.described(build) == arguments
    assert function(f"{name}_optimizer").__doc__
    build = function(name)
    arguments = inspect.signature(build).parameters
    given = {size.preset for size in ROWS[name].sizes}
    assert "small" in build.presets
    assert set(build.presets) - {"small"} <= given
    for numbers in build.presets.values():
        assert set(numbers) <= set(arguments)
        assert all(isinstance(n, (int, float, str)) for n in numbers.values())


@pytest.mark.parametrize(("name", "size"), SIZES, ids=IDS)
def test_parameters(name, size):
    """All weights have their shapes, and nothing takes memory."""
    with keras.StatelessScope(initialize_variables=False):
        model = function(name)(size.preset, **size.options)
    print(f"{name} {size.preset} {size.options}: {model.count_params():,} parameters")
    assert model.count_params() == size.parameters
    if size.stated is not None:
        assert size.parameters == pytest.approx(size.stated, rel=0.015)


@pytest.mark.slow
@pytest.mark.parametrize("name", ROWS)
def test_full_size_works(name):
    """Real weights at the size of the paper, one model at a time; one step."""
    size = ROWS[name].sizes[0]
    model = function(name)(size.preset)
    started = model.start(np.array([[5, 6, 7], [8, 0, 0]]))
    step = model.step(np.array([1, 1]), started.state, started.memory)
    assert model.count_params() == size.parameters
    assert np.all(np.isfinite(step.output))
    del model, started, step
    keras.utils.clear_session()
    gc.collect()


@pytest.mark.parametrize("name", ROWS)
def test_optimizer(name):
    build, row = function(f"{name}_optimizer"), ROWS[name].optimizer
    needed = inspect.signature(build).parameters
    optimizer = build(**{"steps_per_epoch": 100} if "steps_per_epoch" in needed else {})
    assert type(optimizer).__name__ == row.name
    assert optimizer.global_clipnorm == row.clip
    rate = optimizer.get_config()["learning_rate"]
    if isinstance(rate, dict):
        rate = keras.optimizers.schedules.deserialize(rate)
    for step, expected in row.rates.items():
        received = float(rate(step) if callable(rate) else rate)
        assert received == pytest.approx(expected, rel=1e-6), step


def test_numbers_replace_those_of_a_preset_or_are_all_given():
    model = zoo.wang_simple("small", units=5, target_vocabulary=7)
    assert model.encoder.units == 5
    assert model.head.vocabulary_size == 7
    numbers = zoo.luong2015.presets["small"]
    assert zoo.luong2015(**numbers).get_config() is not None


ERRORS = {
    "wang_simple got a text processor as its source_vocabulary. Expected the size of a "
    "vocabulary, received Words. Pass its attribute vocabulary_size, "
    "which is 5": lambda: zoo.wang_simple(
        "small", source_vocabulary=ksa.text.Words.learn(["a"])
    ),
    "wang_simple got an unusable target_vocabulary. Expected a positive integer": (
        lambda: zoo.wang_simple("small", target_vocabulary="8000")
    ),
    "gnmt2016 got an unknown preset. Expected one of four_layers, paper, small, "
    "received 'Paper'. Use 'paper', the nearest.": lambda: zoo.gnmt2016("Paper"),
    "wang_simple got an unknown argument. Expected one of align, embedding, "
    "source_vocabulary, target_vocabulary, units, received 'vocab'. Use "
    "'source_vocabulary', the nearest.": lambda: zoo.wang_simple("small", vocab=100),
    "wang_simple got no embedding, units. Expected the name of a preset ('small'), or "
    "all of source_vocabulary, target_vocabulary, embedding, units, received "
    "preset=None and source_vocabulary, target_vocabulary. Write e.g. "
    'wang_simple("small", target_vocabulary=8000).': (
        lambda: zoo.wang_simple(source_vocabulary=9, target_vocabulary=9)
    ),
    "wang_simple got arguments without names. Expected the name of a preset ('small'), "
    "and then arguments by name, received 9, 8. Write": lambda: zoo.wang_simple(9, 8),
    "wang_simple got an unknown preset. Expected one of small, received": (
        lambda: zoo.wang_simple("paper")
    ),
    "wang_simple got an unknown align. Expected one of additive, one_layer, "
    "projected": lambda: zoo.wang_simple("small", align="dot"),
    "luong2015 got an unknown window. Expected one of global, local-m, local-p": (
        lambda: zoo.luong2015("small", window="local")
    ),
    "gnmt2016_optimizer got an unknown phase. Expected one of adam, sgd": (
        lambda: zoo.gnmt2016_optimizer("adagrad")
    ),
}


@pytest.mark.parametrize("text", ERRORS)
def test_messages(text):
    check_error(ERRORS[text], text)


def test_luong_options_reach_the_layers():
    cell = zoo.luong2015("small", window="local-p", reach=2, dropout=0.2).decoder.cell
    assert isinstance(cell.attention, ksa.layers.LocalAttention)
    assert (cell.attention.window, cell.attention.position) == (2, "predictive")
    assert (cell.dropout, cell.recurrent_dropout) == (0.2, 0.0)
    assert cell.use_input_feeding


BOUNDS = {"sutskever2014": 0.08, "luong2015": 0.1, "gnmt2016": 0.04, "chen2018": 0.04}


@pytest.mark.parametrize(("name", "bound"), BOUNDS.items())
def test_uniform_start(name, bound):
    """Every matrix fills its interval; no two of a size are the same numbers."""
    model = function(name)("small", bound=bound)
    weights = [np.asarray(w) for w in model.trainable_weights if len(w.shape) > 1]
    for weight in weights:
        assert 0.9 * bound < np.abs(weight).max() <= bound, weight.shape
    firsts = [weight.flat[0] for weight in weights]
    assert len(set(firsts)) == len(firsts)


def table():
    """`{function: (numbers at paper size, number of "small")}`."""
    rows = {}
    models = README.read_text("utf-8").split("## Models")[1].split("\n## ")[0]
    for line in models.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        name = re.fullmatch(r"`(\w+)`", cells[1]) if len(cells) > 5 else None
        if name:
            rows[name[1]] = set(re.findall(r"\d[\d,]{3,}\d", cells[3])), cells[5]
    return rows


def printed(capsys):
    """The same, of what the command prints."""
    counts = {}
    parameters.main()
    for line in capsys.readouterr().out.splitlines():
        name, preset, count = line.split()
        counts.setdefault(name, {})[preset] = count
    return {
        name: (set(sizes.values()) - {sizes["small"]}, sizes["small"])
        for name, sizes in counts.items()
    }


def test_the_table_is_what_is_printed(capsys):
    assert table() == printed(capsys)
    assert sorted(table()) == sorted(NAMES)
