"""Calls of `decode` and its relatives that fail, and what their errors say."""

import tempfile
from types import SimpleNamespace
from typing import NamedTuple

import keras
import numpy as np
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.decoding import Ensemble, RelativeLength, Sample, Shortlist, score
from tests.decoding.fakes import Speller
from tests.errors.valid_arguments import UNITS, bahdanau_cell

IDS = np.array([[5, 6, 2], [7, 2, 0]])
TWO = [Speller(), Speller()]


def decode(source=IDS, search=None, max_length=4, model=None, **options):
    search = ks.Greedy() if search is None else search
    return ks.decode(model or Speller(), source, search, max_length, **options)


def seq2seq(source_embedding=None, **options):
    source_embedding = source_embedding or keras.layers.Embedding(9, 4)
    decoder, head = ks.AttentionDecoder(bahdanau_cell()), ks.layers.OutputHead(9)
    return ks.Seq2Seq(source_embedding, ks.BiEncoder(UNITS), decoder, head, **options)


def four_positions():
    positions = ks.layers.PositionEmbedding("learned", 4)
    return ks.Seq2Seq(
        keras.layers.Embedding(9, 4),
        ks.BiEncoder(UNITS),
        ks.layers.TransformerDecoder(4, layers=1, heads=2, positions=positions),
        ks.layers.OutputHead(9),
    )


class WithoutMask(Speller):
    def start(self, source):
        started = super().start(source)
        return started._replace(memory=started.memory._replace(mask=None))


class WithoutSize(Speller):
    def step(self, tokens, state, memory):
        step = super().step(tokens, state, memory)
        shape = tf.shape(step.output)
        size = tf.random.uniform([], shape[-1], shape[-1] + 1, tf.int32)
        output = tf.reshape(step.output, tf.concat([shape[:-1], [size]], axis=0))
        return step._replace(output=output)


class Tuple(NamedTuple):
    name: str = "model"
    start, step = Speller().start, Speller().step


NOTHING = np.full([9, 1], -1)
WHOLE = Shortlist(NOTHING, range(9))


class Adding(ks.layers.OutputHead):
    def call(self, outputs, mask=None, training=None):
        return super().call(outputs, mask, training) + 1.0


def shortlist_of(**arrays):
    """Load a shortlist from a file with other arrays; None leaves one out."""
    arrays = {"table": NOTHING, "frequent": range(9), "common": 1, "size": 5, **arrays}
    with tempfile.NamedTemporaryFile(suffix=".npz") as file:
        np.savez(file, **{k: v for k, v in arrays.items() if v is not None})
        file.flush()
        return Shortlist.load(file.name)


def among(table=NOTHING, model=None, source=((5, 6, 2), (7, 2, 0)), **options):
    prefix = options.pop("prefix", None)
    shortlist = Shortlist(table, range(9), **options)
    model = model or seq2seq()
    return decode(np.array(source), model=model, shortlist=shortlist, prefix=prefix)


def with_head(head):
    model = seq2seq()
    model.head = head
    head.build((None, 3))
    return model


def quantized():
    model = seq2seq()
    model.head.projection.quantize("int8")
    return model


