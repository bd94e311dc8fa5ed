"""One folder with two versions, and one server of it, for all tests."""

import resource

import pytest

LETTERS = "abcdefgh ABCDEFGH éßü 0123456789"
FILES = 200  # that the server may open: 72 connections


@pytest.fixture(scope="session")
def versions(tmp_path_factory):
    """A folder with version 1: signatures of many kinds."""
    from keras_seqattn import manifest
    from tests.serving import odd_model

    folder = tmp_path_factory.mktemp("served")
    odd_model.write(folder / "1")
    manifest.write(folder / "1", {})
    return folder


@pytest.fixture(scope="session")
def served(versions):
    """The same folder with version 2: a translator, untrained."""
    make_translator().export(versions, version=2)
    return versions


def make_translator():
    """A translator with weights so large that its answers are not empty."""
    import keras
    import numpy as np

    import keras_seqattn as ks
    from keras_seqattn import zoo

    keras.utils.set_random_seed(1)
    text = ks.text.Characters.learn([LETTERS])
    size = text.vocabulary_size
    model = zoo.bahdanau2015("small", source_vocabulary=size, target_vocabulary=size)
    random = np.random.default_rng(1)
    model.set_weights([random.normal(0, 0.3, w.shape) for w in model.get_weights()])
    length = ks.decoding.RelativeLength(1.0, plus=3)
    return ks.Translator(model, text, text, ks.Greedy(), max_length=length)


@pytest.fixture(scope="session")
def process(served, tmp_path_factory):
    """`seqattn serve`, which may open few files; it ends with exit code 0."""
    from tests.serving.servers import Process

    log = tmp_path_factory.mktemp("log") / "server.log"
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, limits[1]))
    try:
        server = Process(served, log, "--port", "0", "--max-text", "300")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    try:
        yield server
        assert server.stop() == 0
    finally:
        server.kill()
    assert "never retrieved" not in server.said()  # asyncio's, of lost exceptions


@pytest.fixture
def client(process):
    return process.client


@pytest.fixture(scope="session")
def odd(versions):
    from keras_seqattn.serving.model import ServedModel

    return ServedModel(versions / "1")
