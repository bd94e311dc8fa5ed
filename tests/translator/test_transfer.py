"""A translator that starts with the weights of a trained one."""

import keras
import numpy as np
import pytest

import keras_seqattn as ks
from keras_seqattn import zoo
from keras_seqattn.translator import recommended_model, transfer
from keras_seqattn.translator.vocabulary_weights import vocabulary_weights
from tests.raised import check_error, rows
from tests.translator import tiny

OLD = ["a b c d", "v w x y"]
NEW = ["d a q", "y v r s"]


def texts(sides, joint=False):
    if joint:
        return 2 * [ks.text.Words.learn(sides)]
    return [ks.text.Words.learn([side]) for side in sides]


def shared(source, target):
    embedding = keras.layers.ReversibleEmbedding(source, 4)
    return ks.Seq2Seq(
        embedding,
        ks.BiEncoder(4),
        ks.AttentionDecoder(
            ks.layers.BahdanauCell(4, attention=ks.BahdanauAttention(4))
        ),
        ks.layers.OutputHead(target, embedding=embedding),
        bridge=ks.layers.DenseBridge(4),
    )


def transformer(source, target):
    sizes = {"source_vocabulary": source, "target_vocabulary": target}
    return zoo.vaswani2017("small", **sizes, units=8, feed_forward_units=8)


def with_dense_head(source, target):
    made = recommended_model(source, target, units=4)
    config = {**made.get_config(), "head_embedding": None}
    head = keras.saving.serialize_keras_object(keras.layers.Dense(target))
    return ks.Seq2Seq.from_config({**config, "head": head})


def sequence(source, target):
    """Its source embedding is not the layer itself."""
    layers = [keras.Input((None,)), keras.layers.Embedding(source, 4)]
    return ks.Seq2Seq(
        keras.Sequential(layers),
        ks.BiEncoder(4),
        ks.AttentionDecoder(
            ks.layers.BahdanauCell(4, attention=ks.BahdanauAttention(4))
        ),
        ks.layers.OutputHead(target),
        target_embedding=keras.layers.Embedding(target, 4),
    )


def untied(source, target, **sizes):
    sizes |= {"source_vocabulary": source, "target_vocabulary": target}
    return zoo.bahdanau2015("small", **sizes)


def trained(make, joint=False):
    """A translator of random numbers, so that no two rows are equal."""
    made = texts(OLD, joint)
    model = make(*(text.vocabulary_size for text in made))
    draw = np.random.default_rng(0)
    model.set_weights([draw.normal(size=w.shape) for w in model.get_weights()])
    return ks.Translator(model, *made)


def row_values(translator):
    """`{(name, piece): values}` of all weights with a row for each token."""
    return {
        (name, piece): row
        for name, weight in vocabulary_weights(translator.model).items()
        for piece, row in zip(
            getattr(translator, f"{weight.side}_text").vocabulary,
            weight.rows(),
            strict=True,
        )
    }


MODELS = {
    "untied": untied,
    "tied": lambda *sizes: recommended_model(*sizes, units=4),
    "transformer": transformer,
    "sequence": sequence,
    "shared": shared,
}