OPTIONS = {
    "BeamSearch got contradictory ... width=2": lambda: ks.BeamSearch(2, n_best=3),
    "BeamSearch got an unusable coverage_penalty ... received -0.5. Use 0 for no "
    "penalty": lambda: ks.BeamSearch(2, coverage_penalty=-0.5),
    "Greedy got an unusable min_length. Expected an integer, 0 or more, received "
    "min_length=2.5. Pass a Python int, 0 or more.": lambda: ks.Greedy(min_length=2.5),
    "Greedy got an unusable forbidden_tokens ... forbidden_tokens='the'. Pass a Python "
    "int, 0 or more": lambda: ks.Greedy(forbidden_tokens=["the"]),
    "Greedy got unusable ... Pass e.g. (3,)": lambda: ks.Greedy(forbidden_tokens=3),
    "Sample got an unusable temperature ... 0.0": lambda: Sample(temperature=0.0),
    "Sample got an unusable temperature. Expected a finite number, received "
    "temperature=nan. Pass a Python float.": lambda: Sample(temperature=float("nan")),
    "Sample got an unusable top_p ... top_p=1.5": lambda: Sample(top_p=1.5),
    "RelativeLength got numbers ... 0.0, plus=0": lambda: RelativeLength(0.0, plus=0),
    "Ensemble got": {
        "no models ... received []": lambda: Ensemble([]),
        "an unknown ... received 'mean'": lambda: Ensemble([Speller()], combine="mean"),
        "unusable weights ... 2 models ... received [1]": lambda: Ensemble(
            TWO, weights=[1]
        ),
        "unusable weights ... [0, 0]": lambda: Ensemble(TWO, weights=[0, 0]),
    },
}
ARGUMENTS = {
    "decode got special tokens ... pad=0, start=0": lambda: decode(tokens=(0, 0, 2, 3)),
    "decode got a padding that its model does not mask. Expected pad=5, received "
    "SpecialTokens(pad=0, start=1, end=2, unknown=3). Pass tokens=SpecialTokens(pad=5, "
    "...) with the other ids.": lambda: decode(model=seq2seq(pad=5)),
    "decode got a padding that its model does not mask ... pad=5, received "
    "SpecialTokens(pad=0,": lambda: decode(model=Ensemble([seq2seq(), seq2seq(pad=5)])),
    "decode got models that pad their sources with different ids ... [0, 4]": lambda: (
        decode(model=Ensemble([seq2seq(), seq2seq(source_pad=4)]))
    ),
    "decode got ids outside of the vocabulary ... [0, 9), received [50, "
    "9]. Check the SpecialTokens and the search": lambda: decode(
        model=seq2seq(), search=ks.Greedy(forbidden_tokens=(9,)), tokens=(0, 1, 50, 3)
    ),
    "decode got logits of unknown size": lambda: decode(model=WithoutSize()),
    "decode got a model that does not ... a Tuple": lambda: decode(model=Tuple()),
    "decode got an unusable model. Expected an object with the methods start(source) "
    "and step(tokens, state, memory), received <class 'tests.decoding.fakes.Speller'>. "
    "Pass a Seq2Seq, an Ensemble, or a model of your own (see "
    "StepModel).": lambda: decode(model=Speller),
    "decode got an unusable model ... <Dense name=head, built=False>. Pass a Seq2Seq, "
    "an Ensemble": lambda: decode(model=keras.layers.Dense(2, name="head")),
    "decode got an unusable model ... Pass its model: translator.model": lambda: decode(
        model=SimpleNamespace(model=Speller())
    ),
    "decode got unusable tokens ... tokens=1. Pass": lambda: decode(tokens=1),
    "decode got a source that is not a tensor ... received [[5, 6], [7]]. Pad": (
        lambda: decode([[5, 6], [7]])
    ),
    "decode got an unusable search ... Greedy'>": lambda: decode(search=ks.Greedy),
    "decode got an unusable max_length ... None": lambda: decode(max_length=None),
    "decode got a max_length beyond the positions that its model has learned. Expected "
    "at most 4, received 5. Pass max_length=4, or": lambda: decode(
        max_length=5, model=Ensemble([four_positions()])
    ),
    "decode got a max_length beyond ... received RelativeLength": lambda: decode(
        max_length=RelativeLength(), model=four_positions()
    ),
    "decode got an unusable max_length ... max_length=0": lambda: decode(max_length=0),
    "decode got an unusable source. Expected [batch, source] with at least one "
    "sentence and one position, received shape (0, 3). For an empty sentence, pass one "
    "position with padding; without sentences, do not call "
    "decode.": lambda: decode(np.zeros([0, 3], "int32")),
    "decode got an unusable source ... (0, 3). For an empty sentence, pass "
    "one": lambda: tf.function(decode, autograph=False)(tf.zeros([0, 3], tf.int32)),
    "decode got an unusable ... (2, 0)": lambda: decode(np.zeros([2, 0], "int32")),
    "decode got an unusable source ... (3,)": lambda: decode(IDS[0]),
    "decode got texts instead of token ids. Expected integers [batch, source], "
    "received strings of shape (1,). Use a Translator, or encode the texts with a text "
    "processor and add the end token.": lambda: decode(["a b"]),
    "decode got a RelativeLength for a source without ids. Expected an "
    "integer tensor [batch, source], received float32 (2, 3, 4). Pass an "
    "integer as max_length.": lambda: decode(
        np.ones([2, 3, 4], "float32"), max_length=RelativeLength()
    ),
    "BeamSearch got contradictory options ... min_length=5 and max_length=4. "
    "Lower": lambda: decode(search=ks.BeamSearch(2, min_length=5)),
    "BeamSearch got a coverage_penalty for a memory without a mask": lambda: decode(
        model=WithoutMask(), search=ks.BeamSearch(coverage_penalty=0.1)
    ),
    "Greedy got contradictory options ... min_length=5 and max_length=3": lambda: (
        decode(search=ks.Greedy(min_length=5), max_length=RelativeLength(at_most=3))
    ),
    "Greedy got contradictory options ... forbidden_tokens=(2, 3) and end=2. "
    "For": lambda: decode(search=ks.Greedy(forbidden_tokens=[2, 3])),
    "Ensemble got models with different vocabularies ... [7, 9]. Pass models with the "
    "same target vocabulary": lambda: decode(model=Ensemble([Speller(7), Speller(9)])),
}
PREFIXES = {
    "decode got an unusable prefix ... (3, 1)": lambda: decode(prefix=[[5], [6], [7]]),
    "decode got an unusable prefix ... (2,)": lambda: decode(prefix=[5, 6]),
    "decode got a prefix ... [[0, 5], [6, 7]]": lambda: decode(prefix=[[0, 5], [6, 7]]),
    "decode got a prefix with a start ... [[1, 5], [6, 0]] with start=1 and "
    "end=2": lambda: decode(prefix=[[1, 5], [6, 0]]),
    "decode got a prefix with ids outside of the vocabulary. Expected ids in [0, 10), "
    "received [10, -1]. Check that they are from the text processor of the "
    "targets.": lambda: decode(prefix=[[5, 10], [-1, 9]]),
    "decode got a prefix with ids outside of ... [0, 9), received [9, -1]. "
    "Check that they are from the text processor of the targets": lambda: decode(
        model=seq2seq(), prefix=[[5, 9], [-1, 8]], shortlist=WHOLE
    ),
    "decode got a prefix longer than ... at most 2 tokens, received lengths [3, "
    "1]": lambda: decode(prefix=[[5, 6, 7], [6, 0, 0]], max_length=2),
    "decode got a prefix longer ... at most [2, 1] tokens, received "
    "lengths [2, 2]": lambda: decode(
        prefix=[[5, 6], [6, 7]], max_length=RelativeLength(0.5, plus=0)
    ),
}
SCORES = {
    "score got": {
        "a padding ... pad=5": lambda: score(Ensemble([seq2seq(pad=5)] * 2), IDS, IDS),
        "an unusable model ... .Seq2Seq'>": lambda: score(ks.Seq2Seq, IDS, IDS),
        "an unusable model ... ensemble.Ensemble": lambda: score(
            Ensemble([seq2seq(), Speller()]), IDS, IDS
        ),
        "sources and targets ... (1, 3)": lambda: score(seq2seq(), IDS, IDS[:1]),
        "an unusable target ... (2, 3, 4). For the hypotheses of a beam pass one of "
        "them, e.g": lambda: score(seq2seq(), IDS, np.ones([2, 3, 4], "int32")),
        "an unusable target ... (2, 0). For the hypotheses of a beam pass one of them, "
        "e.g": lambda: score(seq2seq(), IDS, np.ones([2, 0], "int32")),
    },
    "replace_unknown got alignments that do not ... (1, 1), received shape (1, "
    "1)": lambda: ks.decoding.replace_unknown([["a"]], [["b"]], np.ones([1, 1])),
}
SHORTLISTS = {
    "Shortlist got unusable frequent ... (2,)": lambda: Shortlist(NOTHING, [5, 4]),
    "Shortlist got an unusable ... int64 (2,)": lambda: Shortlist([1, 2], range(9)),
    "Shortlist got an unusable ... from 1 to 9": lambda: Shortlist([[1, 9]], range(9)),
    "decode got an unusable ... [[1, 2]]": lambda: decode(shortlist=[[1, 2]]),
    "decode got a shortlist for ... fakes.Speller": lambda: among(model=Speller(9)),
    "decode got a shortlist for a model that always ... Ensemble": lambda: among(
        model=Ensemble([seq2seq(), Speller(9)])
    ),
    "decode got a shortlist for a source without ids ... float32 (2, 3). "
    "Drop": lambda: among(source=np.ones([2, 3], "float32")),
    "decode got a shortlist with too ... received 4 ids from 0 to 3": lambda: among(
        size=3
    ),
    "decode got a shortlist with too ... 6 ids below 9, received 7 ids up to "
    "7": lambda: among(prefix=[[5, 6], [7, 0]], size=6),
    "Shortlist does not fit the model ... a source vocabulary of 9 tokens ... "
    "Shortlist(7 source tokens with 1 each, 9 target": lambda: among(NOTHING[:7]),
    "Shortlist.learn got pairs that are not encoded. Expected EncodedPairs, received "
    "[('a', 'b')]. Call data.encode(pairs, source_text, target_text) "
    "first.": lambda: Shortlist.learn(seq2seq(), [("a", "b")]),
    "Shortlist.learn got a model with ... Speller without a source_embedding. "
    "Make": lambda: Shortlist.learn(Speller(), ks.data.EncodedPairs.of([[5]], [[6]])),
    "Seq2Seq has a head that cannot be cut down to some tokens ... received "
    "Dense": lambda: among(model=with_head(keras.layers.Dense(9))),
    "Seq2Seq has a head ... received Adding": lambda: among(model=with_head(Adding(9))),
    "OutputHead cannot be cut down to some tokens": lambda: among(model=quantized()),
    f"Shortlist.load cannot read {__file__}. Expected integer arrays ['table', "
    "'frequent', 'common', 'size'] of a saved Shortlist, received something else "
    "(File is not a zip file). Make one with Shortlist.learn, or copy the file "
    "again.": lambda: Shortlist.load(__file__),
    "Shortlist.load cannot read ... no item named 'frequent.npy' in the "
    "archive": lambda: shortlist_of(frequent=None),
    "Shortlist.load cannot read  ... (table is float64 (2, 2)). Make one with "
    "Shortlist.learn": lambda: shortlist_of(table=np.zeros([2, 2])),
}
SEARCHES = [OPTIONS, ARGUMENTS, PREFIXES, SCORES, SHORTLISTS]
