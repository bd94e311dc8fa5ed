"""What is written, where, and what stays there if it cannot be written."""

import contextlib
import functools
import json
import math
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2
from tensorflow_serving.apis import prediction_log_pb2

import keras_seqattn as ks
from keras_seqattn import manifest
from keras_seqattn.export import cudnn, signatures, warmup
from keras_seqattn.export.stored_weights import StoredWeights
from tests.raised import check_error
from tests.translator import tiny

NAMES = ["encode", "nbest", "score", "serving_default", "translate_with_attention"]
WARMUP = ["abba", "dé ja"]
FILES = ["fingerprint.pb", "saved_model.pb"]
FILES += ["variables/variables.data-00000-of-00001", "variables/variables.index"]
DATA, REQUESTS = FILES[2], "assets.extra/tf_serving_warmup_requests"
OWN = {"metrics": {"test": {"bleu": 0.5}}, "licence": "CC0-1.0"}
OWN["model"] = {"function": "zoo.bahdanau2015", "arguments": {"preset": "small"}}


@functools.cache
def greedy():
    return tiny.translator(*tiny.texts(), search=ks.Greedy())


@contextlib.contextmanager
def gpu():
    """Keras sees a GPU, as where models are trained."""
    found = tf.config.list_logical_devices
    one = tf.config.LogicalDevice("/device:GPU:0", "GPU")

    def devices(device_type=None):
        return [one] if device_type == "GPU" else found(device_type)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(tf.config, "list_logical_devices", devices)
        yield


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """In the place of something older, beside other versions."""
    path = tmp_path_factory.mktemp("saved") / "greedy"
    older = ["saved_model.pb", "variables/old", "assets.extra/old", "manifest.json"]
    for file in (path / "3" / name for name in older):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("old")
    (path / "2").mkdir()
    with gpu():
        greedy().export(path, version=3, manifest=OWN, warmup=WARMUP)
    return path / "3"


def test_nothing_is_left_of_an_older_one_and_all_variables_are_there(saved):
    paths = (path for path in saved.rglob("*") if path.is_file())
    found = sorted(path.relative_to(saved).as_posix() for path in paths)
    assert found == sorted([*FILES, REQUESTS, "manifest.json"])
    assert sorted(p.name for p in saved.parent.iterdir()) == ["2", "3"]
    # Each once, however many signatures share them; none of an optimizer.
    files = tf.train.load_checkpoint(f"{saved}/variables/variables")
    names = [n for n in files.get_variable_to_shape_map() if "OBJECT_GRAPH" not in n]
    written = sorted(files.get_tensor(n).tobytes() for n in names if "save_c" not in n)
    model = greedy().model
    assert written == sorted(v.numpy().tobytes() for v in model.variables)
    size = (saved / DATA).stat().st_size
    assert size < sum(map(len, written)) + 20_000


def test_signatures(saved):
    definitions = meta_graph(saved).signature_def
    listed = {n: d for n, d in definitions.items() if not n.startswith("__")}
    assert sorted(listed) == NAMES
    for name, definition in listed.items():
        inputs = {"source", "target"} if name == "score" else {"text"}
        assert set(definition.inputs) == inputs
        for info in [*definition.inputs.values(), *definition.outputs.values()]:
            assert info.tensor_shape.dim[0].size == -1
            assert info.WhichOneof("encoding") == "name"  # dense
        for info in definition.inputs.values():
            assert (info.dtype, len(info.tensor_shape.dim)) == (tf.string, 1)
        assert not any(output.endswith("_bytes") for output in definition.outputs)


def meta_graph(folder):
    model = saved_model_pb2.SavedModel()
    model.ParseFromString((folder / "saved_model.pb").read_bytes())
    return model.meta_graphs[0]


def test_no_kernels_of_a_gpu(saved):
    """Where Keras takes cuDNN's, as it does as soon as the export is over."""
    model = greedy().model
    layers = [layer for layer in model._flatten_layers() if hasattr(layer, "use_cudnn")]
    assert {layer.use_cudnn for layer in layers} == {"auto"}
    with gpu():
        named = signatures.signatures(greedy().pipeline, StoredWeights(model))
        score = named["score"].get_concrete_function()
    assert "CudnnRNNV3" in cudnn.operations(score)
    check_error(
        lambda: cudnn.check_no_cudnn({"score": score}),
        "export got a model that needs a GPU. Expected a graph without cuDNN, received "
        "CudnnRNNV3 in the signature score. Pass use_cudnn=False to the recurrent "
        "layers that Keras does not track as layers of the model.",
    )
    graph = meta_graph(saved).graph_def
    nodes = [*graph.node, *(n for f in graph.library.function for n in f.node_def)]
    assert {"While", "StatelessWhile"} & {node.op for node in nodes}
    assert not [node.op for node in nodes if "Cudnn" in node.op]
    assert not [n.device for n in nodes if "GPU" in n.device]


def test_layers_are_as_they_were_when_tracing_fails():
    model = greedy().model
    with pytest.raises(KeyboardInterrupt), cudnn.without_cudnn(model):
        used = [getattr(x, "use_cudnn", False) for x in model._flatten_layers()]
        assert not any(used)
        raise KeyboardInterrupt
    assert "auto" in [getattr(x, "use_cudnn", None) for x in model._flatten_layers()]


