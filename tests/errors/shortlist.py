"""Invalid shortlists, and models that cannot use one, with their messages."""

import tempfile

import keras
import numpy as np

import keras_seqattn as ks
from tests.decoding.fakes import Speller
from tests.errors.decoding import decode, seq2seq

NOTHING = np.full([9, 1], -1)


class Adding(ks.layers.OutputHead):
    """A head whose logits differ from those of its base class."""

    def call(self, outputs, mask=None, training=None):
        return super().call(outputs, mask, training) + 1.0


def shortlist_of(**arrays):
    """Load a shortlist from a file with other arrays; None leaves one out."""
    arrays = {"table": NOTHING, "frequent": range(9), "common": 1, "size": 5, **arrays}
    with tempfile.NamedTemporaryFile(suffix=".npz") as file:
        np.savez(file, **{k: v for k, v in arrays.items() if v is not None})
        file.flush()
        return ks.decoding.Shortlist.load(file.name)


def among(table=NOTHING, vocabulary=9, model=None, **options):
    shortlist = ks.decoding.Shortlist(table, range(vocabulary), **options)
    return decode(model=model or seq2seq(), shortlist=shortlist)


def with_head(head):
    model = seq2seq()
    model.head = head
    head.build((None, 3))
    return model


def quantized():
    model = seq2seq()
    model.head.projection.quantize("int8")
    return model


SHORTLISTS = [
    (
        "frequent tokens alone",
        lambda: ks.decoding.Shortlist(NOTHING, [5, 4]),
        "Shortlist got unusable frequent tokens. Expected every target id once, 0 to "
        "1, [vocabulary], received shape (2,) with other ids, or with ids that repeat. "
        "Pass the whole vocabulary, the most frequent first; `common` says how many of "
        "them are always listed.",
    ),
    (
        "table of one token",
        lambda: ks.decoding.Shortlist([1, 2], range(9)),
        "Shortlist got an unusable table. Expected target ids [source_vocabulary, "
        "per_token] in [0, 9), and -1 for none, received int64 (2,). Make one with "
        "Shortlist.learn.",
    ),
    (
        "table of another vocabulary",
        lambda: ks.decoding.Shortlist([[1, 9]], range(9)),
        "Shortlist got an unusable table. Expected target ids [source_vocabulary, "
        "per_token] in [0, 9), and -1 for none, received int64 (1, 2) from 1 to 9. "
        "Make one with Shortlist.learn.",
    ),
    (
        "table in place of a shortlist",
        lambda: decode(shortlist=[[1, 2]]),
        "decode got an unusable shortlist. Expected a Shortlist or None, received [[1, "
        "2]]. Make one with Shortlist.learn.",
    ),
    (
        "shortlist for all logits",
        lambda: among(model=Speller(9)),
        "decode got a shortlist for a model that always computes all logits. "
        "Expected one with the method shorten(memory, ids), in an Ensemble all of "
        "them, received <...Speller object ...>. Drop the shortlist, or define the "
        "method (see Seq2Seq.shorten).",
    ),
    (
        "shortlist for one that always has all logits",
        lambda: among(model=ks.decoding.Ensemble([seq2seq(), Speller(9)])),
        "decode got a shortlist for a model that always computes all logits. "
        "Expected one with the method shorten(memory, ids), in an Ensemble all of "
        "them, received <...Ensemble object ...>. Drop the shortlist, or define the "
        "method (see Seq2Seq.shorten).",
    ),
    (
        "shortlist of another source",
        lambda: among(NOTHING[:7]),
        "Shortlist does not fit the model. Expected a source vocabulary of 9 tokens, "
        "as many as the model embeds, received Shortlist(7 source tokens with 1 each, "
        "9 target tokens, common=100, size=2000). Make one with Shortlist.learn.",
    ),
    (
        "shortlist of features",
        lambda: decode(
            np.ones([2, 3], "float32"),
            model=seq2seq(),
            shortlist=ks.decoding.Shortlist(NOTHING, range(9)),
        ),
        "decode got a shortlist for a source without ids. Expected an integer tensor "
        "[batch, source], received float32 (2, 3). Drop the shortlist.",
    ),
    (
        "shortlist without room",
        lambda: among(size=3),
        "decode got a shortlist with too little room. Expected room for all ids up "
        "to the largest special token, forbidden_tokens and the prefix, at most 3 ids "
        "below 9, received 4 ids up to 3. Make a Shortlist of a larger size.",
    ),
    (
        "shortlist without room for a prefix",
        lambda: decode(
            model=seq2seq(),
            prefix=[[5, 6], [7, 0]],
            shortlist=ks.decoding.Shortlist(NOTHING, range(9), size=6),
        ),
        "decode got a shortlist with too little room. Expected room for all ids up "
        "to the largest special token, forbidden_tokens and the prefix, at most 6 ids "
        "below 9, received 7 ids up to 7. Make a Shortlist of a larger size.",
    ),
    (
        "learned from nobody",
        lambda: ks.decoding.Shortlist.learn(
            Speller(), ks.data.EncodedPairs.of([[5]], [[6]])
        ),
        "Shortlist.learn got a model with unknown vocabularies. Expected a Seq2Seq or "
        "an Ensemble of them, received Speller without a source_embedding. Make the "
        "table yourself and pass it: Shortlist(table, frequent).",
    ),
    # Heads.
    (
        "shortlist for a head of Keras",
        lambda: among(model=with_head(keras.layers.Dense(9))),
        "Seq2Seq has a head that cannot be cut down to some tokens. Expected an "
        "OutputHead, a DeepOutputHead, or a layer whose class defines `hidden` and "
        "`last_product` beside its `call`, received Dense. Drop the shortlist: all "
        "tokens have logits.",
    ),
    (
        "shortlist for a head with other logits",
        lambda: among(model=with_head(Adding(9))),
        "Seq2Seq has a head that cannot be cut down to some tokens. Expected an "
        "OutputHead, a DeepOutputHead, or a layer whose class defines `hidden` and "
        "`last_product` beside its `call`, received Adding. Drop the shortlist: all "
        "tokens have logits.",
    ),
    (
        "shortlist for quantised weights",
        lambda: among(model=quantized()),
        "OutputHead cannot be cut down to some tokens. Expected a last product of "
        "plain weights, received weights that are quantised or adapted, or an "
        "embedding with logit_soft_cap or reverse_dtype. Drop the shortlist: all "
        "tokens have logits.",
    ),
    # Files.
    (
        "shortlist from another file",
        lambda: ks.decoding.Shortlist.load(__file__),
        f"Shortlist.load cannot read {__file__}. Expected integer arrays ['table', "
        "'frequent', 'common', 'size'] of a saved Shortlist, received something else "
        "(File is not a zip file). Make one with Shortlist.learn, or copy the file "
        "again.",
    ),
    (
        "shortlist without an array",
        lambda: shortlist_of(frequent=None),
        "Shortlist.load cannot read .... Expected integer arrays ['table', 'frequent', "
        "'common', 'size'] of a saved Shortlist, received something else (...There is "
        "no item named 'frequent.npy' in the archive...). Make one with "
        "Shortlist.learn, or copy the file again.",
    ),
    (
        "shortlist with another array",
        lambda: shortlist_of(table=np.zeros([2, 2])),
        "Shortlist.load cannot read .... Expected integer arrays ['table', 'frequent', "
        "'common', 'size'] of a saved Shortlist, received something else (table is "
        "float64 (2, 2)). Make one with Shortlist.learn, or copy the file again.",
    ),
]
