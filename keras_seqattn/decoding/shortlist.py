"""The target tokens that a batch may choose from: few, so that they cost less."""

import dataclasses
import functools
import hashlib
from typing import Any

import numpy as np
import tensorflow as tf

from keras_seqattn.checks import check_count
from keras_seqattn.decoding.lexicon import aligned, counted
from keras_seqattn.decoding.shortlist_file import read_arrays
from keras_seqattn.errors import four_part_error
from keras_seqattn.files import replacing
from keras_seqattn.types import SpecialTokens


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Shortlist:
    """For every source token the target tokens that it may become.

    `decode(..., shortlist=...)` computes logits for one list per batch: the special
    tokens, the most frequent tokens, and those of the table for any source token of the
    batch. Where these are more than `size`, the first of every source token go before
    the second of any, and the frequent before the rare; where they are fewer, the most
    frequent of the others fill up. A value: two that are equal list alike.

    What is not listed cannot be chosen, and has no part in the scores: these are
    log-probabilities among the tokens of the list, and so those of another batch may
    differ. `score` has no list.

    Args:
        table: int `[source_vocabulary, per_token]`, target ids, the best first; -1
            where there are no more.
        frequent: int `[vocabulary]`, all target ids, the most frequent first.
        common: how many of the most frequent are listed for every batch.
        size: number of tokens of a list; of a smaller vocabulary, all.

    Example:
        >>> table = [[-1, -1], [-1, -1], [-1, -1], [-1, -1], [5, 6], [7, -1]]
        >>> shortlist = Shortlist(table, range(9), common=0, size=6)
        >>> shortlist.ids([[4, 2]]).numpy().tolist()
        [0, 1, 2, 3, 5, 6]

    References:
        Jean et al. 2015, arXiv:1412.2007.
        L'Hostis et al. 2016, arXiv:1610.00072 (what to select by).
    """

    table: Any
    frequent: Any
    common: int = 100
    size: int = 2000

    def __post_init__(self):
        for name in ("table", "frequent"):
            array = np.array(getattr(self, name))  # a copy: nobody else writes into it
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        check_count("Shortlist", "common", self.common, 0)
        check_count("Shortlist", "size", self.size, 1)
        _check_frequent(self.frequent)
        _check_table(self.table, len(self.frequent))

    @classmethod
    def learn(cls, model, pairs, per_token=20, common=100, size=2000, batch_size=64):
        """Learns the table from what a trained model looks at when it reads pairs.

        A source token gets the target tokens that look at it more than at any other
        position, those that do so most often first.

        Args:
            model: a `Seq2Seq` or `Ensemble` with attention, as `score` takes it.
            pairs: `EncodedPairs`, e.g. those of the training.
            per_token: greatest number of target tokens for a source token.
            common: of `Shortlist`.
            size: of `Shortlist`.
            batch_size: pairs that are read at once.

        Example:
            >>> cell = BahdanauCell(8, attention=BahdanauAttention(8))
            >>> model = Seq2Seq(
            ...     source_embedding=keras.layers.Embedding(20, 4),
            ...     encoder=BiEncoder(8),
            ...     decoder=AttentionDecoder(cell),
            ...     head=OutputHead(20),
            ... )
            >>> pairs = data.EncodedPairs.of([[5, 6], [7]], [[8], [9, 8]])
            >>> shortlist = Shortlist.learn(model, pairs, size=6)
            >>> shortlist.table.shape
            (20, 20)
            >>> shortlist.frequent[:2].tolist()
            [8, 9]
        """
        check_count("Shortlist.learn", "per_token", per_token, 1)
        check_count("Shortlist.learn", "batch_size", batch_size, 1)
        table = aligned(model, pairs, per_token, batch_size)
        return cls(table, counted(model, pairs), common, size)

    def ids(self, source, tokens=None, first=(), prefix=None):
        """The list of a batch: int32 `[size]`, graph code.

        All ids up to the largest of a special token stay in their places, `first`
        follows, then the others in ascending order.

        Args:
            source: int ids `[batch, source]`.
            tokens: `SpecialTokens`; None: `SpecialTokens()`.
            first: ids that are listed whatever the source, a tuple.
            prefix: int ids of any shape that are listed, too.
        """
        tokens = SpecialTokens() if tokens is None else SpecialTokens(*tokens)
        source, vocabulary = tf.convert_to_tensor(source), len(self.frequent)
        given = given_ids(tokens, first)
        proposed = tf.gather(tf.constant(self.table, tf.int32), source)
        proposed = tf.where((source == tokens.pad)[..., None], -1, proposed)
        rank = 2 + tf.range(self.table.shape[1]) + tf.zeros_like(proposed)
        proposed, rank = tf.reshape(proposed, [-1]), tf.reshape(rank, [-1])
        if prefix is not None:
            forced = tf.reshape(tf.cast(prefix, tf.int32), [-1])
            proposed = tf.concat([forced, proposed], axis=0)
            rank = tf.concat([tf.zeros_like(forced), rank], axis=0)
        # The best rank of each target id; those that are -1 belong to nobody.
        best = tf.math.unsorted_segment_min(rank, proposed, vocabulary)
        worst = 2 + self.table.shape[1]
        otherwise = np.where(self._place < self.common, 1, worst)
        best = tf.minimum(best, otherwise.astype(np.int32))
        order = best * vocabulary + self._place  # the frequent first among equals
        order = tf.where(np.isin(range(vocabulary), given), order.dtype.max, order)
        count = max(min(self.size, vocabulary) - len(given), 0)
        _, others = tf.math.top_k(-order, count)
        return tf.concat([tf.constant(given, tf.int32), tf.sort(others)], axis=0)

    @functools.cached_property
    def _place(self):
        """int32 `[vocabulary]`, the place of each target id among the frequent ones."""
        return np.argsort(self.frequent).astype(np.int32)

    # A value -----------------------------------------------------------------------

    @functools.cached_property
    def _content(self):
        arrays = [np.asarray(x, np.int32) for x in (self.table, self.frequent)]
        digest = hashlib.sha256(b"".join(x.tobytes() for x in arrays)).hexdigest()
        return digest, self.table.shape, self.common, self.size

    def __eq__(self, other):
        return isinstance(other, Shortlist) and self._content == other._content

    def __hash__(self):
        return hash(self._content)

    def __repr__(self):
        rows, per_token = self.table.shape
        return (
            f"Shortlist({rows} source tokens with {per_token} each, "
            f"{len(self.frequent)} target tokens, common={self.common}, "
            f"size={self.size})"
        )

    # Keeping ----------------------------------------------------------------------

    def save(self, path):
        """Writes one file, NumPy's .npz whatever its name."""
        with replacing(path) as part, open(part, "wb") as file:
            np.savez_compressed(file, **dataclasses.asdict(self))

    @classmethod
    def load(cls, path):
        """The shortlist that was saved in a file."""
        return cls(**read_arrays(path, {"table": 2, "frequent": 1}, ("common", "size")))


def given_ids(tokens, first=()):
    """The ids with which every list begins, in places that are known beforehand."""
    special = list(range(max(tokens) + 1))
    return special + sorted(set(first) - set(special))


def _check_frequent(frequent):
    vocabulary = np.arange(frequent.size)
    if frequent.ndim != 1 or not np.array_equal(np.sort(frequent), vocabulary):
        raise four_part_error(
            "Shortlist got unusable frequent tokens",
            f"every target id once, 0 to {frequent.size - 1}, [vocabulary]",
            f"shape {frequent.shape} with other ids, or some of them twice",
            "Pass the whole vocabulary, the most frequent first; `common` says how "
            "many of them are always listed",
        )


def _check_table(table, vocabulary):
    usable = table.ndim == 2 and 0 not in table.shape and table.dtype.kind in "iu"
    if not usable or table.min() < -1 or table.max() >= vocabulary:
        received = f"{table.dtype} {table.shape}"
        if usable:
            received += f" from {table.min()} to {table.max()}"
        raise four_part_error(
            "Shortlist got an unusable table",
            f"target ids [source_vocabulary, per_token] in [0, {vocabulary}), and "
            "-1 for none",
            received,
            "Make one with Shortlist.learn",
        )
