"""Strings in; strings, scores, tokens and alignments out."""

import warnings
from unittest import mock

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.serving.model import ServedModel
from tests.raised import check_error, check_message, rows
from tests.translator import tiny
from tests.translator.tiny import PAIRS, SOURCES


def made(model=None, search=tiny.BEAM, **options):
    """A translator of the trained one's parts, but for those named."""
    source, target = tiny.texts()
    options = {"source_text": source, "target_text": target, **options}
    return ks.Translator(model or tiny.letters().model, search=search, **options)


@pytest.fixture(scope="module")
def found():
    return tiny.letters().translate(SOURCES)


def test_one_text(found):
    translation = tiny.letters()("ÉCOLE")
    assert isinstance(translation, ks.translator.Translation)
    assert translation.source == "ÉCOLE"
    assert str(translation) == translation.text == found[1].text
    assert [t.piece for t in translation.source_tokens] == [*"école", "</s>"]
    tokens = translation.target_tokens
    assert "".join(t for t in tokens if t != "</s>") == translation.text
    assert translation.alignment.shape == (len(tokens), 6)
    assert np.allclose(translation.alignment.sum(axis=1), 1.0, atol=1e-5)
    assert translation.score < 0


def test_several_texts_and_none(found):
    assert isinstance(found, ks.translator.Translations) and len(found) == len(SOURCES)
    assert found.texts == [translation.text for translation in found]
    assert found.texts == PAIRS.target  # learned by heart
    assert found.scores == [translation.score for translation in found]
    assert found.alignments[2] is found[2].alignment
    assert found[-1].source == SOURCES[-1]
    assert found[1:3].texts == found.texts[1:3]
    assert repr(found[:1]) == f"Translations([{found[0].text!r}])"
    assert tiny.letters()(SOURCES).texts == found.texts
    assert tiny.letters()(tuple(SOURCES)).texts == found.texts
    assert tiny.letters()([]).texts == []
    assert tiny.letters().score(ks.data.Pairs([], [])) == []


def test_blank_texts():
    """They have the empty translation: the end token alone, with score 0."""
    blank = ["", "  ", "\n\t", "\u3000", "\u00a0 \u2028"]
    found = tiny.letters()([*blank, "abba"])
    alone = tiny.letters()("abba")
    assert found.texts == ["", "", "", "", "", alone.text]
    assert tiny.letters()(blank).texts == [""] * 5
    ones = [tiny.letters()(""), *found[1:5]]
    for size, one in zip([1, 3, 3, 2, 4], ones, strict=True):
        assert (one.text, one.score, one.ranking, one.alternatives) == ("", 0, 0, ())
        assert one.target_tokens == ["</s>"] and len(one.source_tokens) == size
        assert one.alignment.tolist() == [[0.0] * (size - 1) + [1.0]]
    every = [chr(c) for c in range(0x3001) if chr(c).isspace()]
    assert set(tiny.letters()([*every, "".join(every)]).texts) == {""}
    assert tiny.letters()(["\u200b", "\x1f\0"]).texts != ["", ""]  # no white space
    pairs = ks.data.Pairs(["", " ", "", "abba"], ["", "\t", "xy", ""])
    assert [score == 0 for score in tiny.letters().score(pairs)] == [1, 1, 0, 0]


def test_texts_of_nothing_but_ignored_characters():
    text = ks.text.Characters.learn(["ab"], normalization="nfkc_casefold")
    model = tiny.model(text, text, ks.layers.MultiHeadAdditiveAttention(8, heads=2))
    model.set_weights([w * np.nan for w in model.get_weights()])  # no hypothesis
    [found] = ks.Translator(model, text, text)(["\u200b\u00ad"])
    assert (found.text, found.score, found.alignment.tolist()) == ("", 0.0, [[1.0]])
    assert found.target_tokens == ["</s>"]


def test_many_texts_are_sorted_and_put_back(found):
    done = []
    by_two = tiny.letters().translate(SOURCES, batch_size=2, progress=done.append)
    assert done == [2, 4, 6, 7]
    assert by_two.texts == found.texts
    assert np.allclose(by_two.scores, found.scores, rtol=1e-4)
    for one, other in zip(by_two, found, strict=True):
        assert one.source == other.source
        assert np.allclose(one.alignment, other.alignment, atol=1e-4)


