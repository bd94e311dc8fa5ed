"""Strings in; strings, scores, tokens and alignments out."""

import warnings

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from tests.translator import tiny
from tests.translator.tiny import PAIRS, SOURCES


@pytest.fixture(scope="module")
def found():
    return tiny.letters().translate(SOURCES)


# Texts --------------------------------------------------------------------------------


def test_one_text(found):
    translation = tiny.letters()("ÉCOLE")
    assert isinstance(translation, ks.translator.Translation)
    assert translation.source == "ÉCOLE"
    assert str(translation) == translation.text == found[1].text
    pieces = [token.piece for token in translation.source_tokens]
    assert pieces == [*"école", "</s>"]
    tokens = translation.target_tokens
    assert "".join(t for t in tokens if t != "</s>") == translation.text
    assert translation.alignment.shape == (len(tokens), 6)
    assert np.allclose(translation.alignment.sum(axis=1), 1.0, atol=1e-5)
    assert translation.score < 0


def test_several_texts(found):
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


def test_no_text():
    assert tiny.letters()([]).texts == []
    assert tiny.letters().score(ks.data.Pairs([], [])) == []


def test_blank_texts():
    blank = ["", "  ", "\n\t", "\u3000", "\u00a0 \u2028"]
    found = tiny.letters()([*blank, "abba"])
    assert found.texts == ["", "", "", "", "", tiny.letters()("abba").text]
    assert tiny.letters()(blank).texts == [""] * 5
    assert tiny.letters()("").text == ""
    every = [chr(c) for c in range(0x3001) if chr(c).isspace()]
    assert set(tiny.letters()([*every, "".join(every)]).texts) == {""}
    assert tiny.letters()(["\u200b", "\x1f\0"]).texts != ["", ""]  # no white space
    assert [len(t.source_tokens) for t in found] == [1, 3, 3, 2, 4, 5]


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
    batches = []

    class Spy:
        def __getattr__(self, name):
            return getattr(pipeline, name)

        def __call__(self, texts):
            batches.append(texts)
            return pipeline(texts)

    translator = tiny.letters()
    pipeline = translator.pipeline
    monkeypatch.setattr(translator, "pipeline", Spy())
    translator.translate(["b", "abba", "", "abbab"], batch_size=2)
    assert batches == [["abbab", "abba"], ["b", ""]]


# What comes with them -----------------------------------------------------------------


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
    typed = text.encode()
    marked = [
        (token.piece, typed[token.start : token.end].decode())
        for token in translation.source_tokens
    ]
    assert marked == [
        *[(" ", " "), (" ", " "), ("é", "É"), ("c", "C"), ("o", "O"), ("l", "L")],
        *[("e", "E"), (" ", " "), ("f", "ﬁ"), ("<unk>", "ﬁ"), ("<unk>", "n")],
        *[(" ", " "), ("é", "E\u0301"), (" ", " "), ("<unk>", "１"), ("</s>", "")],
    ]
    assert translation.source_tokens[-1] == ks.translator.Token(
        "</s>", len(typed), len(typed)
    )


def test_heads_are_averaged():
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


def test_heat_map(found):
    translation = found[0]
    assert translation.heat_map(color=False, width=40) == ks.text.heat_map(
        [*"abba", "</s>"],
        translation.target_tokens,
        translation.alignment,
        color=False,
        width=40,
    )


def test_unknown_words_are_replaced():
    source, target = ks.text.Words(_words("le chat noir")), ks.text.Words(_words("the"))
    options = {"search": ks.Greedy(), "max_length": 4}
    plain = tiny.translator(source, target, **options)
    typed = "le Chat noir X"
    found = plain(typed)
    assert "<unk>" in found.target_tokens and "⁇" in found.text
    words = found.alignment[:, :-1].argmax(axis=1)  # not at the end token
    looked_at = [typed.split()[j] for j in words]
    table = {"Chat": "Tom Cat", "le": "the", "noir": "black"}
    for unknown in ({}, table):
        with_words = ks.Translator(
            plain.model, source, target, unknown=unknown, **options
        )
        replaced = with_words(typed)
        expected = [
            unknown.get(word, word) if token == "<unk>" else token
            for word, token in zip(looked_at, found.target_tokens, strict=True)
        ]
        assert replaced.target_tokens == expected
        assert replaced.text == " ".join(expected)
        assert replaced.score == found.score


