"""Every error says what, expected, received and remedy, and every one is tried."""

import ast
import re
import traceback
from pathlib import Path

import numpy as np
import pytest
from keras import tree

import keras_seqattn as ks
from keras_seqattn.layers.bi_encoder import BiEncoder
from keras_seqattn.layers.bridge import CopyBridge, DenseBridge
from tests.errors.calls import CALLS
from tests.errors.decoding import SEARCHES
from tests.errors.implementations import IMPLEMENTATIONS
from tests.errors.impossible import LAYERS
from tests.errors.shortlist import SHORTLISTS
from tests.errors.sizes import RATES, SIZES
from tests.errors.valid_arguments import UNITS, mask, ones

ROWS = CALLS + LAYERS + SEARCHES + SHORTLISTS + IMPLEMENTATIONS
NAMES, TEXTS = [row[0] for row in ROWS], [row[1:] for row in ROWS]
PACKAGE = Path(ks.__file__).parent
FOUR_PARTS = re.compile(
    r"\w+(\.\w+)? "  # who
    r".+[.] Expected .+[Rr]eceived .+[.] "
    # The remedy: what to do.
    r"(Add|Call|Check|Count|Drop|For|Give|If|Lower|Make|Move|Name|Pass|Put|Raise|Return"
    r"|See|Stack|Start|Tie|Use|Widen|Wrap|Write|An encoder's state is)\b.+[.]"
)


def raised(call):
    """The text of the error that `call` raises, and the site that raised it."""
    with pytest.raises((ValueError, NotImplementedError)) as caught:
        call()
    text = str(caught.value)
    inside_call = re.search("\x1b\\[1m(.*)\x1b\\[0m", text, re.DOTALL)  # Keras's frame
    frames = [
        (Path(frame.filename).relative_to(PACKAGE).as_posix(), frame.lineno)
        for frame in traceback.extract_tb(caught.value.__traceback__)
        if Path(frame.filename).is_relative_to(PACKAGE)
    ]
    return inside_call[1] if inside_call else text, frames[-1] if frames else None


def says(expected, text):
    pattern = re.escape(expected).replace(re.escape("..."), ".*")
    return re.fullmatch(pattern, text)


@pytest.mark.parametrize("call, expected", TEXTS, ids=NAMES)
def test_text(call, expected):
    text, _ = raised(call)
    assert says(expected, text), text
    assert FOUR_PARTS.fullmatch(text), text


@pytest.mark.parametrize("size", [0, -1, 2.0, True, "many"], ids=repr)
@pytest.mark.parametrize("owner, name, make", SIZES)
def test_size(owner, name, make, size):
    text, _ = raised(lambda: make(size))
    assert text == (
        f"{owner} got an unusable {name}. Expected a positive integer, received "
        f"{name}={size!r}. Pass a Python int, 1 or more."
    )
    assert FOUR_PARTS.fullmatch(text)


@pytest.mark.parametrize("rate", [-0.1, 1.0, 1.5])
@pytest.mark.parametrize("owner, make", RATES)
def test_rate(owner, make, rate):
    text, _ = raised(lambda: make(rate))
    assert text == (
        f"{owner} got an unusable dropout. Expected a rate in [0, 1), received "
        f"dropout={rate!r}. Use 0 to switch it off."
    )


def test_every_raise_is_tried():
    tried = {raised(call)[1] for _, call, _ in ROWS}
    tried |= {raised(lambda make=make: make(0))[1] for _, _, make in SIZES}
    tried |= {raised(lambda make=make: make(1.0))[1] for _, make in RATES}
    untried = [
        f"{file}:{first}"
        for file, first, last in raise_statements()
        if not any(file == f and first <= line <= last for f, line in tried - {None})
    ]
    assert not untried, f"no row in tests/errors reaches {untried}"


def raise_statements():
    """(file, first line, last line) of every `raise` that makes an error."""
    folders = ("decoding", "layers", "ops")
    paths = [p for name in folders for p in PACKAGE.glob(f"{name}/**/*.py")]
    paths += [PACKAGE / "models" / name for name in ("seq2seq.py", "summary.py")]
    for path in sorted(paths):  # of the other models: test_training.py
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and node.exc is not None:
                name = path.relative_to(PACKAGE).as_posix()
                yield name, node.lineno, node.end_lineno


# Nothing real is no error -------------------------------------------------------------


def nan_source():
    """Values that may not be looked at: row 0 has two real positions, row 1 none."""
    value, value_mask = np.full((2, 5, 6), np.nan, "float32"), mask(2, 5)
    value[0, :2], value_mask[0, 2:], value_mask[1] = 1.0, False, False
    return value, value_mask


@pytest.mark.parametrize(
    "attention",
    [
        ks.BahdanauAttention(UNITS),
        ks.LuongAttention("general"),
        ks.LuongAttention("location", maximum_source=4),
        ks.layers.LocalAttention(ks.LuongAttention("general"), window=2),
        ks.layers.MonotonicAttention(ks.BahdanauAttention(UNITS)),
        ks.layers.CoverageAttention(UNITS),
        ks.layers.LocationSensitiveAttention(UNITS, filters=2, kernel_size=3),
        ks.layers.MultiHeadAdditiveAttention(4, heads=2),
        ks.layers.OneLayerAttention(),
        ks.layers.ProjectedDotAttention(UNITS),
    ],
    ids=lambda attention: type(attention).__name__,
)
def test_zero_alignment_where_nothing_is_real(attention):
    value, value_mask = nan_source()
    context, alignment = attention(
        ones(2, 3, 4), value, value_mask=value_mask, return_attention_scores=True
    )
    assert not np.any(alignment[1]) and not np.any(context[1])
    assert np.all(np.isfinite(context)) and np.all(np.isfinite(alignment))


def test_zero_encoding_where_nothing_is_real():
    value, value_mask = nan_source()
    encoded = BiEncoder(UNITS, cell="lstm", layers=2)(value, mask=value_mask)
    assert not np.any(encoded.values[1]) and np.all(np.isfinite(encoded.values))
    for state in tree.flatten(encoded.state):
        assert not np.any(state[1]) and np.any(state[0])


def test_decoder_runs_where_nothing_is_real():
    value, value_mask = nan_source()
    inputs_mask = np.array([[True, True, False], [False, False, False]])
    encoded = BiEncoder(UNITS)(value, mask=value_mask)
    cell = ks.layers.LuongCell(2 * UNITS, ks.LuongAttention("general"))
    outputs, alignments, state = ks.AttentionDecoder(cell)(
        ones(2, 3, 4),
        encoded.values,
        initial_state=CopyBridge()(encoded),
        inputs_mask=inputs_mask,
        value_mask=encoded.mask,
        return_attention_scores=True,
        return_state=True,
    )
    assert np.all(np.isfinite(outputs)) and not np.any(outputs[1])
    assert not np.any(alignments[1]) and not np.any(alignments[0, 2])
    assert not any(np.any(s[1]) for s in tree.flatten(state))


def test_mean_bridge_where_nothing_is_real():
    value, value_mask = nan_source()
    encoded = BiEncoder(UNITS)(value, mask=value_mask)
    state = DenseBridge(4, inputs="mean", use_bias=False)(encoded)
    assert np.all(np.isfinite(state)) and not np.any(state[1])
