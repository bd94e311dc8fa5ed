"""Calls of `decode` and its relatives that fail, with their messages."""

from typing import NamedTuple

import keras
import numpy as np
import tensorflow as tf

import keras_seqattn as ks
from tests.decoding.fakes import Speller
from tests.errors.valid_arguments import UNITS, bahdanau_cell

IDS = np.array([[5, 6, 2], [7, 2, 0]])


def decode(source=IDS, search=None, max_length=4, model=None, **options):
    """Call `decode` with valid arguments, except those passed here."""
    search = ks.Greedy() if search is None else search
    return ks.decode(model or Speller(), source, search, max_length, **options)


def seq2seq(source_embedding=None, **options):
    return ks.Seq2Seq(
        source_embedding=source_embedding or keras.layers.Embedding(9, 4),
        encoder=ks.BiEncoder(UNITS),
        decoder=ks.AttentionDecoder(bahdanau_cell()),
        head=ks.layers.OutputHead(9),
        **options,
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

    def start(self, source):
        return Speller().start(source)

    def step(self, tokens, state, memory):
        return Speller().step(tokens, state, memory)


_SOURCE = (
    "Expected [batch, source] with at least one sentence and one position, received "
    "shape {}. For an empty sentence, pass one position with padding; without "
    "sentences, do not call decode."
)

SEARCHES = [
    # Searches that cannot be.
    (
        "more hypotheses than places",
        lambda: ks.BeamSearch(2, n_best=3),
        "BeamSearch got contradictory options. Expected n_best <= width, received "
        "n_best=3 and width=2. Widen the beam, or lower n_best.",
    ),
    (
        "negative coverage penalty",
        lambda: ks.BeamSearch(2, coverage_penalty=-0.5),
        "BeamSearch got an unusable coverage_penalty. Expected 0 or more, received "
        "-0.5. Use 0 for no penalty: a negative one would reward uncovered words.",
    ),
    (
        "no beam",
        lambda: ks.BeamSearch(0),
        "BeamSearch got an unusable width. Expected a positive integer, "
        "received width=0. Pass a Python int, 1 or more.",
    ),
    (
        "half a minimum",
        lambda: ks.Greedy(min_length=2.5),
        "Greedy got an unusable min_length. Expected an integer, 0 or more, "
        "received min_length=2.5. Pass a Python int, 0 or more.",
    ),
    (
        "word in place of a token",
        lambda: ks.Greedy(forbidden_tokens=["the"]),
        "Greedy got an unusable forbidden_tokens. Expected an integer, 0 or "
        "more, received forbidden_tokens='the'. Pass a Python int, 0 or more.",
    ),
    (
        "no sample",
        lambda: ks.decoding.Sample(n_best=0),
        "Sample got an unusable n_best. Expected a positive integer, received "
        "n_best=0. Pass a Python int, 1 or more.",
    ),
    (
        "top of no token",
        lambda: ks.decoding.Sample(top_k=0),
        "Sample got an unusable top_k. Expected a positive integer, received "
        "top_k=0. Pass a Python int, 1 or more.",
    ),
    (
        "frozen",
        lambda: ks.decoding.Sample(temperature=0.0),
        "Sample got an unusable temperature. Expected a number above 0, received "
        "temperature=0.0. For the most probable token use Greedy().",
    ),
    (
        "temperature of nothing",
        lambda: ks.decoding.Sample(temperature=0),
        "Sample got an unusable temperature. Expected a number above 0, received "
        "temperature=0. For the most probable token use Greedy().",
    ),
    (
        "temperature that is no number",
        lambda: ks.decoding.Sample(temperature=float("nan")),
        "Sample got an unusable temperature. Expected a finite number, "
        "received temperature=nan. Pass a Python float.",
    ),
    (
        "forbidden token without a tuple",
        lambda: ks.Greedy(forbidden_tokens=3),
        "Greedy got unusable forbidden_tokens. Expected a tuple of ids, received 3. "
        "Pass e.g. (3,) for one id.",
    ),
    (
        "start that is padding",
        lambda: decode(tokens=(0, 0, 2, 3)),
        "decode got special tokens that cannot be told apart. Expected a padding that "
        "is neither start nor end, received SpecialTokens(pad=0, start=0, end=2, "
        "unknown=3). Give the padding an id of its own, because it is masked.",
    ),
    (
        "another padding than the model's",
        lambda: decode(model=seq2seq(pad=5)),
        "decode got a padding that its model does not mask. Expected pad=5, received "
        "SpecialTokens(pad=0, start=1, end=2, unknown=3). Pass "
        "tokens=SpecialTokens(pad=5, ...) with the other ids.",
    ),
    (
        "another padding than that of one of several models",
        lambda: decode(model=ks.decoding.Ensemble([seq2seq(), seq2seq(pad=5)])),
        "decode got a padding that its model does not mask. Expected pad=5, received "
        "SpecialTokens(pad=0, start=1, end=2, unknown=3). Pass "
        "tokens=SpecialTokens(pad=5, ...) with the other ids.",
    ),
    (
        "score with another padding than that of several models",
        lambda: ks.decoding.score(ks.decoding.Ensemble([seq2seq(pad=5)] * 2), IDS, IDS),
        "score got a padding that its model does not mask. Expected pad=5, received "
        "SpecialTokens(pad=0, start=1, end=2, unknown=3). Pass "
        "tokens=SpecialTokens(pad=5, ...) with the other ids.",
    ),
    (
        "end outside of the vocabulary",
        lambda: decode(model=seq2seq(), tokens=(0, 1, 50, 3)),
        "decode got ids outside of the vocabulary. Expected the end token and "
        "forbidden_tokens in [0, 9), received [50]. Check the SpecialTokens and the "
        "search.",
    ),
    (
        "vocabulary of unknown size",
        lambda: decode(model=WithoutSize()),
        "decode got logits of unknown size. Expected a vocabulary whose size is known "
        "when the graph is traced, received None as the last axis. Return logits with "
        "a static shape, e.g. by tf.ensure_shape.",
    ),
    (
        "model without weak references",
        lambda: decode(model=Tuple()),
        "decode got a model that does not support weak references. Expected an object "
        "of an ordinary class, received a Tuple. Make it an ordinary class: named "
        "tuples and classes with __slots__ do not support them.",
    ),
    (
        "classes have weights",
        lambda: seq2seq().fit({"source": IDS, "target": IDS}, IDS, class_weight={1: 2}),
        "Seq2Seq got a class_weight. Expected None, because a label is a sequence of "
        "classes, received {1: 2}. Pass weights of tokens instead: "
        "sample_weight=weights[labels], [batch, target].",
    ),
    (
        "score by a class",
        lambda: ks.decoding.score(ks.Seq2Seq, IDS, IDS),
        "score got an unusable model. Expected a Seq2Seq or an Ensemble of them, "
        "received <class '....Seq2Seq'>. Pass a model that can be called on whole "
        "sentences.",
    ),
    (
        "score by models that are searched only",
        lambda: ks.decoding.score(
            ks.decoding.Ensemble([seq2seq(), Speller()]), IDS, IDS
        ),
        "score got an unusable model. Expected a Seq2Seq or an Ensemble of them, "
        "received <....Ensemble object at ...>. Pass a model that can be called on "
        "whole sentences.",
    ),
    (
        "score of other sentences",
        lambda: ks.decoding.score(seq2seq(), IDS, IDS[:1]),
        "score got sources and targets of different batches. Expected a target for "
        "every source, received shapes (2, 3) and (1, 3). Pass the same number of "
        "rows.",
    ),
    (
        "more than certain",
        lambda: ks.decoding.Sample(top_p=1.5),
        "Sample got an unusable top_p. Expected a probability in (0, 1], received "
        "top_p=1.5. Use None for all tokens.",
    ),
    (
        "relative length of nothing",
        lambda: ks.decoding.RelativeLength(0.0, plus=0),
        "RelativeLength got numbers that allow no token. Expected times >= 0 and plus "
        ">= 0, not both 0, received times=0.0, plus=0. Use e.g. times=2.0: twice the "
        "source is a usual limit.",
    ),
    (
        "bound of half a token",
        lambda: ks.decoding.RelativeLength(at_most=2.5),
        "RelativeLength got an unusable at_most. Expected a positive integer, "
        "received at_most=2.5. Pass a Python int, 1 or more.",
    ),
    # Arguments of decode.
    (
        "class in place of a model",
        lambda: decode(model=Speller),
        "decode got an unusable model. Expected an object with the methods "
        "start(source) and step(tokens, state, memory), received <class ...>. Pass a "
        "Seq2Seq, an Ensemble, or a model of your own (see StepModel).",
    ),
    (
        "layer in place of a model",
        lambda: decode(model=keras.layers.Dense(2, name="head")),
        "decode got an unusable model. Expected an object with the methods "
        "start(source) and step(tokens, state, memory), received <Dense name=head, "
        "built=False>. Pass a Seq2Seq, an Ensemble, or a model of your own (see "
        "StepModel).",
    ),
    (
        "class in place of a search",
        lambda: decode(search=ks.Greedy),
        "decode got an unusable search. Expected Greedy(), Sample(...) or "
        "BeamSearch(...), received <class 'keras_seqattn.decoding.greedy.Greedy'>. "
        "Pass an instance, e.g. Greedy().",
    ),
    (
        "no maximum",
        lambda: decode(max_length=None),
        "decode got an unusable max_length. Expected an integer or a RelativeLength, "
        "received None. Pass e.g. max_length=100.",
    ),
    (
        "maximum of zero",
        lambda: decode(max_length=0),
        "decode got an unusable max_length. Expected 1 or more, received max_length=0. "
        "Count the end token as well.",
    ),
    (
        "minimum above the maximum",
        lambda: decode(search=ks.BeamSearch(2, min_length=5)),
        "BeamSearch got contradictory options. Expected min_length <= max_length, "
        "received min_length=5 and max_length=4. Lower min_length or raise max_length.",
    ),
    (
        "minimum above the relative maximum",
        lambda: decode(
            search=ks.Greedy(min_length=5),
            max_length=ks.decoding.RelativeLength(at_most=3),
        ),
        "Greedy got contradictory options. Expected min_length <= max_length, received "
        "min_length=5 and max_length=3. Lower min_length or raise max_length.",
    ),
    (
        "end token forbidden",
        lambda: decode(search=ks.Greedy(forbidden_tokens=[2, 3])),
        "Greedy got contradictory options. Expected an end token that is not "
        "forbidden, received forbidden_tokens=(2, 3) and end=2. For hypotheses of a "
        "fixed length, use min_length.",
    ),
    (
        "empty batch",
        lambda: decode(np.zeros([0, 3], "int32")),
        f"decode got an unusable source. {_SOURCE.format('(0, 3)')}",
    ),
    (
        "empty batch, in a function",
        lambda: tf.function(decode, autograph=False)(tf.zeros([0, 3], tf.int32)),
        f"decode got an unusable source. {_SOURCE.format('(0, 3)')}",
    ),
    (
        "source without positions",
        lambda: decode(np.zeros([2, 0], "int32")),
        f"decode got an unusable source. {_SOURCE.format('(2, 0)')}",
    ),
    (
        "single sentence",
        lambda: decode(IDS[0]),
        f"decode got an unusable source. {_SOURCE.format('(3,)')}",
    ),
    (
        "relative length of features",
        lambda: decode(
            np.ones([2, 3, 4], "float32"), max_length=ks.decoding.RelativeLength()
        ),
        "decode got a RelativeLength for a source without ids. Expected an integer "
        "tensor [batch, source], received float32 (2, 3, 4). Pass an integer as "
        "max_length.",
    ),
    (
        "prefix of another batch",
        lambda: decode(prefix=[[5], [6], [7]]),
        "decode got an unusable prefix. Expected ids [batch, target] with batch = 2, "
        "received shape (3, 1). Pass one padded row for every sentence; a row of "
        "padding forces no token.",
    ),
    (
        "prefix of rank 1",
        lambda: decode(prefix=[5, 6]),
        "decode got an unusable prefix. Expected ids [batch, target] with batch = 2, "
        "received shape (2,). Pass one padded row for every sentence; a row of "
        "padding forces no token.",
    ),
    (
        "prefix with padding in front",
        lambda: decode(prefix=[[0, 5], [6, 7]]),
        "decode got a prefix with padding in front of tokens. Expected padding after "
        "the last token only, received [[0, 5], [6, 7]]. Move the tokens to the front.",
    ),
    (
        "prefix with a start token",
        lambda: decode(prefix=[[1, 5], [6, 0]]),
        "decode got a prefix with a start or end token. Expected no start and no end "
        "token, received [[1, 5], [6, 0]] with start=1 and end=2. Drop them: decode "
        "begins with the start token itself, and no token follows the end token.",
    ),
    (
        "prefix outside of the vocabulary",
        lambda: decode(prefix=[[5, 10], [-1, 9]]),
        "decode got a prefix with ids outside of the vocabulary. Expected ids in "
        "[0, 10), received [10, -1]. Check that they are from the text processor of "
        "the targets.",
    ),
    (
        "prefix outside of the vocabulary of a shortlist",
        lambda: decode(
            model=seq2seq(),
            prefix=[[5, 9], [-1, 8]],
            shortlist=ks.decoding.Shortlist(np.full([9, 1], -1), range(9)),
        ),
        "decode got a prefix with ids outside of the vocabulary. Expected ids in "
        "[0, 9), received [9, -1]. Check that they are from the text processor of the "
        "targets.",
    ),
    (
        "prefix longer than the maximum",
        lambda: decode(prefix=[[5, 6, 7], [6, 0, 0]], max_length=2),
        "decode got a prefix longer than the maximum. Expected at most 2 tokens, "
        "received lengths [3, 1]. Raise max_length.",
    ),
    (
        "prefix longer than the relative maximum",
        lambda: decode(
            prefix=[[5, 6], [6, 7]], max_length=ks.decoding.RelativeLength(0.5, plus=0)
        ),
        "decode got a prefix longer than the maximum. Expected at most [2, 1] tokens, "
        "received lengths [2, 2]. Raise max_length.",
    ),
    (
        "coverage without a mask",
        lambda: decode(model=WithoutMask(), search=ks.BeamSearch(coverage_penalty=0.1)),
        "BeamSearch got a coverage_penalty for a memory without a mask. "
        "Expected memory.mask [batch, source], True = real, from the model's "
        "start, received None. Return a mask of True only when everything is real.",
    ),
    # Ensembles.
    (
        "ensemble of nobody",
        lambda: ks.decoding.Ensemble([]),
        "Ensemble got no models. Expected one or more, received []. Pass a list of "
        "Seq2Seq models with the same vocabularies.",
    ),
    (
        "unknown way to combine",
        lambda: ks.decoding.Ensemble([Speller()], combine="mean"),
        "Ensemble got an unknown combine. Expected 'linear' or 'log_linear', received "
        "'mean'. Check the spelling.",
    ),
    (
        "a weight too few",
        lambda: ks.decoding.Ensemble([Speller(), Speller()], weights=[1]),
        "Ensemble got unusable weights. Expected one number for each of the 2 models, "
        "0 or more and not all 0, received [1]. Use None for equal weights.",
    ),
    (
        "no votes",
        lambda: ks.decoding.Ensemble([Speller(), Speller()], weights=[0, 0]),
        "Ensemble got unusable weights. Expected one number for each of the 2 models, "
        "0 or more and not all 0, received [0, 0]. Use None for equal weights.",
    ),
    (
        "other vocabularies",
        lambda: decode(model=ks.decoding.Ensemble([Speller(7), Speller(9)])),
        "Ensemble got models with different vocabularies. Expected logits of one size, "
        "received [7, 9]. Pass models with the same target vocabulary.",
    ),
    # Beside decode.
    (
        "score of a beam",
        lambda: ks.decoding.score(seq2seq(), IDS, np.ones([2, 3, 4], "int32")),
        "score got an unusable target. Expected ids [batch, target] with at least one "
        "sentence and one token, received shape (2, 3, 4). For the hypotheses of a "
        "beam pass one of them, e.g. decoded.tokens[:, 0].",
    ),
    (
        "score of nothing",
        lambda: ks.decoding.score(seq2seq(), IDS, np.ones([2, 0], "int32")),
        "score got an unusable target. Expected ids [batch, target] with at least one "
        "sentence and one token, received shape (2, 0). For the hypotheses of a beam "
        "pass one of them, e.g. decoded.tokens[:, 0].",
    ),
    (
        "alignments of a step",
        lambda: ks.decoding.replace_unknown([["a"]], [["b"]], np.ones([1, 1])),
        "replace_unknown got alignments that do not fit the target. Expected [..., "
        "target, source] for a target of shape (1, 1), received shape (1, 1). Pass "
        "the alignments of the same Decoded or Scored.",
    ),
    # Models.
    (
        "list in place of a dict",
        lambda: seq2seq()([IDS, IDS]),
        "Seq2Seq got unusable inputs. Expected a dict with the ids 'source' [batch, "
        "source] and 'target' [batch, target], received list. Call it as "
        'model({"source": source, "target": target}).',
    ),
    (
        "inputs without a target",
        lambda: seq2seq()({"source": IDS, "labels": IDS}),
        "Seq2Seq got unusable inputs. Expected a dict with the ids 'source' [batch, "
        "source] and 'target' [batch, target], received ['labels', 'source']. Call it "
        'as model({"source": source, "target": target}).',
    ),
    (
        "single target",
        lambda: seq2seq()({"source": IDS, "target": IDS[0]}),
        "Seq2Seq got a target of the wrong rank. Expected [batch, target], received "
        "shape (3,). Add or drop an axis, or check the order of the arguments.",
    ),
    (
        "name in place of an embedding",
        lambda: seq2seq(source_embedding="words"),
        "Seq2Seq got an unusable embedding. Expected a keras.layers.Embedding, "
        "received 'words'. Pass e.g. keras.layers.Embedding(vocabulary, 256), or "
        "ReversibleEmbedding to tie it to the head.",
    ),
    (
        "everything dropped",
        lambda: seq2seq(target_word_dropout=1.0),
        "Seq2Seq got an unusable target_word_dropout. Expected a rate in [0, 1), "
        "received target_word_dropout=1.0. Use 0 to switch it off.",
    ),
]
