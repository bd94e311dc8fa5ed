"""`HubTokenizer`: the ids of KerasHub's tokenizers, their offsets, files and graphs."""

import unicodedata

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_seqattn.text import HubTokenizer, TextProcessor
from tests import hub

TEXTS = [
    *("The quick  fox,\tété!\n", "Ünï ½ café…x", "中文 ẞ ﬁne the naïve\u00adx"),
    *(
        "e\u0301te\u0301 한국어 x'1",
        "\u200bx\x00y",
        "don't </s> 🙂👩\u200d👧",
        "x" * 150,
    ),
]
MAKERS = {
    "bert": hub.bert_tokenizer,
    "bert lowercase": lambda: hub.bert_tokenizer(lowercase=True),
    "bert uncased": lambda: hub.bert_tokenizer(lowercase=True, strip_accents=True),
    "bert without cjk": lambda: hub.bert_tokenizer(split_on_cjk=False),
    "roberta": hub.roberta_tokenizer,
    "roberta with a space": lambda: hub.roberta_tokenizer(add_prefix_space=True),
    "t5": hub.t5_tokenizer,
    "xlm_roberta": hub.xlm_roberta_tokenizer,
}
IN_ORDER = pytest.mark.parametrize(
    "make",
    [
        # Byte-level BPE takes seconds to trace.
        pytest.param(x, id=k, marks=pytest.mark.slow if "roberta" in k[:7] else ())
        for k, x in MAKERS.items()
    ],
)


def ids_of_keras_hub(tokenizer, texts, unknown):
    """What the tokenizer itself says, outside of graphs."""
    for text in texts:
        ids = np.asarray(tokenizer.tokenize(text.replace("\0", " ")), "int32")
        yield np.where(ids < 0, unknown, ids).tolist()


@IN_ORDER
def test_ids_offsets_graphs_and_files(make, tmp_path):
    tokenizer = make()
    text = HubTokenizer(tokenizer)
    ids = text.encode(TEXTS)
    expected = list(ids_of_keras_hub(tokenizer, TEXTS, text.tokens.unknown))
    assert ids.to_list() == expected
    tokens = text.encode_with_offsets(TEXTS)
    assert tokens.ids.to_list() == expected
    for source, *rows in zip(TEXTS, *(x.to_list() for x in tokens[1:]), strict=True):
        check_offsets(source, *rows)
    starts = text.tokens.start != text.tokens.end
    HubTokenizer(tokenizer, use_start=starts).save(tmp_path)
    loaded = TextProcessor.load(tmp_path)
    assert loaded.tokens == text.tokens
    assert loaded.vocabulary == text.vocabulary
    keras.utils.clear_session()  # which forgets models of SentencePiece
    tf.random.set_seed(1)
    started = loaded.encode_with_offsets(tf.constant(TEXTS))
    start = [text.tokens.start] * starts
    assert started.ids.to_list() == [start + row for row in expected]
    assert not starts or started.ends[:, :1].values.numpy().tolist() == [0] * len(TEXTS)
    assert (
        text.decode(ids).numpy().tolist() == loaded.decode(started.ids).numpy().tolist()
    )
    assert loaded.decode(loaded.encode("the fox")).numpy() == b"the fox"
    assert loaded.encode([""]).to_list() in ([start], [[*start, *text.encode(" ")]])
    [graph] = tf.data.Dataset.from_tensors(TEXTS).map(loaded.encode)
    assert graph.to_list() == started.ids.to_list()


def check_offsets(source, pieces, starts, ends):
    """Each piece is spelled, but for case, accents and marks of words, by its bytes."""
    source = source.encode()
    assert starts == sorted(starts)
    for piece, start, end in zip(pieces, starts, ends, strict=True):
        assert 0 <= start <= end <= len(source)
        spelled = source[start:end].decode()  # no character is cut
        letters = piece.decode().removeprefix("##").strip("▁Ġ")
        if letters.isascii() and letters.isalpha():
            assert plain(spelled)[:1] in ("", letters[0].lower(), "ﬁ", "ß")


def plain(text):
    return unicodedata.normalize("NFD", text).lower()


def test_a_saved_model_holds_the_tokenizer(tmp_path):
    for name, make in MAKERS.items():
        if name in ("bert uncased", "xlm_roberta"):
            module = HubTokenizer(make(), use_start=True)
            spec = tf.TensorSpec([None], tf.string)
            texts = tf.function(lambda x, m=module: m.decode(m.encode(x)), [spec])
            holder = tf.Module()
            holder.text = module
            tf.saved_model.save(holder, tmp_path / name, signatures=texts)
            served = tf.saved_model.load(tmp_path / name).signatures["serving_default"]
            [found] = served(tf.constant(["the fox"])).values()
            assert found.numpy().tolist() == [b"the fox"]


def test_special_tokens():
    special = [HubTokenizer(make()).tokens[:4] for make in MAKERS.values()]
    assert special == [(0, 2, 3, 1)] * 4 + [(1, 0, 2, 3)] * 2 + [
        (0, 1, 1, 2),
        (1, 0, 2, 3),
    ]
    assert (
        HubTokenizer(hub.roberta_tokenizer("other")).tokens.unknown == 1
    )  # never used


def test_a_file_cannot_name_other_files(tmp_path):
    text = HubTokenizer(hub.bert_tokenizer())
    text.save(tmp_path)
    path = tmp_path / "tokenizer.json"
    content = path.read_text()
    path.write_text(content.replace('"vocabulary": null', '"vocabulary": "/etc/hosts"'))
    assert path.read_text() != content
    assert TextProcessor.load(tmp_path).vocabulary == text.vocabulary


def test_from_preset(tmp_path):
    hub.bert().save_to_preset(tmp_path)
    hub.bert_tokenizer().save_to_preset(tmp_path)
    text = HubTokenizer.from_preset(str(tmp_path), use_start=True)
    assert text.pieces(text.encode("the")).numpy().tolist() == [b"[CLS]", b"the"]
