"""What was exported answers in a process without the library, whatever is asked."""

import keras
import numpy as np
import pytest

from tests.export import models, parity
from tests.export.parity import ask, text
from tests.zoo import rows

pytestmark = [pytest.mark.system, pytest.mark.timeout(900)]
ODD = {
    **{"nothing": b"", "white space": " \t\n\u3000".encode()},
    "100 000 characters": b"abba " * 20_000,
    "one word": "é".encode() * 100_000,
    "no UTF-8": b"ab\xff\xfe\xe2\x82 ba\xc3",
    "surrogate, overlong": b"\xed\xa0\x80 \xc0\x80",
    "NUL": b"ab\0ba",
    "another script": "안녕하세요 世界 👩‍👩‍👧 שלום".encode(),
    "many accents": ("a" + "\u0301" * 300).encode(),
}
TEXTS = [*models.sentences(4), "ﬁÉ", "  ", ""]
BATCHES = {"texts": TEXTS, "odd": list(ODD.values()), "one": TEXTS[:1], "none": []}
REQUESTS = [one for texts in BATCHES.values() for one in parity.requests(texts)]
KEYS = [(batch, name) for batch in BATCHES for name, _ in parity.requests([])]
UNEQUAL = "score", {"source": TEXTS, "target": TEXTS[:2]}
NAMES = ("bahdanau2015", "luong2015")  # of characters, of subwords
each_name = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(scope="module")
def translators():
    keras.utils.set_random_seed(1409)  # what a module shares is made before a test
    searches = zip(NAMES, (models.BEAM, models.GREEDY), strict=True)
    return {name: models.translator(name, search) for name, search in searches}


@pytest.fixture(scope="module")
def served(tmp_path_factory, translators):
    folder = tmp_path_factory.mktemp("exported")
    for name, translator in translators.items():
        translator.export(folder / name)
    translators[NAMES[1]].save(folder / "translator")
    asked = dict.fromkeys(NAMES, [*REQUESTS, UNEQUAL])
    return ask(folder, asked, at_once=len(parity.ON_TEXT) + 1)


@pytest.fixture(scope="module")
def answers(served):
    return {
        (name, *key): answer
        for name, listed in served.answers.items()
        for key, answer in zip([*KEYS, ("unequal",)], listed, strict=True)
    }


@each_name
def test_eager_is_compiled_is_served(answers, translators, name):
    every = {key[2]: x for key, x in answers.items() if key[:2] == (name, "texts")}
    check_equal(translators[name].pipeline, TEXTS, every)


def check_equal(pipeline, texts, served):
    """Compare with the served answers, by signature; return the compiled ones."""
    compiled = parity.answers(pipeline, texts)
    with parity.eagerly():
        eager = parity.answers(pipeline, texts)
    for signature, expected in eager.items():
        parity.check_equal(compiled[signature], expected)
        parity.check_equal(served[signature], expected)
    return compiled


def test_many_at_once_get_the_same_answers(served):
    assert served.wrong == dict.fromkeys(NAMES, 0)


@each_name
def test_batches_of_one_of_none_and_of_different_sizes(answers, name):
    """The answer to a text is the same, no matter what else is in its batch."""
    for signature in ("serving_default", "nbest"):
        every = answers[name, "texts", signature].items()
        first = {field: value[:1] for field, value in every}
        parity.check_equal(answers[name, "one", signature], first)
    for signature, _ in parity.requests([]):
        fields = answers[name, "none", signature].values()
        assert {value.shape[0] for value in fields} == {0}
    assert (
        "score got sources and targets of different batch sizes. Expected one target "
        "for every source, received the sizes below. Pass as many targets as sources."
    ) in answers[name, "unequal"]


def test_it_answers_as_the_translator_does(answers, served, translators):
    """So does a translator that was saved, and loaded in that process."""
    for name in NAMES:
        expected = translators[name](TEXTS)
        found = answers[name, "texts", "serving_default"]
        assert text(found["text"]) == expected.texts
        np.testing.assert_allclose(found["score"], expected.scores, atol=parity.SCORES)
        assert expected.texts[5:] == ["", ""] and all(expected.texts[:5])
    texts, scores = served.translated
    assert texts == expected.texts
    np.testing.assert_allclose(scores, expected.scores, atol=parity.SCORES)


def test_nbest_has_all_hypotheses(answers):
    two = answers["bahdanau2015", "texts", "translate_with_attention"]
    three = answers["bahdanau2015", "texts", "nbest"]
    assert three["texts"].shape == (len(TEXTS), 3)
    np.testing.assert_array_equal(three["texts"][:, :2], two["texts"])
    ranking = three["ranking"]
    assert (ranking[:, 1:] <= ranking[:, :-1]).all()


@each_name
def test_odd_texts(answers, translators, name):
    """Strings are UTF-8, numbers are numbers, offsets are within the text."""
    for signature, _ in parity.requests([]):
        for value in answers[name, "odd", signature].values():
            if value.dtype.kind == "O":
                text(value.tolist())
            else:
                assert not np.isnan(value).any()
    read = parity.arrays(translators[name].pipeline.encode(BATCHES["odd"]))
    parity.check_equal(answers[name, "odd", "encode"], read)
    found = answers[name, "odd", "translate_with_attention"]
    texts = dict(zip(ODD, found["texts"][:, 0], strict=True))
    assert texts["nothing"] == texts["white space"] == b""
    assert np.flatnonzero(found["scores"][:, 0] == 0).tolist() == [0, 1]
    assert np.flatnonzero(found["source_cut"]).tolist() == [2, 3]
    assert found["source_lengths"][2:4].tolist() == [1001, 1001]
    sizes = np.array([len(odd) for odd in ODD.values()])
    assert (found["source_starts"] <= found["source_ends"]).all()
    assert (found["source_ends"] <= sizes[:, None]).all()
    scored = answers[name, "odd", "score"]
    assert np.flatnonzero(scored["source_cut"]).tolist() == [2, 3]
    assert np.flatnonzero(scored["target_cut"]).tolist() == [5, 6]
    assert scored["target_lengths"][5:7].tolist() == [1001, 1001]


def test_unreadable_bytes_are_unknown(answers):
    rows = answers["bahdanau2015", "odd", "encode"]["tokens"]
    tokens = {odd: text(row.tolist()) for odd, row in zip(ODD, rows, strict=True)}
    assert "".join(tokens["no UTF-8"]) == "ab<unk><unk><unk> ba<unk></s>"
    assert "".join(tokens["NUL"]) == "ab<unk>ba</s>"
    assert {*tokens["another script"]} == {"<unk>", " ", "</s>", ""}


MANY = models.sentences(200, seed=5)


@pytest.fixture(scope="module")
def whole_zoo(tmp_path_factory):
    """The translators of all models, and what one process answers for them."""
    folder = tmp_path_factory.mktemp("zoo")
    made = {name: models.translator(name) for name in rows.NAMES}
    for name, translator in made.items():
        translator.export(folder / name)
    asked = list(parity.requests(MANY))
    return made, ask(folder, dict.fromkeys(made, asked)).answers


@pytest.mark.slow
@pytest.mark.parametrize("name", rows.NAMES)
def test_the_whole_zoo_is_equal_too(whole_zoo, name):
    made, answers = whole_zoo
    signatures = [signature for signature, _ in parity.requests(MANY)]
    found = dict(zip(signatures, answers[name], strict=True))
    compiled = check_equal(made[name].pipeline, MANY, found)
    texts = compiled["translate_with_attention"]["texts"]
    assert len(set(texts.ravel())) > 20  # it does not say the same thing of all