def _words(text):
    return ["<pad>", "<s>", "</s>", "<unk>", *text.split()]


def test_long_sources_are_cut():
    source, target = tiny.texts()
    translator = ks.Translator(
        tiny.letters().model, source, target, tiny.letters().search, 7, max_source=4
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = translator(["abba", "cafe"])  # just fits
    with pytest.warns(UserWarning) as caught:
        found = translator(["b", "abbab", *["cafe"] * 2, *["cafecafe"] * 6])
    assert str(caught[0].message) == (
        "Translator has read only the beginning of 7 texts. Expected at most "
        "max_source=4 tokens, received longer texts at number 1, 4, 5, 6, 7 (from 0) "
        "and others. Split them into sentences, or pass a larger max_source."
    )
    assert found.texts[1:5] == [whole.texts[0], *[whole.texts[1]] * 3]
    assert [token.piece for token in found[1].source_tokens] == [*"abba", "</s>"]
    assert found[1].alignment.shape[1] == 5


# Judging ------------------------------------------------------------------------------


def test_score_is_what_the_search_says(found):
    pairs = ks.data.Pairs(SOURCES, found.texts)
    scores = tiny.letters().score(pairs, batch_size=3)
    assert np.allclose(scores, found.scores, rtol=1e-4)
    others = ks.data.Pairs(SOURCES[1:3], [t.alternatives[0].text for t in found[1:3]])
    scores = [t.alternatives[0].score for t in found[1:3]]
    assert np.allclose(tiny.letters().score(others), scores, rtol=1e-4)


def test_scores_are_of_what_is_read():
    """As the exported signature reads it, and as it is translated."""
    options = tiny.letters().search, 7, 4
    translator = ks.Translator(tiny.letters().model, *tiny.texts(), *options)
    pairs = ks.data.Pairs(["abbab", "b", "cafe"], ["xy", "xzyzx", "zy"])
    short = ks.data.Pairs(["abba", "b", "cafe"], ["xy", "xzyz", "zy"])
    with pytest.warns(UserWarning) as caught:
        scores = translator.score(pairs, batch_size=2)
    assert str(caught[0].message) == (
        "Translator has read only the beginning of 2 pairs. Expected at most "
        "max_source=4 tokens, received longer pairs at number 0, 1 (from 0). Split "
        "them into sentences, or pass a larger max_source."
    )
    assert np.allclose(scores, tiny.letters().score(short), rtol=1e-4)
    assert not np.allclose(scores, tiny.letters().score(pairs), rtol=1e-2)
    exported = translator.pipeline.score(pairs.source, pairs.target)
    assert np.allclose(scores, exported.score, rtol=1e-4)


def test_evaluate():
    done = []
    targets = [*PAIRS.target[:3], ["?", PAIRS.target[3]], *["?"] * 3]
    values = tiny.letters().evaluate(
        ks.data.Pairs(SOURCES, targets),
        ["exact_match", ks.metrics.TextMetric("length", lambda texts, _: len(texts))],
        batch_size=4,
        progress=done.append,
    )
    assert values == {"exact_match": pytest.approx(100 * 4 / 7), "length": 7}
    assert done == [4, 7]


# Training: tiny.letters has called `fit` ----------------------------------------------


def test_datasets():
    translator = tiny.letters()
    [(inputs, labels)] = translator.dataset(PAIRS, batch_size=9, shuffle=False)
    texts = translator.source_text.decode(inputs["source"]).numpy().tolist()
    assert sorted(t.decode() for t in texts) == sorted(s.lower() for s in SOURCES)
    targets = translator.target_text.decode(labels).numpy().tolist()
    assert sorted(t.decode() for t in targets) == sorted(PAIRS.target)
    short = translator.dataset(PAIRS, batch_size=9, max_tokens=4, shuffle=False)
    assert [len(labels) for _, labels in short] == [4]


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


# Errors -------------------------------------------------------------------------------


def with_head(translator, vocabulary):
    """Its model with a head of another size."""
    model = translator.model
    return ks.Seq2Seq(
        source_embedding=keras.layers.Embedding(15, 4),
        encoder=ks.BiEncoder(4),
        bridge=ks.layers.ZeroBridge(4),
        target_embedding=model.target_embedding,
        decoder=ks.AttentionDecoder(ks.layers.ContextCell(4, cell="gru")),
        head=ks.layers.OutputHead(vocabulary),
    )


@pytest.mark.parametrize(
    "call, text",
    [
        (
            lambda t: t.translate("abba"),
            "Translator.translate got one string. Expected a list of strings, received "
            "'abba'. Put it into a list, or call the translator itself: "
            "translator(text).",
        ),
        (
            lambda t: t(["abba", b"abba"]),
            "Translator got a value that is not a string. Expected a list of strings, "
            "received b'abba' at position 1. Decode bytes first.",
        ),
        (
            lambda t: t.translate(["abba"], batch_size=0),
            "Translator.translate got an unusable batch_size. Expected a positive "
            "integer, received batch_size=0. Pass a Python int, 1 or more.",
        ),
        (
            lambda t: t.score(PAIRS, batch_size=2.0),
            "Translator.score got an unusable batch_size. Expected a positive "
            "integer, received batch_size=2.0. Pass a Python int, 1 or more.",
        ),
        (
            lambda t: ks.Translator(t.model, t.target_text, t.target_text),
            "Translator got a source_text that does not fit the model. Expected a "
            "vocabulary of 15 tokens, as many as the model embeds, received Characters "
            "with 8. Pass the processor with which the model was trained, or build the "
            "model with source_vocabulary=8.",
        ),
        (
            lambda t: ks.Translator(t.model, t.source_text, t.source_text),
            "Translator got a target_text that does not fit the model. Expected a "
            "vocabulary of 8 tokens, as many as the model embeds, received Characters "
            "with 15. Pass the processor with which the model was trained, or build "
            "the model with target_vocabulary=15.",
        ),
        (
            lambda t: ks.Translator(with_head(t, 9), t.source_text, t.target_text),
            "Translator got a target_text that does not fit the model. Expected a "
            "vocabulary of 9 tokens, as many as the model predicts, received "
            "Characters with 8. Pass the processor with which the model was trained, "
            "or build the model with target_vocabulary=8.",
        ),
        (
            lambda t: ks.Translator(t.model, t.source_text, t.target_text, unknown={}),
            "Pipeline can replace unknown words only in texts of words. Expected a "
            "target_text of class Words, received Characters and unknown={}. Leave "
            "`unknown` out: subwords have hardly any unknown tokens.",
        ),
    ],
)
def test_errors(call, text):
    with pytest.raises(ValueError) as caught:
        call(tiny.letters())
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"search": "beam"},
            "decode got an unusable search. Expected Greedy(), Sample(...) or "
            "BeamSearch(...), received 'beam'. Pass an instance, e.g. Greedy().",
        ),
        (
            {"max_length": "x"},
            "decode got an unusable max_length. Expected an integer or a "
            "RelativeLength, received 'x'. Pass e.g. max_length=100.",
        ),
        (
            {"unknown": ["a"]},
            "Translator got an unusable dictionary of unknown words. Expected a dict "
            "from source words to target words, or None, received unknown=['a']. Pass "
            "{} to copy the source word.",
        ),
        (
            {"unknown": {"a": 1}},
            "Translator got an unusable dictionary of unknown words. Expected a dict "
            "from source words to target words, or None, received unknown={'a': 1}. "
            "Pass {} to copy the source word.",
        ),
        (
            {"target_text": "characters"},
            "Translator got an unusable target_text. Expected a TextProcessor, "
            "received 'characters'. Pass e.g. Characters.learn(texts).",
        ),
    ],
)
def test_what_it_is_made_of(options, message):
    source_text, target_text = tiny.texts()
    model = tiny.letters().model
    given = {"source_text": source_text, "target_text": target_text, **options}
    with pytest.raises(ValueError) as caught:
        ks.Translator(model, **given)
    assert str(caught.value) == message


@pytest.mark.parametrize("max_source", [0, -1, "5"])
def test_max_source_is_a_count(max_source):
    with pytest.raises(ValueError, match="Translator got an unusable max_source"):
        ks.Translator(tiny.letters().model, *tiny.texts(), max_source=max_source)


def test_every_model_of_an_ensemble_fits():
    source_text, target_text = tiny.texts()
    model = tiny.letters().model
    with pytest.raises(ValueError, match="a source_text that does not fit the model"):
        ks.Translator(
            ks.decoding.Ensemble([model, model]),
            ks.text.Words.learn(["a"]),
            target_text,
        )


def test_one_metric_by_its_name():
    pairs = ks.data.Pairs(["a"], ["b"])
    assert tiny.letters().evaluate(pairs, "exact_match") == {"exact_match": 0.0}
