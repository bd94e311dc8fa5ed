"""What was exported answers in a process without the library, whatever is asked."""

import keras
import numpy as np
import pytest

from tests.export import models, parity
from tests.export.served import ask, text

pytestmark = [pytest.mark.system, pytest.mark.timeout(900)]

ODD = {
    "nothing": b"",
    "white space": " \t\n\u3000".encode(),
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
    """Everything is asked in one process."""
    folder = tmp_path_factory.mktemp("exported")
    for name, translator in translators.items():
        translator.export(folder / name)
    translators[NAMES[1]].save(folder / "translator")
    asked = dict.fromkeys(NAMES, [*REQUESTS, UNEQUAL])
    return ask(folder, asked, at_once=len(parity.ON_TEXT) + 1)


@pytest.fixture(scope="module")
def answers(served):
    """By name, batch and signature."""
    return {
        (name, *key): answer
        for name, listed in served.answers.items()
        for key, answer in zip([*KEYS, ("unequal",)], listed, strict=True)
    }


@each_name
def test_eager_is_compiled_is_served(answers, translators, name):
    """All models and more sentences: test_parity.py."""
    pipeline = translators[name].pipeline
    compiled = parity.answers(pipeline, TEXTS)
    with parity.eagerly():
        eager = parity.answers(pipeline, TEXTS)
    for signature, expected in eager.items():
        parity.check_equal(compiled[signature], expected)
        parity.check_equal(answers[name, "texts", signature], expected)


def test_many_at_once_get_the_same_answers(served):
    assert served.wrong == dict.fromkeys(NAMES, 0)


@each_name
def test_a_batch_of_one(answers, name):
    """No matter what else is in a batch."""
    for signature in ("serving_default", "nbest"):
        all_of = answers[name, "texts", signature].items()
        first = {field: value[:1] for field, value in all_of}
        parity.check_equal(answers[name, "one", signature], first)


def test_it_answers_as_the_translator_does(answers, translators):
    translations = translators["bahdanau2015"](TEXTS)
    found = answers["bahdanau2015", "texts", "serving_default"]
    assert text(found["text"]) == translations.texts
    assert translations.texts[5:] == ["", ""] and all(translations.texts[:5])
    np.testing.assert_allclose(found["score"], translations.scores, atol=parity.SCORES)


def test_nbest_has_all_hypotheses(answers):
    two = answers["bahdanau2015", "texts", "translate_with_attention"]
    three = answers["bahdanau2015", "texts", "nbest"]
    assert three["texts"].shape == (len(TEXTS), 3)
    np.testing.assert_array_equal(three["texts"][:, :2], two["texts"])
    assert (np.diff(three["ranking"]) <= 0).all()


@each_name
def test_a_batch_of_nothing(answers, name):
    for signature, _ in parity.requests([]):
        for value in answers[name, "none", signature].values():
            assert value.shape[0] == 0


@each_name
def test_whatever_is_typed(answers, translators, name):
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
    assert np.flatnonzero(found["source_cut"]).tolist() == [2, 3]
    assert found["source_lengths"][2:4].tolist() == [1001, 1001]
    sizes = np.array([len(odd) for odd in ODD.values()])
    assert (found["source_starts"] <= found["source_ends"]).all()
    assert (found["source_ends"] <= sizes[:, None]).all()


def test_unreadable_bytes_are_unknown(answers):
    read = answers["bahdanau2015", "odd", "encode"]
    tokens = {
        odd: text(row.tolist()) for odd, row in zip(ODD, read["tokens"], strict=True)
    }
    assert "".join(tokens["no UTF-8"]) == "ab<unk><unk><unk> ba<unk></s>"
    assert "".join(tokens["NUL"]) == "ab<unk>ba</s>"
    assert {*tokens["another script"]} == {"<unk>", " ", "</s>", ""}


@each_name
def test_scores_of_what_is_too_long_say_so(answers, name):
    found = answers[name, "odd", "score"]
    assert np.flatnonzero(found["source_cut"]).tolist() == [2, 3]
    assert np.flatnonzero(found["target_cut"]).tolist() == [5, 6]
    assert found["target_lengths"][5:7].tolist() == [1001, 1001]


@each_name
def test_other_numbers_of_targets(answers, name):
    assert (
        "score got sources and targets of different batch sizes. Expected one target "
        "for every source, received the sizes below. Pass as many targets as sources."
    ) in answers[name, "unequal"]


def test_a_saved_translator_is_the_same(served, translators):
    """In the same process, when it has got to know the library."""
    texts, scores = served.translated
    expected = translators["luong2015"](TEXTS)
    assert texts == expected.texts
    np.testing.assert_allclose(scores, expected.scores, atol=parity.SCORES)