def test_batches_hold_texts_of_like_lengths(monkeypatch):
    spy = mock.MagicMock(wraps=tiny.letters().pipeline)
    monkeypatch.setattr(tiny.letters(), "pipeline", spy)
    tiny.letters().translate(["b", "abba", "", "abbab"], batch_size=2)
    assert spy.mock_calls == [mock.call(["abbab", "abba"]), mock.call(["b", ""])]


def test_alternatives(found):
    for translation in found:
        [other] = translation.alternatives
        assert other.source == translation.source
        assert other.source_tokens == translation.source_tokens
        assert other.target_tokens != translation.target_tokens
        assert other.ranking <= translation.ranking
        assert other.alternatives == ()
        assert other.alignment.shape[0] == len(other.target_tokens)


def test_tokens_point_into_the_text_as_it_was_typed():
    text = "  ÉCOLE ﬁn E\u0301 １"
    translation = tiny.letters()(text)
    typed, tokens = text.encode(), translation.source_tokens
    marked = [(t.piece, typed[t.start : t.end].decode()) for t in tokens]
    assert marked == [
        *[(" ", " "), (" ", " "), ("é", "É"), ("c", "C"), ("o", "O"), ("l", "L")],
        *[("e", "E"), (" ", " "), ("f", "ﬁ"), ("<unk>", "ﬁ"), ("<unk>", "n")],
        *[(" ", " "), ("é", "E\u0301"), (" ", " "), ("<unk>", "１"), ("</s>", "")],
    ]
    assert tokens[-1] == ks.translator.Token("</s>", len(typed), len(typed))


def test_heads_are_averaged_and_drawn(found):
    source, target = tiny.texts()
    attention = ks.layers.MultiHeadAdditiveAttention(8, heads=2)
    options = {"attention": attention, "search": ks.Greedy()}
    translator = tiny.translator(source, target, **options)
    translation = translator("abba")
    ids = tf.concat([source.encode("abba"), [source.tokens.end]], 0)[None]
    decoded = ks.decode(translator.model, ids, ks.Greedy(), max_length=7)
    alignments = decoded.alignments.numpy()
    assert alignments.shape[:3] == (1, 1, 2)  # batch, n_best, heads
    mean = alignments[0, 0].mean(axis=0)[: len(translation.target_tokens)]
    assert np.allclose(translation.alignment, mean, atol=1e-6)
    arguments = [*"abba", "</s>"], found[0].target_tokens, found[0].alignment
    expected = ks.text.heat_map(*arguments, color=False, width=40)
    assert found[0].heat_map(color=False, width=40) == expected


def test_unknown_words_are_replaced():
    source, target = (
        ks.text.Words(["<pad>", "<s>", "</s>", "<unk>", *known])
        for known in (["le", "chat", "noir"], ["the"])
    )
    options = {"search": ks.Greedy(), "max_length": 4}
    plain = tiny.translator(source, target, **options)
    typed = "le Chat noir X"
    found = plain(typed)
    assert "<unk>" in found.target_tokens and "⁇" in found.text
    words = found.alignment[:, :-1].argmax(axis=1)  # not at the end token
    looked_at = [typed.split()[j] for j in words]
    table = {"Chat": "Tom Cat", "le": "the", "noir": "black", "\ud800": "\udcff"}
    for unknown in ({}, table):
        options["unknown"] = unknown
        replaced = ks.Translator(plain.model, source, target, **options)(typed)
        expected = [
            unknown.get(word, word) if token == "<unk>" else token
            for word, token in zip(looked_at, found.target_tokens, strict=True)
        ]
        assert replaced.target_tokens == expected
        assert replaced.text == " ".join(expected)
        assert replaced.score == found.score


@pytest.fixture(scope="module")
def reads_four_tokens():
    return made(max_length=7, max_source=4)


def test_long_sources_are_cut(reads_four_tokens):
    translator = reads_four_tokens
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = translator(["abba", "cafe"])  # just fits
    with pytest.warns(UserWarning) as caught:
        found = translator(["b", "abbab", *["cafe"] * 2, *["cafecafe"] * 6])
    received = "max_source=4 tokens, received more at position 1, 4, 5, 6, 7 ("
    what = "Translator has read only the beginning of 7 texts"
    check_message(str(caught[0].message), what, received, "from 0) and others")
    assert found.texts[1:5] == [whole.texts[0], *[whole.texts[1]] * 3]
    assert [token.piece for token in found[1].source_tokens] == [*"abba", "</s>"]
    assert found[1].alignment.shape[1] == 5


