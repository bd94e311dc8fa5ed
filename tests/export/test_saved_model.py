"""What is written, where, and what stays there if it cannot be written."""

import contextlib
import functools
import json
import shutil

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2
from tensorflow_serving.apis import prediction_log_pb2

import keras_seqattn as ks
from keras_seqattn import manifest
from keras_seqattn.export import cudnn, signatures, warmup
from keras_seqattn.export.stored_weights import StoredWeights
from tests.translator import tiny

NAMES = ["encode", "nbest", "score", "serving_default", "translate_with_attention"]
WARMUP = ["abba", "dé ja"]
OWN = {
    "model": {"function": "zoo.bahdanau2015", "arguments": {"preset": "small"}},
    "metrics": {"test": {"bleu": 0.5}},
    "licence": "CC0-1.0",
}


@functools.cache
def greedy():
    """Untrained, and the smallest graph there is."""
    return tiny.translator(*tiny.texts(), search=ks.Greedy())


@contextlib.contextmanager
def gpu():
    """Keras sees a GPU, as where models are trained."""
    found = tf.config.list_logical_devices

    def devices(device_type=None):
        if device_type == "GPU":
            return [tf.config.LogicalDevice("/device:GPU:0", "GPU")]
        return found(device_type)

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


# What is there ----------------------------------------------------------------------


def test_nothing_is_left_of_an_older_one(saved):
    assert sorted(p.relative_to(saved).as_posix() for p in saved.rglob("*.*")) == [
        "assets.extra",
        "fingerprint.pb",
        "manifest.json",
        "saved_model.pb",
        "variables/variables.data-00000-of-00001",
        "variables/variables.index",
    ]
    assert [p.name for p in saved.glob("assets.extra/*")] == [
        "tf_serving_warmup_requests"
    ]


def test_other_versions_are_left_alone(saved):
    assert sorted(p.name for p in saved.parent.iterdir()) == ["2", "3"]


def test_all_variables_are_there(saved):
    """Each once, however many signatures share them; none of an optimizer."""
    files = tf.train.load_checkpoint(f"{saved}/variables/variables")
    names = [n for n in files.get_variable_to_shape_map() if "OBJECT_GRAPH" not in n]
    written = sorted(files.get_tensor(n).tobytes() for n in names if "save_c" not in n)
    model = greedy().model
    assert written == sorted(v.numpy().tobytes() for v in model.variables)
    size = (saved / "variables/variables.data-00000-of-00001").stat().st_size
    assert size < sum(map(len, written)) + 20_000


def test_signatures(saved):
    """That they work: test_new_process.py."""
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
    assert set(listed["serving_default"].outputs) == {"text", "score"}
    assert set(listed["nbest"].outputs) == {"texts", "scores", "ranking", "lengths"}


def meta_graph(folder):
    model = saved_model_pb2.SavedModel()
    model.ParseFromString((folder / "saved_model.pb").read_bytes())
    return model.meta_graphs[0]


# On any machine -----------------------------------------------------------------------


