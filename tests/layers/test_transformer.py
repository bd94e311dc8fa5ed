"""The layers of a Transformer, beside Keras's, and its past in a search."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.testing.case import save_and_load
from keras_seqattn.testing.compare import flat, same
from tests.contract.rows import ATTENTIONS

L, D = ks.layers, ks.decoding
RNG = np.random.default_rng(2017)


def normal(*shape):
    return RNG.normal(size=shape).astype("float32")


def model(vocabulary=20, units=8, noise=0.5, **options):
    """A model whose weights are far from their initial values."""
    embedding = keras.layers.Embedding(vocabulary, units)
    made = ks.Seq2Seq(
        source_embedding=embedding,
        encoder=L.TransformerEncoder(units, layers=2, heads=2),
        decoder=L.TransformerDecoder(units, layers=2, heads=2, **options),
        head=L.OutputHead(vocabulary),
    )
    for weight in made.weights:
        weight.assign(weight + noise * RNG.normal(size=weight.shape))
    return made


@pytest.mark.parametrize("causal", [False, True])
def test_multi_head_attention_is_that_of_keras(causal):
    x, mask = normal(3, 5, 6), np.arange(5) < np.array([[5], [3], [1]])
    theirs = keras.layers.MultiHeadAttention(num_heads=2, key_dim=4, output_shape=7)
    ours = L.MultiHeadAttention(8, heads=2, value_units=7)
    options = {"use_causal_mask": causal, "return_attention_scores": True}
    expected = theirs(x, x, value_mask=mask, **options)
    ours(x, x)
    for weight in theirs.weights:
        part, name = weight.path.split("/")[-2:]
        if (part, name) != ("key", "bias"):  # it has no effect
            dense = {"attention_output": "output"}.get(part, part) + "_projection"
            own = getattr(getattr(ours, dense), name)
            own.assign(np.reshape(normal(*weight.shape), own.shape))
            weight.assign(np.reshape(own, weight.shape))
    expected = theirs(x, x, value_mask=mask, **options)
    received = ours(x, x, value_mask=mask, **options)
    same(flat(expected), flat(received), 1e-6, "Keras")


@pytest.mark.parametrize("row", ATTENTIONS, ids=str)
def test_no_mechanism_looks_ahead(row):
    """What comes later changes nothing, also how much comes."""
    layer, x = row.make(), normal(2, 5, 6)
    changed = np.concatenate([x[:, :3], normal(2, 2, 6)], axis=1)
    options = {"use_causal_mask": True, "return_attention_scores": True}
    context, alignment = layer(x, x, **options)
    other, _ = layer(changed, changed, **options)
    mask = np.arange(5) < np.array([[3], [5]])
    shorter, _ = layer(x, x, value_mask=mask, query_mask=mask, **options)
    same(flat([context[:, :3]]), flat([other[:, :3]]), 1e-6, f"{row}, later values")
    same(flat([context[:1, :3]]), flat([shorter[:1, :3]]), 1e-6, f"{row}, fewer values")
    assert not np.any(np.triu(alignment, 1))


@pytest.mark.parametrize("max_length", [None, 6])
def test_steps_are_the_whole(max_length):
    """Also with a self-attention that is not the paper's."""
    made = model(
        self_attention=ks.BahdanauAttention(5),
        attention=L.MultiHeadAdditiveAttention(6, heads=2, value_units=8),
    )
    inputs, values = normal(3, 6, 8), normal(3, 4, 8)
    mask = np.arange(4) < np.array([[4], [2], [1]])
    whole = made.decoder(inputs, values, value_mask=mask, return_attention_scores=True)
    memory = made.decoder.prepare(values, mask)
    state = made.decoder.initial_state(memory, max_length=max_length)
    for t in range(6):
        output, alignment, state = made.decoder.step(inputs[:, t], state, memory)
        same(
            flat([x[:, t] for x in whole]), flat([output, alignment]), 2e-6, f"step {t}"
        )


@pytest.mark.parametrize("search", [D.Greedy(), D.BeamSearch(4, n_best=3)], ids=str)
def test_searches_agree_with_whole_sequences(search):
    """The past gets room when it needs it, or has room for all from the start."""
    made = model()
    source = RNG.integers(4, 20, size=(5, 7))
    source[1, 4:] = source[2, 1:] = 0

    def run(source):
        return ks.decode(made, source, search, max_length=9)

    decoded = run(source)
    for n in range(decoded.tokens.shape[1]):
        scored = D.score(made, source, decoded.tokens[:, n])
        same(flat([decoded.scores[:, n]]), flat([scored.scores]), 1e-5, "scores")
        same(
            flat([decoded.alignments[:, n]]),
            flat([scored.alignments]),
            1e-5,
            "alignments",
        )
    by_xla = isinstance(search, D.BeamSearch)
    received = tf.function(run, jit_compile=by_xla)(tf.constant(source))
    size = decoded.tokens.shape[-1]
    assert np.array_equal(received.tokens[..., :size], decoded.tokens)
    same(flat([received.scores]), flat([decoded.scores]), 1e-5, "a room for all")