@pytest.mark.parametrize("bias, count", [(0.0, 1), (0.1, 0)])
def test_an_untrained_model_warns(bias, count, recwarn):
    made = tiny.translator(*tiny.texts())
    made.model.head.bias.assign(np.full(made.model.head.bias.shape, bias))
    warnings.simplefilter("always", UserWarning)
    made("abba")
    what = "Translator has a model that was not trained. Expected a model after fit"
    assert sum(what in str(w.message) for w in recwarn) == count


def test_score_is_what_the_search_says(found):
    pairs = ks.data.Pairs(SOURCES, found.texts)
    scores = tiny.letters().score(pairs, batch_size=3)
    assert np.allclose(scores, found.scores, rtol=1e-4)
    others = ks.data.Pairs(SOURCES[1:3], [t.alternatives[0].text for t in found[1:3]])
    scores = [t.alternatives[0].score for t in found[1:3]]
    assert np.allclose(tiny.letters().score(others), scores, rtol=1e-4)


def test_scores_are_of_what_is_read(reads_four_tokens):
    """As the exported signature reads it, and as it is translated."""
    translator = reads_four_tokens
    pairs = ks.data.Pairs(["abbab", "b", "cafe"], ["xy", "xzyzx", "zy"])
    short = ks.data.Pairs(["abba", "b", "cafe"], ["xy", "xzyz", "zy"])
    with pytest.warns(UserWarning) as caught:
        scores = translator.score(pairs, batch_size=2)
    assert "received more at position 0, 1 (from 0). " in str(caught[0].message)
    assert np.allclose(scores, tiny.letters().score(short), rtol=1e-4)
    assert not np.allclose(scores, tiny.letters().score(pairs), rtol=1e-2)
    exported = translator.pipeline.score(pairs.source, pairs.target)
    assert np.allclose(scores, exported.score, rtol=1e-4)


def test_evaluate_and_datasets():
    done = []
    targets = [*PAIRS.target[:3], ["?", PAIRS.target[3]], *["?"] * 3]
    length = ks.metrics.TextMetric("length", lambda texts, _: len(texts))
    task = ks.data.Pairs(SOURCES, targets), ["exact_match", length]
    values = tiny.letters().evaluate(*task, batch_size=4, progress=done.append)
    assert values == {"exact_match": pytest.approx(100 * 4 / 7), "length": 7}
    assert done == [4, 7]
    pairs = ks.data.Pairs(["a"], ["b"])
    assert tiny.letters().evaluate(pairs, "exact_match") == {"exact_match": 0.0}
    translator = tiny.letters()
    [(inputs, labels)] = translator.dataset(PAIRS, batch_size=9, shuffle=False)
    texts = translator.source_text.decode(inputs["source"]).numpy().tolist()
    assert sorted(t.decode() for t in texts) == sorted(s.lower() for s in SOURCES)
    targets = translator.target_text.decode(labels).numpy().tolist()
    assert sorted(t.decode() for t in targets) == sorted(PAIRS.target)
    short = translator.dataset(PAIRS, batch_size=9, max_tokens=4, shuffle=False)
    assert [len(labels) for _, labels in short] == [4]


ON_PAIRS = {
    "score": lambda translator, pairs: translator.score(pairs),
    "evaluate": lambda translator, pairs: translator.evaluate(pairs, "chrf"),
    "dataset": lambda translator, pairs: next(
        iter(translator.dataset(pairs, batch_size=9, shuffle=False))
    )[1].numpy(),
}


@pytest.mark.parametrize("call", ON_PAIRS.values(), ids=ON_PAIRS)
def test_lists_of_pairs_are_pairs(call):
    expected = call(tiny.letters(), PAIRS)
    np.testing.assert_array_equal(call(tiny.letters(), list(PAIRS)), expected)