def test_no_kernels_of_a_gpu(saved):
    """Where Keras takes cuDNN's, as it does as soon as the export is over."""
    model = greedy().model
    layers = [layer for layer in model._flatten_layers() if hasattr(layer, "use_cudnn")]
    assert {layer.use_cudnn for layer in layers} == {"auto"}
    with gpu():
        named = signatures.signatures(greedy().pipeline, StoredWeights(model))
        score = named["score"].get_concrete_function()
    assert "CudnnRNNV3" in cudnn.operations(score)
    with pytest.raises(ValueError) as caught:
        cudnn.check_no_cudnn({"score": score})
    assert str(caught.value) == (
        "export got a model that needs a GPU. Expected a graph without cuDNN, received "
        "CudnnRNNV3 in the signature score. Pass use_cudnn=False to the recurrent "
        "layers that Keras does not track as layers of the model."
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
    """One for each signature, with the inputs that it has."""
    definitions = meta_graph(saved).signature_def
    path = f"{saved}/assets.extra/tf_serving_warmup_requests"
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


def test_default_warm_up_has_frequent_words():
    text = ks.text.Words.learn(["un un deux", "deux un été"])
    spec = tf.TensorSpec([None], tf.string, name="source")
    function = tf.function(lambda source: source, input_signature=[spec])
    functions = {"encode": function.get_concrete_function()}
    requests = warmup.requests_for(functions, tiny.translator(text, text).pipeline)
    assert requests == {"encode": {"source": ["un deux été"]}}


# The manifest -------------------------------------------------------------------------


def test_manifest(saved):
    content = manifest.verify(saved)
    assert content == json.loads((saved / "manifest.json").read_text())
    source, target = tiny.texts()
    assert content["format"] == 1
    assert content["created_with"] == manifest.versions()
    assert content["created_with"]["keras_seqattn"] == ks.__version__
    assert content["model"] == {
        **OWN["model"],
        "class": "Seq2Seq",
        "parameters": greedy().model.count_params(),
    }
    assert content["source_text"] == {
        "class": "Characters",
        "normalization": "nfkc",
        "lowercase": True,
        "vocabulary_size": source.vocabulary_size,
        "sha256": content["source_text"]["sha256"],
    }
    assert content["target_text"]["vocabulary_size"] == target.vocabulary_size
    assert content["target_text"]["sha256"] != content["source_text"]["sha256"]
    assert content["search"]["class"] == "Greedy"
    assert (content["max_length"], content["max_source"]) == (7, 1000)
    assert content["weights"] == "float32"
    assert (content["metrics"], content["licence"]) == (OWN["metrics"], "CC0-1.0")
    assert sorted(content["signatures"]) == NAMES
    assert content["signatures"]["score"]["inputs"] == {
        "source": ["string", [None]],
        "target": ["string", [None]],
    }
    alignments = content["signatures"]["translate_with_attention"]["outputs"]
    assert alignments["alignments"] == ["float32", [None, 1, None, None]]
    assert sorted(content["files"]) == [
        "assets.extra/tf_serving_warmup_requests",
        "fingerprint.pb",
        "saved_model.pb",
        "variables/variables.data-00000-of-00001",
        "variables/variables.index",
    ]


@pytest.mark.parametrize(
    "name", ["saved_model.pb", "variables/variables.data-00000-of-00001"]
)
def test_a_truncated_folder_is_refused(saved, tmp_path, name):
    """Before TensorFlow reads it, which may see it late, or not at all."""
    copy = shutil.copytree(saved, tmp_path / "copy")
    (copy / name).write_bytes((saved / name).read_bytes()[:-1])
    expected = manifest._checksum(saved / name)
    with pytest.raises(ValueError) as caught:
        manifest.verify(copy)
    assert str(caught.value).startswith(
        f"verify got a damaged folder. Expected {name} with sha256 {expected}, as its "
        f"manifest.json says, received another content in "
    )


def test_the_vocabulary_of_the_manifest_is_the_one_that_save_writes(saved, tmp_path):
    tiny.texts()[0].save(tmp_path)
    source = json.loads((saved / "manifest.json").read_text())["source_text"]
    assert manifest._checksum(tmp_path / "vocabulary.txt") == source["sha256"]


UNUSABLE = (
    "export got an unusable manifest. Expected a dict, whose 'model' is a dict, too, "
    'received manifest={}. Pass e.g. manifest={{"model": {{"function": '
    '"zoo.bahdanau2015"}}, "licence": "CC-BY-4.0"}}.'
)
TAKEN = (
    "export got a manifest with reserved names. Expected new names, 'metrics', and a "
    "'model' with function and arguments, received {}. Leave them out: export writes "
    "them itself."
)
NO_JSON = (
    "export got a manifest that JSON cannot hold. Expected strings, finite numbers, "
    "lists and dicts of them, received {}. Convert other values."
)


@pytest.mark.parametrize(
    ("own", "says"),
    [
        ([1], UNUSABLE.format("[1]")),
        ({"model": "x"}, UNUSABLE.format("{'model': 'x'}")),
        ({"a": 1, "files": {}, "format": 2}, TAKEN.format("files, format")),
        ({"model": {"class": "X"}}, TAKEN.format("model/class")),
        (
            {"x": np.float32(1)},
            NO_JSON.format("Object of type float32 is not JSON serializable"),
        ),
        (
            {"metrics": {"bleu": float("nan")}},
            NO_JSON.format("Out of range float values are not JSON compliant"),
        ),
    ],
    ids=["list", "model", "taken", "class", "no JSON", "NaN"],
)
def test_a_manifest_that_is_none(tmp_path, own, says):
    with pytest.raises(ValueError) as caught:
        greedy().export(tmp_path / "x", manifest=own)
    assert str(caught.value).replace(": nan", "") == says  # newer Pythons name it
    assert not list(tmp_path.iterdir())


# What goes wrong ----------------------------------------------------------------------


def test_what_goes_wrong_leaves_the_old_one(saved, monkeypatch):
    def fail(*_, **__):
        raise OSError("no space left")

    before = (saved / "saved_model.pb").read_bytes()
    with monkeypatch.context() as patched, pytest.raises(OSError):
        patched.setattr("keras_seqattn.export.saved_model.signatures", fail)
        greedy().export(saved)
    assert (saved / "saved_model.pb").read_bytes() == before
    assert sorted(p.name for p in saved.parent.iterdir()) == ["2", "3"]


@pytest.mark.parametrize("name", ["notes.txt", "saved_model.pb/notes.txt"])
def test_a_path_that_holds_something_else(tmp_path, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    (tmp_path / "more.txt").write_text("mine")
    with pytest.raises(ValueError) as caught:
        greedy().export(tmp_path)
    assert str(caught.value) == (
        "export got a path that holds something else. Expected a free one, an empty "
        f"folder, or nothing but an older SavedModel, received {str(tmp_path)!r}. "
        "Choose another."
    )
    assert (tmp_path / name).read_text() == "mine"


@pytest.mark.parametrize("version", [0, -1, "3", True, 1.0])
def test_a_version_that_is_no_number(tmp_path, version):
    with pytest.raises(ValueError) as caught:
        greedy().export(tmp_path, version=version)
    assert str(caught.value) == (
        "export got an unusable version. Expected a positive integer, received "
        f"version={version!r}. Pass a Python int, 1 or more."
    )


# Other translators --------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("weights", "bound"), [("bfloat16", 0.05), ("int8", 0.3)])
def test_smaller_weights(saved, tmp_path, weights, bound):
    greedy().export(tmp_path / "small", weights=weights)
    data = "variables/variables.data-00000-of-00001"
    assert (tmp_path / "small" / data).stat().st_size < 0.8 * (
        saved / data
    ).stat().st_size
    assert manifest.verify(tmp_path / "small")["weights"] == weights
    assert sorted(tf.saved_model.load(tmp_path / "small").signatures) == NAMES
    pairs = {"source": tiny.SOURCES, "target": tiny.TARGETS}
    pairs = {name: tf.constant(texts) for name, texts in pairs.items()}
    small, large = (
        tf.saved_model.load(path).signatures["score"](**pairs)["score"]
        for path in (tmp_path / "small", saved)
    )
    error = np.abs(small - large).max()
    assert 0 < error < bound


def test_unknown_weights(tmp_path):
    with pytest.raises(ValueError) as caught:
        greedy().export(tmp_path / "x", weights="int4")
    assert str(caught.value) == (
        "export got an unknown value of weights. Expected one of bfloat16, float32, "
        "int8, received 'int4'. Use 'int8', the nearest."
    )


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


@pytest.mark.slow
def test_a_model_that_cannot_score(tmp_path):
    model = OnlySearched(greedy().model)
    translator = ks.Translator(model, *tiny.texts(), ks.Greedy(), max_length=4)
    translator.export(tmp_path / "searched")
    loaded = tf.saved_model.load(tmp_path / "searched")
    assert sorted(loaded.signatures) == [name for name in NAMES if name != "score"]
    found = loaded.signatures["serving_default"](tf.constant(tiny.SOURCES))["text"]
    assert [text.decode() for text in found.numpy()] == translator(tiny.SOURCES).texts


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
def test_an_ensemble_is_exported(tmp_path):
    models = [tiny.letters().model, tiny.model(*tiny.texts(), seed=2)]
    options = {"search": ks.Greedy(), "max_length": 4}
    translator = ks.Translator(ks.decoding.Ensemble(models), *tiny.texts(), **options)
    translator.export(tmp_path / "both")
    loaded = tf.saved_model.load(tmp_path / "both")
    expected = translator(tiny.SOURCES)
    found = loaded.signatures["serving_default"](tf.constant(tiny.SOURCES))
    assert [text.decode() for text in found["text"].numpy()] == expected.texts
    assert np.allclose(found["score"], expected.scores, rtol=1e-4)
    pairs = {"source": tiny.SOURCES, "target": tiny.TARGETS}
    pairs = {name: tf.constant(texts) for name, texts in pairs.items()}
    scores = loaded.signatures["score"](**pairs)["score"]
    assert np.allclose(scores, translator.score(tiny.PAIRS), rtol=1e-4)
    parameters = json.loads((tmp_path / "both/manifest.json").read_text())["model"]
    assert parameters["parameters"] == sum(m.count_params() for m in models)


@pytest.mark.slow
def test_samples_are_drawn_anew(tmp_path):
    search = ks.decoding.Sample(temperature=3.0, n_best=5)
    tiny.letters().with_search(search).export(tmp_path / "sample")
    served = tf.saved_model.load(tmp_path / "sample")
    call = served.signatures["translate_with_attention"]
    drawn = {str(call(tf.constant(["abba"]))["texts"].numpy()) for _ in range(3)}
    assert len(drawn) > 1
