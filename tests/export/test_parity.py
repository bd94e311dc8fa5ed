"""Eager = compiled = SavedModel in a process without the library, for the whole zoo."""

import pytest

from tests.export import models, parity
from tests.export.served import ask
from tests.zoo.rows import NAMES

pytestmark = [pytest.mark.system, pytest.mark.slow]  # a slice: test_new_process.py

TEXTS = models.sentences(200, seed=5)


@pytest.fixture(scope="module")
def translators():
    return {name: models.translator(name) for name in NAMES}


@pytest.fixture(scope="module")
def served(tmp_path_factory, translators):
    """One process for all models."""
    folder = tmp_path_factory.mktemp("zoo")
    for name, translator in translators.items():
        translator.export(folder / name)
    return ask(folder, dict.fromkeys(NAMES, list(parity.requests(TEXTS)))).answers


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.timeout(900)
def test_eager_is_compiled_is_served(served, translators, name):
    pipeline = translators[name].pipeline
    compiled = parity.answers(pipeline, TEXTS)
    texts = compiled["translate_with_attention"]["texts"]
    assert len(set(texts.ravel())) > 20  # it does not say the same thing of all
    with parity.eagerly():
        eager = parity.answers(pipeline, TEXTS)
    for (signature, _), answer in zip(
        parity.requests(TEXTS), served[name], strict=True
    ):
        parity.check_equal(compiled[signature], eager[signature])
        parity.check_equal(answer, eager[signature])