@pytest.mark.parametrize("name", MODELS)
def test_shared_tokens_keep_their_rows(name):
    old = trained(MODELS[name], name == "shared")
    before, printed = old.model.get_weights(), []
    new = transfer(old, *texts(NEW, name == "shared"), print_fn=printed.append)
    rows, known = row_values(new), row_values(old)
    assert {piece for _, piece in rows} >= {"a", "q", "v", "s", "</s>"}
    for key, values in rows.items():
        is_shared = key in known
        assert is_shared == (key[1] not in ("q", "r", "s"))
        assert not is_shared or np.array_equal(values, known[key])
    ids = {id(w.variable) for w in vocabulary_weights(new.model).values()}
    others = [i for i, w in enumerate(new.model.weights) if id(w) not in ids]
    assert len(others) > 10
    for i in others:
        np.testing.assert_array_equal(new.model.weights[i], old.model.weights[i])
    assert printed[0].endswith(f"\nKept {len(others)} of {len(others)} other weights.")
    for a, b in zip(before, old.model.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_same_vocabulary_translates_the_same(capsys):
    old = tiny.letters()
    new = transfer(old).with_search(tiny.BEAM)
    assert capsys.readouterr().out == "Kept all weights: no token is new.\n"
    assert new.translate(tiny.SOURCES).texts == old.translate(tiny.SOURCES).texts
    assert new.model is not old.model


def test_other_sizes_keep_what_fits(capsys):
    old = trained(untied)
    transfer(old, model=untied(8, 8, units=12))
    printed = capsys.readouterr().out
    assert "Kept 8 of 8 rows of the source embedding, 8 of 8" in printed
    assert "\nKept 3 of 18 other weights.\n" in printed  # with W_p E y and v_a
    other = untied(8, 8)
    other.decoder.cell.recurrence.cells[
        0
    ].kind = "gru"  # its weights mean something else
    transfer(old, model=other)
    assert "\nKept 13 of 18 other weights.\n" in capsys.readouterr().out


def other(old=None, **options):
    transfer(old or trained(MODELS["tied"]), print_fn=lambda line: None, **options)


def quantized():
    old = trained(MODELS["tied"])
    old.model.source_embedding.quantize("int8")
    return old


class Mine(ks.Seq2Seq):
    pass


def mine():
    return Mine.from_config(recommended_model(8, 8, units=4).get_config())


def new_texts():
    return dict(zip(("source_text", "target_text"), texts(NEW), strict=True))


def fit(**options):
    ks.Translator.fit_pairs([("a b", "v w")] * 40, verbose=0, **options)


ERRORS = {
    "transfer got no translator to start from ... 'runs/mine'. Load it first": lambda: (
        transfer("runs/mine")
    ),
    "transfer got two vocabularies for a model with one embedding ... 7 source tokens "
    "and 8 target tokens. Learn one": lambda: other(
        trained(shared, True), **new_texts()
    ),
    "transfer cannot change the vocabulary of this model ... <Seq2Seq name=": lambda: (
        other(trained(with_dense_head), **new_texts())
    ),
    "transfer got a quantised model ... 'source_embedding' with integers. Start "
    "from": lambda: other(quantized()),
    "transfer got a model of another class than the trained one. Expected a Seq2Seq, "
    "received Mine. Leave the": lambda: other(model=mine()),
    "transfer found no weight that fits the new model ... 'recommended_model' and "
    "'recommended_model'": lambda: other(model=recommended_model(8, 8, units=6)),
    "Translator.fit_pairs got an unusable init_from ... received 7. Pass": lambda: fit(
        init_from=7
    ),
    "Translator.load found no translator ... 'nowhere'": lambda: fit(
        init_from="nowhere"
    ),
}


@pytest.mark.parametrize("call, what, parts", rows(ERRORS))
def test_error(call, what, parts):
    check_error(call, what, *parts)


@pytest.mark.slow
def test_fit_pairs_from_a_trained_translator(tmp_path, capsys):
    """It knows its sentences before it learns, and a frozen encoder stays."""
    old = tiny.letters()
    old.save(tmp_path / "old")
    pairs = ks.data.Pairs(tiny.SOURCES * 6, tiny.TARGETS * 6)
    how = {"epochs": 1, "verbose": 2, "freeze": ["encoder"]}
    new = ks.Translator.fit_pairs(pairs, tiny.PAIRS, init_from=tmp_path / "old", **how)
    printed = capsys.readouterr().out
    assert "epochs" in printed and "source_text" not in printed
    assert new.evaluate(tiny.PAIRS, "exact_match")["exact_match"] == 100
    for a, b in zip(old.model.encoder.weights, new.model.encoder.weights, strict=True):
        np.testing.assert_array_equal(a, b)
    assert new.model.encoder.trainable and new.model.encoder.trainable_weights
    assert not np.array_equal(old.model.head.weights[0], new.model.head.weights[0])