def test_subwords_are_drawn_anew_for_every_epoch():
    translator = tiny.joint()
    # So many that two epochs are not the same by chance.
    repeated = ks.data.Pairs(SOURCES * 40, PAIRS.target * 40)
    options = {"batch_size": len(repeated), "shuffle": False}
    sampled = translator.dataset(repeated, sample=True, **options)
    epochs = [next(iter(sampled))[0]["source"] for _ in range(2)]
    texts = [sorted(translator.source_text.decode(ids).numpy()) for ids in epochs]
    assert texts[0] == texts[1] == sorted(s.lower().encode() for s in SOURCES * 40)
    assert len({str(np.sort(ids.numpy(), axis=0).tolist()) for ids in epochs}) == 2
    same = translator.dataset(repeated, **options)
    assert np.array_equal(*(next(iter(same))[0]["source"] for _ in range(2)))


def with_head(vocabulary):
    decoder = ks.AttentionDecoder(ks.layers.ContextCell(4, cell="gru"))
    parts = keras.layers.Embedding(15, 4), ks.BiEncoder(4), decoder
    head, embedding = ks.layers.OutputHead(vocabulary), tiny.letters().model
    options = {"target_embedding": embedding.target_embedding}
    return ks.Seq2Seq(*parts, head, bridge=ks.layers.ZeroBridge(4), **options)


def padded(source_pad):
    config = tiny.letters().model.get_config()
    return ks.Seq2Seq.from_config({**config, "source_pad": source_pad})


def said(*texts):
    return tiny.letters()(list(texts))


# What is wrong ... parts of the rest of the message: the call that says so.
ERRORS = {
    "Translator.translate got one string ... received 'abba' ... "
    "translator(text)": lambda: tiny.letters().translate("abba"),
    "Translator.translate got an unusable batch_size ... batch_size=0. Pass a Python "
    "int, 1 or more": lambda: tiny.letters().translate(["abba"], batch_size=0),
    "Translator got": {
        "a value ... b'abba' at position 1. Decode bytes": lambda: said("a", b"abba"),
        "a value ... received b'a'. Decode bytes": lambda: tiny.letters()(b"a"),
        "a value ... <tf.Tensor ... at position 1. Decode": lambda: said(
            "a", tf.constant("b")
        ),
        "a value ... received None. Pass a text, or": lambda: tiny.letters()(None),
        "a value ... None at position 1. Leave it out": lambda: said("a", None),
        "a value ... {'a': 'b'}. Pass one": lambda: tiny.letters()({"a": "b"}),
        "a value ... ['a', 'b'] at position 0. Pass one": lambda: said(["a", "b"]),
        "token ids instead of texts ... [5, 6, 2] at position 0. Pass the texts, "
        "because the translator encodes them; for ids call decode(translator.model, "
        "ids, translator.search, 50)": lambda: said([5, 6, 2]),
        "token ids ... array([1, 1, ": lambda: tiny.letters()(np.ones((2, 3), int)),
        "token ids ... tf.Tensor": lambda: tiny.letters()(tf.constant([[4], [6]])),
        "a source_text that does not fit the model. Expected a vocabulary of 15 "
        "tokens, as many as the model embeds, received Characters with 8. Pass the "
        "processor with which the model was trained, or build the model with "
        "source_vocabulary=8.": lambda: made(source_text=tiny.texts()[1]),
        "a target_text that does not fit ... of 8 tokens, as many as the model embeds, "
        "received Characters with 15": lambda: made(target_text=tiny.texts()[0]),
        "a target_text that does not fit ... of 7 tokens, as many as the model "
        "predicts, received Characters with 8 ... =8": lambda: made(with_head(7)),
        "a source_text that does not fit the model ... Words with 5": lambda: made(
            ks.decoding.Ensemble([tiny.letters().model] * 2),
            source_text=ks.text.Words.learn(["a"]),
        ),
    },
    "Translator got text processors that pad with other ids than the model. Expected "
    "source_text.tokens.pad=4 and target_text.tokens.pad=0, received 0 and 0. Build "
    "the model with pad=0, source_pad=0.": lambda: made(padded(4)),
    "Translator got a source_text ... of 15 tokens ... The two processors fit the "
    "other side": lambda: made(
        source_text=tiny.texts()[1], target_text=tiny.texts()[0]
    ),
    "Translator.dataset got no size of batches": lambda: tiny.letters().dataset(PAIRS),
    "Translator.score got an unusable batch_size ... batch_size=2.0. Pass a Python "
    "int, 1 or more": lambda: tiny.letters().score(PAIRS, batch_size=2.0),
    "Pipeline can replace unknown words only in texts of words ... received Characters "
    "and unknown={}. Leave `unknown` out": lambda: made(unknown={}),
    "Translator got an unusable model ... Seq2Seq'>. Pass a Seq2Seq": lambda: made(
        ks.Seq2Seq
    ),
    "Translator.dataset got an unknown argument ... 'batchsize'. Use "
    "'batch_size'": lambda: tiny.letters().dataset(PAIRS, batchsize=8),
    "Translator.save got an unusable path ... None": lambda: tiny.letters().save(None),
    "Translator.fit_pairs got an unusable epochs ... epochs=0": lambda: (
        ks.Translator.fit_pairs(PAIRS, epochs=0)
    ),
    "Translator got an unusable search ... 'beam'. Pass an instance, e.g. "
    "BeamSearch(5)": lambda: made(search="beam"),
    **{
        f"Translator.{name} got something that is not a pair": lambda call=call: call(
            tiny.letters(), [("a", "b", "c")]
        )
        for name, call in ON_PAIRS.items()
    },
    "Translator got an unusable max_length ... 'x'": lambda: made(max_length="x"),
    "Translator got an unusable": {
        "dictionary of unknown words ... unknown=['a']": lambda: made(unknown=["a"]),
        "dictionary of unknown ... unknown={'a': 1}": lambda: made(unknown={"a": 1}),
        "target_text ... 'characters'": lambda: made(target_text="characters"),
        "max_source ... max_source=0": lambda: made(max_source=0),
        "max_source ... max_source=-1": lambda: made(max_source=-1),
        "max_source ... max_source='5'": lambda: made(max_source="5"),
        "shortlist ... received [[1]]": lambda: made(shortlist=[[1]]),
    },
    "Shortlist does not fit the model. Expected a source vocabulary of 15 "
    "tokens,": lambda: made(shortlist=ks.decoding.Shortlist([[-1]], range(9))),
}
ROWS = rows(ERRORS)