def test_requests_to_warm_up_with(saved):
    definitions = meta_graph(saved).signature_def
    path = f"{saved}/{REQUESTS}"
    asked = {}
    for record in tf.data.TFRecordDataset(path).as_numpy_iterator():
        log = prediction_log_pb2.PredictionLog.FromString(record)
        request = log.predict_log.request
        name = request.model_spec.signature_name
        assert set(request.inputs) == set(definitions[name].inputs)
        inputs = {key: tf.make_ndarray(x) for key, x in request.inputs.items()}
        asked[name] = {key: [x.decode() for x in v] for key, v in inputs.items()}
    assert sorted(asked) == NAMES
    score = asked.pop("score")
    assert (score["source"], len(score["target"])) == (WARMUP, len(WARMUP))
    assert all(inputs == {"text": WARMUP} for inputs in asked.values())


LONG = {"text": ["", "été \0", "x" * 300, "y" * 70_000]}
TWO = {"source": ["a", "b"], "target": ["c", "d"]}


@pytest.mark.parametrize("inputs", [{"text": ["a b"]}, LONG, TWO])
def test_requests_are_messages_of_tensorflow_serving(inputs):
    official = prediction_log_pb2.PredictionLog()
    request = official.predict_log.request
    request.model_spec.signature_name = "nbest"
    for name, texts in inputs.items():
        request.inputs[name].CopyFrom(tf.make_tensor_proto(texts))
    written = warmup.prediction_log("nbest", inputs)
    assert prediction_log_pb2.PredictionLog.FromString(written) == official
    if len(inputs) == 1:  # entries of a map may be in any order
        assert written == official.SerializeToString(deterministic=True)


def test_default_warm_up_has_frequent_words():
    text = ks.text.Words.learn(["un un deux", "deux un été"])
    spec = tf.TensorSpec([None], tf.string, name="source")
    function = tf.function(lambda source: source, input_signature=[spec])
    functions = {"encode": function.get_concrete_function()}
    requests = warmup.requests_for(functions, tiny.translator(text, text).pipeline)
    assert requests == {"encode": {"source": ["un deux été"]}}


def test_manifest(saved, tmp_path):
    content = manifest.verify(saved)
    assert content == json.loads((saved / "manifest.json").read_text())
    source, target = tiny.texts()
    source.save(tmp_path)
    parameters = greedy().model.count_params()
    expected = {
        **{**OWN, "format": 1, "created_with": manifest.versions()},
        "model": {**OWN["model"], "class": "Seq2Seq", "parameters": parameters},
        "source_text": {
            **{"class": "Characters", "normalization": "nfkc", "lowercase": True},
            "vocabulary_size": source.vocabulary_size,
            "sha256": manifest._checksum(tmp_path / "vocabulary.txt"),
        },
        **{"max_length": 7, "max_source": 1000, "weights": "float32"},
    }
    assert {name: content[name] for name in expected} == expected
    assert content["created_with"]["keras_seqattn"] == ks.__version__
    assert content["target_text"]["vocabulary_size"] == target.vocabulary_size
    assert content["target_text"]["sha256"] != content["source_text"]["sha256"]
    assert content["search"]["class"] == "Greedy"
    assert sorted(content["signatures"]) == NAMES
    inputs = content["signatures"]["score"]["inputs"]
    assert inputs == dict.fromkeys(["source", "target"], ["string", [None]])
    alignments = content["signatures"]["translate_with_attention"]["outputs"]
    assert alignments["alignments"] == ["float32", [None, 1, None, None]]
    assert sorted(content["files"]) == sorted([*FILES, REQUESTS])


def test_an_error_leaves_the_old_one(saved, monkeypatch):
    before = (saved / "saved_model.pb").read_bytes()
    with monkeypatch.context() as patched, pytest.raises(OSError):
        full = mock.Mock(side_effect=OSError("no space left"))
        patched.setattr("keras_seqattn.export.saved_model.signatures", full)
        greedy().export(saved)
    assert (saved / "saved_model.pb").read_bytes() == before
    assert sorted(p.name for p in saved.parent.iterdir()) == ["2", "3"]


