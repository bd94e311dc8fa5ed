"""Whole = stepwise, whatever the model; saved models are the same models."""

import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ksa
from keras_seqattn import zoo
from tests.zoo.rows import NAMES, ROWS
from tests.zoo.tasks import TOKENS, random_pairs

ROOT = Path(__file__).parents[2]
LONGEST, MAX_LENGTH = 5, 8
MODELS = {
    f"{name}-{variant}" if variant else name: (name, options)
    for name, row in ROWS.items()
    for variant, options in {"": {}, **row.variants}.items()
}
# One of each kind of what a hypothesis carries along: state, heads, stack, feeding.
CARRY = ("bahdanau2015", "chen2018", "gnmt2016", "luong2015")


def some(cases, chosen):
    """Those that are chosen run by default, the others with --all."""
    return [
        pytest.param(*case, id=name, marks=() if name in chosen else pytest.mark.slow)
        for name, case in cases.items()
    ]


pytestmark = pytest.mark.system


def lively(name, options=None):
    """Untrained, with weights large enough to write more than one word."""
    model = getattr(zoo, name)("small", **(options or {}))
    random = np.random.default_rng(11)
    for weight in model.trainable_weights:
        noise = random.normal(size=weight.shape)
        weight.assign_add(0.2 * noise if len(weight.shape) > 1 else 0.1 * noise)
    return model


def pairs(count=6):
    return random_pairs(np.random.default_rng(3), "copy", count, LONGEST)


def numpy(tensor):
    return keras.ops.convert_to_numpy(tensor)


@pytest.mark.parametrize(("name", "options"), some(MODELS, NAMES))
def test_greedy_is_the_argmax_of_its_own_output(name, options):
    model, source = lively(name, options), pairs().source
    decoded = ksa.decode(model, source, ksa.Greedy(), MAX_LENGTH)
    tokens, lengths = numpy(decoded.tokens)[:, 0], numpy(decoded.lengths)[:, 0]
    assert len(np.unique(tokens)) > 3  # not one word again and again

    start = np.full((len(tokens), 1), TOKENS.start)
    fed = np.concatenate([start, tokens[:, :-1]], axis=1)
    logits, alignments = model(
        {"source": source, "target": fed}, return_attention_scores=True
    )
    logits = numpy(logits).copy()
    logits[..., [TOKENS.pad, TOKENS.start]] = -np.inf
    written = np.arange(tokens.shape[1]) < lengths[:, None]
    np.testing.assert_array_equal(logits.argmax(-1)[written], tokens[written])

    received, expected = numpy(decoded.alignments)[:, 0], numpy(alignments)
    if expected.ndim == 4:  # heads
        written = np.repeat(written[:, None], expected.shape[1], axis=1)
    np.testing.assert_allclose(received[written], expected[written], atol=1e-5)


@pytest.mark.parametrize("name", some({name: [name] for name in NAMES}, CARRY))
def test_beam_search(name):
    model, source = lively(name), pairs().source
    search = ksa.BeamSearch(4, length_penalty=0.6, n_best=3)
    decoded = ksa.decode(model, source, search, MAX_LENGTH)
    ranking = numpy(decoded.ranking)
    assert np.all(np.diff(ranking, axis=1) <= 0)
    scored = ksa.decoding.score(model, source, decoded.tokens[:, 0])
    np.testing.assert_allclose(scored.scores, decoded.scores[:, 0], atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_under_xla(name):
    """Compiled once for each of the lengths that sentences are padded to."""
    model, source = lively(name), pairs().source
    search = ksa.BeamSearch(2, length_penalty=0.6)
    function = tf.function(
        lambda source: ksa.decode(model, source, search, MAX_LENGTH),
        jit_compile=True,
        autograph=False,
    )
    for bucket in (8, 12, 8):
        padded = np.pad(source, [(0, 0), (0, bucket - source.shape[1])])
        received = function(tf.constant(padded))
        expected = ksa.decode(model, padded, search, MAX_LENGTH)
        size = expected.tokens.shape[-1]
        np.testing.assert_array_equal(received.tokens[..., :size], expected.tokens)
        np.testing.assert_allclose(received.scores, expected.scores, atol=1e-4)
        looks = received.alignments[..., :size, :]
        np.testing.assert_allclose(looks, expected.alignments, atol=1e-5)
        assert not received.tokens.numpy()[..., size:].any()
    assert function.experimental_get_tracing_count() == 2


@pytest.mark.parametrize(("name", "options"), some(MODELS, MODELS))
def test_saved_and_loaded(name, options, tmp_path):
    model, batch = lively(name, options), pairs()
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert loaded.get_config() == model.get_config()
    assert [w.path for w in loaded.weights] == [w.path for w in model.weights]
    inputs = {"source": batch.source, "target": batch.inputs}
    for received, expected in zip(
        loaded(inputs, return_attention_scores=True),
        model(inputs, return_attention_scores=True),
        strict=True,
    ):
        np.testing.assert_array_equal(received, expected)


LOAD = """
import sys
from pathlib import Path

import keras
import keras_seqattn
import numpy as np

saved = np.load(Path(sys.argv[1]) / "saved.npz")
inputs = {"source": saved["source"], "target": saved["target"]}
for path in sorted(Path(sys.argv[1]).glob("*.keras")):
    model = keras.models.load_model(path)
    logits = np.asarray(model(inputs))
    if not np.array_equal(logits, saved[path.stem]):
        sys.exit(f"{path.stem}: {logits} in place of {saved[path.stem]}")
    print(path.stem)
    if path.stem == sys.argv[2]:
        greedy, length = keras_seqattn.Greedy(), int(sys.argv[3])
        decoded = keras_seqattn.decode(model, saved["source"], greedy, length)
        if not np.array_equal(decoded.tokens, saved["decoded"]):
            sys.exit(f"{path.stem}: {decoded.tokens} in place of {saved['decoded']}")
if "zoo" in sys.modules:
    sys.exit("who imported zoo?")
"""


def test_a_new_process_computes_the_same(tmp_path):
    """The logits of all of them bit by bit, and the tokens that one decodes."""
    batch, logits = pairs(), {}
    inputs = {"source": batch.source, "target": batch.inputs}
    for name in NAMES:
        model = lively(name)
        model.save(tmp_path / f"{name}.keras")
        logits[name] = numpy(model(inputs))
    decoded = ksa.decode(model, batch.source, ksa.Greedy(), MAX_LENGTH).tokens
    np.savez(tmp_path / "saved.npz", **inputs, decoded=decoded, **logits)
    result = subprocess.run(
        [sys.executable, "-c", LOAD, str(tmp_path), name, str(MAX_LENGTH)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == sorted(NAMES)