def test_a_full_past_keeps_what_is_alive():
    """Two hypotheses with one parent have its node in common; the other one is dropped.

    With room left, nothing is copied.
    """
    nodes, own = tf.random.normal([3, 2, 4, 5]), np.zeros((3, 2, 4), bool)
    own[:, :, 1] = own[:2, 0, 2] = True
    past = ks.types.Past([nodes], tf.constant(own), tf.fill([3], 4))
    state = {"past": past, "other": tf.zeros([3, 2])}
    made = tf.function(lambda state: D.model_state.make_room(state))
    alive = made(D.model_state.with_any_room(state))["past"]
    assert alive.used.numpy().tolist() == [2, 2, 2]
    assert alive.is_own.shape[-1] >= 4 and not np.any(alive.is_own[..., 2:])
    assert np.array_equal(alive.nodes[0][:2, :, :2], nodes[:2, :, 1:3])
    again = made({**state, "past": alive})["past"]
    same(flat(list(again)), flat(list(alive)), 0.0, "a past with room")


@pytest.mark.parametrize("encoder", ["transformer", "recurrent"])
@pytest.mark.parametrize("decoder", ["transformer", "recurrent", "recurrent heads"])
def test_all_alignments_by_name(encoder, decoder):
    """Of every mixture: rows of real tokens sum to 1, and read real tokens only."""
    attention = ks.BahdanauAttention(4)
    if "heads" in decoder:
        attention = L.MultiHeadAdditiveAttention(6, heads=2)
    recurrent = ks.AttentionDecoder(L.BahdanauCell(8, attention))
    is_recurrent = "recurrent" in decoder
    made = ks.Seq2Seq(
        keras.layers.Embedding(20, 8),
        ks.BiEncoder(4) if encoder == "recurrent" else L.TransformerEncoder(8, 3, 2),
        recurrent if is_recurrent else L.TransformerDecoder(8, 2, 2),
        L.OutputHead(20),
        bridge=L.DenseBridge(8, inputs="mean") if is_recurrent else None,
    )
    inputs = {k: RNG.integers(4, 20, (3, n)) for k, n in SIZES.items()}
    inputs["source"][1, 3:] = inputs["target"][2, 2:] = 0
    found, last = made.alignments(inputs), "decoder"
    names = [f"encoder/self/layer {n}" for n in (1, 2, 3) if encoder != "recurrent"]
    if not is_recurrent:
        kinds, last = ["layer", "self/layer"], "decoder/layer 2"
        names += [f"decoder/{kind} {n}" for kind in kinds for n in (1, 2)]
    names += ["decoder"] * is_recurrent
    assert [*found] == [*made.alignment_names] == names
    for name, alignment in found.items():
        rows = "source" if name.startswith("encoder") else "target"
        columns = "target" if name.startswith("decoder/self") else "source"
        heads = 1 if decoder == "recurrent" and name == "decoder" else 2
        assert alignment.shape == (3, heads, SIZES[rows], SIZES[columns])
        sums = np.broadcast_to(inputs[rows][:, None] > 0, alignment.shape[:3])
        np.testing.assert_allclose(np.sum(alignment, axis=-1), sums, atol=1e-5)
        assert not np.any(np.where(inputs[columns][:, None, None], 0, alignment))
        assert columns != "target" or not np.any(np.triu(alignment, 1))
    _, expected = made(inputs, return_attention_scores=True)
    if expected.shape[1:] == (4, 5):  # without heads
        found[last] = np.mean(found[last], axis=1)
    np.testing.assert_allclose(found[last], expected, atol=1e-6)
    assert [*made.alignments(inputs, last)] == [last]


SIZES = {"source": 5, "target": 4}


@pytest.mark.parametrize("chosen", [0, "layer 1", "layer 2/head 1", "layer 1/head 2"])
def test_the_chosen_alignment(chosen):
    """The same in whole sequences, in a search, and after loading."""
    made = model(alignment=chosen)
    source = RNG.integers(4, 20, size=(2, 5))
    decoded = ks.decode(made, source, D.BeamSearch(2), max_length=4)
    start = np.full((2, 1), 1)
    target = np.concatenate([start, decoded.tokens[:, 0, :-1]], axis=1)
    inputs = {"source": source, "target": target}
    layer, _, head = str(chosen).partition("/head ")
    name = "decoder/layer 1" if chosen == 0 else f"decoder/{layer}"
    expected = made.alignments(inputs)[name].numpy()
    expected = expected[:, int(head) - 1] if head else expected.mean(axis=1)
    steps = np.arange(target.shape[1]) < decoded.lengths[:, :1]
    for each in (decoded.alignments[:, 0], reloaded_alignment(made, inputs)):
        np.testing.assert_allclose(each[steps], expected[steps], atol=1e-5)


def reloaded_alignment(made, inputs):
    return save_and_load(made)(inputs, return_attention_scores=True)[1].numpy()


def test_alignments_of_symbolic_tensors():
    """A Functional model has the shapes that its layers return."""
    inputs, value = keras.Input((4, 8)), keras.Input((5, 8))
    layers = L.TransformerEncoder(8, 1, 2), L.TransformerDecoder(8, 1, 2)
    (encoded, own) = layers[0](value, return_attention_scores=True)
    _, all_of_decoder = layers[1](inputs, encoded, return_attention_scores="all")
    functional = keras.Model([inputs, value], {**own, "of decoder": all_of_decoder})
    for declared, real in zip(
        keras.tree.flatten(functional.output),
        keras.tree.flatten(functional([normal(2, 4, 8), normal(2, 5, 8)])),
        strict=True,
    ):
        assert declared.shape[1:] == real.shape[1:]
