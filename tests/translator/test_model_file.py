"""An untrusted `model.keras` runs no code, reads no other file and takes no memory.

Every folder here is one without checksums, or one whose checksums are right.
"""

import io
import json
import sys
import threading
import zipfile
import zlib

import h5py
import keras
import numpy as np
import pytest

import keras_seqattn as ks
from keras_seqattn.translator import model_file
from keras_seqattn.translator.model_file import load_model
from tests.raised import check_error
from tests.translator import tiny

CONFIG, WEIGHTS = "config.json", "model.weights.h5"


@pytest.fixture(scope="module")
def members(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "model.keras"
    tiny.model(*tiny.texts(), units=4).save(path)
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.keras"


def write(path, members, method=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", method) as file:
        for name, content in members.items():
            file.writestr(name, content)


def refused(path, reason, verified=True):
    check_error(
        lambda: load_model("Translator.load", path, verified),
        f"Translator.load cannot load {path}. Expected a Keras model whose classes are "
        "all known, received a damaged or unsafe file (",
        reason,
        "). Copy the folder again; import your own classes first.",
    )


def changed(members, change):
    config = json.loads(members[CONFIG])
    change(config["config"])
    return {**members, CONFIG: json.dumps(config)}


@pytest.mark.parametrize("verified", [True, False])
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_what_keras_writes_is_loaded(path, members, method, verified):
    """And what is compressed, as in the shipped models."""
    write(path, members, method)
    found = load_model("Translator.load", path, verified).get_weights()
    expected = keras.models.load_model(path, compile=False).get_weights()
    assert all(np.array_equal(*pair) for pair in zip(found, expected, strict=True))


def test_archives_that_are_damaged(path, members):
    """Cut off anywhere, or one byte is another: nothing else passes."""
    write(path, members)
    whole = path.read_bytes()
    for at in range(0, len(whole), len(whole) // 50):
        path.write_bytes(whole[:at])
        refused(path, "", verified=False)
    start = whole.index(members[WEIGHTS])
    for at in range(start, start + len(members[WEIGHTS]), len(members[WEIGHTS]) // 20):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        refused(path, "'model.weights.h5' has another size or checksum than the", False)


@pytest.mark.parametrize("name", [CONFIG, WEIGHTS])
def test_a_member_is_missing(path, members, name):
    write(path, {k: v for k, v in members.items() if k != name})
    refused(path, f"the archive lacks {name}")


ASSETS = {f"assets/{i}": 2**23 for i in range(9)}  # Keras writes them to the disk
LARGE = [
    ({CONFIG: 200 * 2**20}, "'config.json' would be 209715200 bytes, unpacked"),
    ({WEIGHTS: 65 * 2**20}, "'model.weights.h5' would be 68157440 bytes, unpacked"),
    (ASSETS, "'assets/7' would be 8388608 bytes, unpacked"),
]


@pytest.mark.parametrize("large, reason", LARGE, ids=["config", "weights", "assets"])
def test_members_that_are_unpacked_to_much_more(path, members, large, reason):
    contents = {name: bytes(size) for name, size in large.items()}
    write(path, {**members, **contents}, zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 2**20
    refused(path, reason)


@pytest.mark.parametrize("name", [CONFIG, WEIGHTS])
def test_sizes_that_are_lies(path, members, name):
    """The archive declares as many bytes as there should be; a thousandfold follows."""
    right = members[name]
    write(path, {**members, name: right + bytes(50 * 2**20)}, zipfile.ZIP_DEFLATED)
    content = bytearray(path.read_bytes())
    at = content.rindex(b"PK\x01\x02", 0, content.rindex(name.encode()))
    content[at + 16 : at + 20] = zlib.crc32(right).to_bytes(4, "little")
    content[at + 24 : at + 28] = len(right).to_bytes(4, "little")
    path.write_bytes(content)
    with zipfile.ZipFile(path) as file:
        assert file.getinfo(name).file_size == len(right)
    refused(path, f"{name!r} has another size or checksum than")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compressions(path, members, method):
    """They unpack all at once, whatever they are asked for."""
    write(path, members, method)
    refused(path, "is encrypted or has an unknown compression")


def test_what_is_no_model(path, members):
    layer = keras.saving.serialize_keras_object(keras.layers.Dense(2))
    write(path, {**members, CONFIG: json.dumps(layer)})
    refused(path, "it holds a Dense, which is not a model")


@pytest.mark.parametrize(
    "part, option, size, reason",
    [
        ("source_embedding", "input_dim", 10**9, "shape (1000000000, 4), but the"),
        ("encoder", "units", 10**30, "has weights of shape"),
        ("encoder", "layers", 10**9, "1000000000 layers, but"),
        ("head", "vocabulary_size", 10**12, "has weights of shape"),
    ],
)
def test_layers_larger_than_the_file(path, members, part, option, size, reason):
    """Nothing is allocated: TensorFlow would end the process."""
    write(path, changed(members, lambda c: c[part]["config"].update({option: size})))
    refused(path, reason)


def test_thousands_of_layers(path, members, monkeypatch):
    """Each of them is small, but they would take minutes to build."""
    monkeypatch.setattr(model_file, "_SLACK", 10_000)  # here some are enough
    layers = [keras.Input([1]), *(keras.layers.Dense(1) for _ in range(50))]
    model = keras.saving.serialize_keras_object(keras.Sequential(layers))
    write(path, {**members, CONFIG: json.dumps(model)})
    refused(path, "Dense has weights of shape (1")


def test_other_threads_build_what_they_like(path, members, monkeypatch):
    write(path, members)
    built, plain = [], keras.layers.Embedding.build

    def build(layer, shape=None):
        if not built and threading.current_thread() is threading.main_thread():
            other = threading.Thread(target=large)
            other.start()
            other.join()
        plain(layer, shape)

    def large():
        layer = keras.layers.Embedding(5 * 2**20, 1)
        layer.build()
        built.append(layer.embeddings.shape)

    monkeypatch.setattr(keras.layers.Embedding, "build", build)
    before = keras.layers.Layer.add_weight
    load_model("Translator.load", path, verified=True)
    assert built == [(5 * 2**20, 1)]
    assert keras.layers.Layer.add_weight is before


EMPTY = {"shape": (10**6, 10**6), "dtype": "f4"}
ARRAYS = {
    "chunks": {**EMPTY, "chunks": (10, 10)},
    "empty": EMPTY,
    "str": {"data": ["a"]},
}


@pytest.mark.parametrize("options", ARRAYS.values(), ids=ARRAYS)
def test_arrays_that_declare_more_than_they_store(path, members, options):
    content = io.BytesIO(members[WEIGHTS])
    with h5py.File(content, "a") as file:
        file.create_dataset("x", **options)
    write(path, {**members, WEIGHTS: content.getvalue()})
    refused(path, "the weights 'x' are not stored in full")


def described(module, name, config=None, registered_name=None):
    names = {"class_name": name, "registered_name": registered_name}
    return {"module": module, "config": {} if config is None else config, **names}


LAYERS = "keras_seqattn.layers"
HARMFUL = {
    "lambda": described("keras.layers", "Lambda", {"function": "x"}),
    "code": described("builtins", "__lambda__", {"value": "x"}),
    "another model": described("keras.layers", "TFSMLayer", {"filepath": "x"}),
    "pickle": described("keras.layers", "TorchModuleWrapper", {"module": "x"}),
    "file": described("keras.layers", "StringLookup", {"vocabulary": __file__}),
    "file of texts": described("keras.layers", "TextVectorization"),
    "function": described("keras.utils", "function", "plot_model", "plot_model"),
    "operation": described("keras.ops", "function", "save", "save"),
    "getter": described("builtins", "function", "deserialize", "deserialize"),
    "module": described("os", "system"),
    "module of Keras": described("keras.src.layers.layer_test", "LayerTest"),
    "no class": described("keras.layers", "__loader__"),
    "not registered": described(f"{LAYERS}.composite", "Composite", {}, "x>y"),
    "no module": described(None, "Dense"),
    "no kind of part": described("keras.callbacks", "BackupAndRestore"),
    "specification": described("keras.layers", "__typespec__", []),
    "long strings": described(None, "__numpy__", {"value": [], "dtype": "S9999999"}),
    "no name": described("keras.layers", ["Dense"]),
    "no module's name": described(["keras"], "Dense"),
}


@pytest.mark.parametrize("where", ["encoder", "initializer", "head"])
@pytest.mark.parametrize("name", HARMFUL)
def test_harmful_names(path, members, name, where):
    def change(config):
        if where == "initializer":
            config["encoder"]["config"]["kernel_initializer"] = HARMFUL[name]
        else:
            config[where] = HARMFUL[name]

    write(path, changed(members, change))
    imported = set(sys.modules)
    with pytest.raises(ValueError, match="may do harm|names a class by something else"):
        load_model("Translator.load", path, verified=True)
    assert set(sys.modules) == imported


def test_patterns_that_take_for_ever_and_too_deep_nests(path, members):
    policies = keras.dtype_policies.DTypePolicyMap(policy_map={"(a+)+$": "float32"})
    policies = keras.dtype_policies.serialize(policies)
    change = {"name": "a" * 50 + "b", "dtype": policies}
    write(path, changed(members, lambda c: c["encoder"]["config"].update(change)))
    refused(path, "dtype policies for '(a+)+$', which is not a path of layers")
    write(path, {**members, CONFIG: b"[" * 100_000})
    refused(path, "its lists or objects are nested too deeply")


@keras.saving.register_keras_serializable("test_model_file")
def own(x):
    return keras.ops.tanh(x)


@keras.saving.register_keras_serializable("test_model_file")
class Own(ks.layers.OutputHead):
    pass


def loaded(model, path):
    model.save(path)
    return load_model("Translator.load", path, verified=True)


def test_classes_and_functions_of_ones_own(path):
    attention = ks.LuongAttention("general")
    ones = keras.initializers.Constant(np.ones([9, 4]))
    embedding = keras.layers.Embedding(9, 4, embeddings_initializer=ones)
    encoder = ks.BiEncoder(4, cell=keras.layers.GRUCell(4, activation="relu"))
    cell = ks.layers.LuongCell(4, attention=attention, attentional_activation=own)
    parts = embedding, encoder, ks.AttentionDecoder(cell), Own(9)
    model = ks.Seq2Seq(*parts, bridge=ks.layers.DenseBridge([4, 4]))
    assert type(loaded(model, path).head) is Own


def test_a_compiled_model_and_a_quantized_one(path):
    def not_registered(y_true, y_pred):
        return 0.0

    model = tiny.model(*tiny.texts(), units=4)
    model.compile(loss=not_registered)
    loaded(model, path)
    model = tiny.model(*tiny.texts(), units=4)
    for dense in model.bridge.projections:
        dense.quantize("int8")
    pairs = zip(loaded(model, path).get_weights(), model.get_weights(), strict=True)
    assert all(np.array_equal(*pair) for pair in pairs)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A translator without checksums."""
    path = tmp_path_factory.mktemp("translator")
    tiny.letters().save(path)
    (path / "manifest.json").unlink()
    return path


UNUSABLE = [
    described("x", "x", {}, "keras_seqattn>BiEncoder"),
    described("x", "x", {"width": -1}, "keras_seqattn>BeamSearch"),
    described("x", "x", {"times": "x"}, "keras_seqattn>RelativeLength"),
    described("x", "x", [], "keras_seqattn>Greedy"),
]


@pytest.mark.filterwarnings("ignore:Translator.load cannot check:UserWarning")
@pytest.mark.parametrize("option, kind", [("search", "Search"), ("max_length", "Rel")])
@pytest.mark.parametrize("value", [*HARMFUL.values(), *UNUSABLE])
def test_options_of_other_classes(folder, tmp_path, option, kind, value):
    content = json.loads((folder / "translator.json").read_text())
    (tmp_path / "translator.json").write_text(json.dumps({**content, option: value}))
    imported = set(sys.modules)
    what = f"Translator.load cannot read {option} in {tmp_path}/translator.json"
    check_error(lambda: ks.Translator.load(tmp_path), what, f"a {kind}")
    assert set(sys.modules) == imported