@pytest.mark.parametrize("call, what, parts", ROWS, ids=[row.what for row in ROWS])
def test_error(call, what, parts):
    check_error(call, what, *parts)


@pytest.fixture(scope="module")
def short():
    """All that it says has one of three characters."""
    source, target = tiny.texts()
    pairs = ks.data.encode(PAIRS, source, target)
    model = tiny.model(source, target)
    shortlist = ks.decoding.Shortlist.learn(model, pairs, per_token=1, common=0, size=7)
    options = {"max_length": 7, "shortlist": shortlist}
    return ks.Translator(model, source, target, ks.Greedy(), **options)


def test_shortlist_is_kept_and_loaded(short, tmp_path):
    short.save(tmp_path / "short")
    loaded = ks.Translator.load(tmp_path / "short")
    assert loaded.pipeline.shortlist == short.pipeline.shortlist
    assert loaded.with_search(tiny.BEAM).pipeline.shortlist is not None
    found = short.translate(SOURCES)
    assert loaded.translate(SOURCES).texts == found.texts
    ids = short.pipeline.shortlist.ids(short.pipeline.encode(SOURCES).ids)
    said = short.pipeline(SOURCES).target_tokens
    assert np.isin(said, [*short.target_text.pieces(ids).numpy(), b""]).all()
    without = ks.Translator(short.model, *tiny.texts(), ks.Greedy(), max_length=7)
    assert found.scores != without.translate(SOURCES).scores


@pytest.mark.slow
def test_shortlist_is_exported(short, tmp_path):
    short.export(tmp_path / "model")
    served = tf.saved_model.load(tmp_path / "model").signatures["serving_default"]
    found, expected = served(tf.constant(SOURCES)), short.pipeline(SOURCES)
    np.testing.assert_array_equal(found["text"], expected.texts[:, 0])
    np.testing.assert_allclose(found["score"], expected.scores[:, 0], atol=1e-5)
    model = ServedModel(tmp_path / "model")  # answers depend on their batch
    assert not any(signature.is_shared for signature in model.signatures.values())


def test_shortlist_is_not_for_litert(short, tmp_path):
    with pytest.raises(ValueError, match="got a shortlist, which LiteRT does not"):
        short.export_litert(tmp_path / "model.tflite", 9, 9)