@pytest.mark.parametrize("name", ["notes.txt", "saved_model.pb/notes.txt"])
def test_a_path_that_holds_something_else(tmp_path, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    (tmp_path / "more.txt").write_text("mine")
    check_error(
        lambda: greedy().export(tmp_path),
        "export got a path that holds something else",
        f"nothing but an older SavedModel, received {str(tmp_path)!r}",
    )
    assert (tmp_path / name).read_text() == "mine"


RESERVED = (
    "a manifest with reserved names. Expected new names, 'metrics', and a 'model' with "
    "function and arguments, received "
)
UNUSABLE = [
    ([1], "an unusable manifest", "received manifest=[1]. Pass e.g. manifest={"),
    ({"model": "x"}, "an unusable manifest", "whose 'model' is a dict, too, received"),
    ({"a": 1, "files": {}, "format": 2}, RESERVED, "files, format"),
    ({"model": {"class": "X"}}, RESERVED, "model/class"),
    ({"x": np.float32(1)}, "a manifest that JSON cannot", "of type float32 is not"),
    ({"metrics": {"x": math.nan}}, "a manifest that JSON cannot", "Out of range float"),
]
OTHERS = [("weights", "int4", "an unknown value of weights", "float32, int8")]
OTHERS += [
    ("version", version, "an unusable version", f"={version!r}")
    for version in (0, -1, "3", True, 1.0)
]


@pytest.mark.parametrize(
    "name, value, what, part", [*(("manifest", *row) for row in UNUSABLE), *OTHERS]
)
def test_unusable_options(tmp_path, name, value, what, part):
    call = functools.partial(greedy().export, tmp_path / "x", **{name: value})
    check_error(call, f"export got {what}", part)
    assert not list(tmp_path.iterdir())


def scores_of(folder):
    pairs = {"source": tiny.SOURCES, "target": tiny.TARGETS}
    pairs = {name: tf.constant(texts) for name, texts in pairs.items()}
    return tf.saved_model.load(folder).signatures["score"](**pairs)["score"]


@pytest.mark.slow
@pytest.mark.parametrize(("weights", "bound"), [("bfloat16", 0.05), ("int8", 0.3)])
def test_smaller_weights(saved, tmp_path, weights, bound):
    greedy().export(tmp_path / "small", weights=weights)
    sizes = [(path / DATA).stat().st_size for path in (tmp_path / "small", saved)]
    assert sizes[0] < 0.8 * sizes[1]
    assert manifest.verify(tmp_path / "small")["weights"] == weights
    assert sorted(tf.saved_model.load(tmp_path / "small").signatures) == NAMES
    small, large = (scores_of(path) for path in (tmp_path / "small", saved))
    error = np.abs(small - large).max()
    assert 0 < error < bound


@pytest.mark.slow
def test_unknown_words_are_replaced(tmp_path):
    """The table is in the SavedModel; what was typed comes back as UTF-8."""
    words, table = ks.text.Words.learn(["un été est"]), {"zz": "Sommer"}
    options = {"search": ks.Greedy(), "max_length": 5}
    translator = tiny.translator(words, words, unknown=table, **options)
    translator.export(tmp_path / "words")
    loaded = tf.saved_model.load(tmp_path / "words")
    texts = [b"zz", b"ab\xff\xfe", b"\xff zz", b"un"]
    found = loaded.signatures["serving_default"](tf.constant(texts))["text"].numpy()
    assert found.tolist() == translator.pipeline(texts).texts[:, 0].numpy().tolist()
    spelled = " ".join(text.decode() for text in found)
    assert "Sommer" in spelled and "ab\ufffd\ufffd" in spelled


class OnlySearched:
    """A user's `StepModel`, which cannot be called on whole sentences."""

    def __init__(self, model):
        self.variables = model.variables
        self.start, self.step = model.start, model.step


def test_an_ensemble_scores_if_all_its_models_do():
    model = greedy().model
    searched = OnlySearched(model)
    for models, scores in [([model] * 2, True), ([model, searched], False)]:
        ensemble = ks.decoding.Ensemble(models)
        translator = ks.Translator(ensemble, *tiny.texts(), ks.Greedy(), max_length=4)
        stored = StoredWeights(ensemble, "float32")
        found = signatures.signatures(translator.pipeline, stored)
        assert ("score" in found) == scores


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ensemble", "only searched"])
def test_other_models(tmp_path, kind):
    models = [tiny.letters().model, tiny.model(*tiny.texts(), seed=2)]
    is_ensemble = kind == "ensemble"
    model = ks.decoding.Ensemble(models) if is_ensemble else OnlySearched(models[0])
    translator = ks.Translator(model, *tiny.texts(), ks.Greedy(), max_length=4)
    translator.export(tmp_path / "x")
    loaded, expected = tf.saved_model.load(tmp_path / "x"), translator(tiny.SOURCES)
    found = loaded.signatures["serving_default"](tf.constant(tiny.SOURCES))
    assert [text.decode() for text in found["text"].numpy()] == expected.texts
    assert np.allclose(found["score"], expected.scores, rtol=1e-4)
    assert ("score" in loaded.signatures) == is_ensemble
    if is_ensemble:
        scores = translator.score(tiny.PAIRS)
        assert np.allclose(scores_of(tmp_path / "x"), scores, rtol=1e-4)
        about = json.loads((tmp_path / "x/manifest.json").read_text())["model"]
        assert about["parameters"] == sum(m.count_params() for m in models)


@pytest.mark.slow
def test_samples_are_drawn_anew(tmp_path):
    search = ks.decoding.Sample(temperature=3.0, n_best=5)
    tiny.letters().with_search(search).export(tmp_path / "sample")
    served = tf.saved_model.load(tmp_path / "sample")
    call = served.signatures["translate_with_attention"]
    drawn = {str(call(tf.constant(["abba"]))["texts"].numpy()) for _ in range(3)}
    assert len(drawn) > 1
