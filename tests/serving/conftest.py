"""One folder with two versions, and one server of it, for all tests."""

import pytest

LETTERS = "abcdefgh ABCDEFGH éßü 0123456789"


@pytest.fixture(scope="session")
def versions(tmp_path_factory):
    """Version 1: signatures of many kinds."""
    from keras_seqattn import manifest
    from tests.serving import odd_model

    folder = tmp_path_factory.mktemp("served")
    odd_model.write(folder / "1")
    manifest.write(folder / "1", {})
    return folder


@pytest.fixture(scope="session")
def served(versions):
    """And version 2: a translator, untrained."""
    make_translator().export(versions, version=2)
    return versions


def make_translator():
    """With weights large enough that it says something."""
    import keras
    import numpy as np

    import keras_seqattn as ks
    from keras_seqattn import zoo

    keras.utils.set_random_seed(1)
    text = ks.text.Characters.learn([LETTERS])
    model = zoo.bahdanau2015(
        "small",
        source_vocabulary=text.vocabulary_size,
        target_vocabulary=text.vocabulary_size,
    )
    random = np.random.default_rng(1)
    model.set_weights([random.normal(0, 0.3, w.shape) for w in model.get_weights()])
    length = ks.decoding.RelativeLength(1.0, plus=3)
    return ks.Translator(model, text, text, ks.Greedy(), max_length=length)


@pytest.fixture(scope="session")
def process(served, tmp_path_factory):
    """`seqattn serve`; it ends as it should."""
    from tests.serving.process import Process

    log = tmp_path_factory.mktemp("log") / "server.log"
    server = Process(served, log, "--port", "0", "--max-text", "300")
    try:
        yield server
        assert server.stop() == 0
    finally:
        server.kill()
    assert "never retrieved" not in server.said()  # asyncio's, of lost exceptions


@pytest.fixture
def client(process):
    """Of this server."""
    return process.client


@pytest.fixture(scope="session")
def odd(versions):
    """Version 1, in this process."""
    from keras_seqattn.serving.model import ServedModel

    return ServedModel(versions / "1")
