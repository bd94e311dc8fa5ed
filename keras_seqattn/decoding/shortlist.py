"""Shortlists: a few target tokens for each batch, so that logits cost less."""

import dataclasses
import functools
import hashlib
from typing import Any

import numpy as np
import tensorflow as tf

from keras_seqattn.checks import check_count
from keras_seqattn.decoding.lexicon import ids_by_frequency, most_aligned
from keras_seqattn.decoding.shortlist_file import read_arrays
from keras_seqattn.errors import four_part_error
from keras_seqattn.files import replacing
from keras_seqattn.types import SpecialTokens


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Shortlist:
    """A table of the likely translations of every source token.

    `decode(..., shortlist=...)` computes logits for one list of target tokens per
    batch: the special tokens, the most frequent tokens, and the tokens in the table for
    all source tokens of the batch. If these are more than `size`, the first target
    token of every source token comes before all second ones, and frequent tokens come
    before rare ones. If these are fewer, the most frequent other tokens are added.
    Shortlists are compared by value.

    Tokens that are not in the list cannot be chosen and do not count in the scores:
    scores are log-probabilities among the tokens of the list, so they depend on the
    batch. `score` uses all tokens.

    Args:
        table: int `[source_vocabulary, per_token]`, target ids, the best first; rows
            are filled with -1.
        frequent: int `[vocabulary]`, all target ids, the most frequent first.
        common: how many of the most frequent tokens every list has.
        size: number of tokens in a list; a smaller vocabulary is listed completely.

    Example:
        >>> table = [[-1, -1], [-1, -1], [-1, -1], [-1, -1], [5, 6], [7, -1]]
        >>> shortlist = Shortlist(table, range(9), common=0, size=6)
        >>> shortlist.ids([[4, 2]]).numpy().tolist()
        [0, 1, 2, 3, 5, 6]

    References:
        Jean et al. 2015, arXiv:1412.2007.
        L'Hostis et al. 2016, arXiv:1610.00072 (how to select).
    """

    table: Any
    frequent: Any
    common: int = 100
    size: int = 2000

    def __post_init__(self):
        for name in ("table", "frequent"):
            array = np.array(getattr(self, name))  # a copy that no caller can change
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        check_count("Shortlist", "common", self.common, 0)
        check_count("Shortlist", "size", self.size, 1)
        _check_frequent(self.frequent)
        _check_table(self.table, len(self.frequent))

    @classmethod
    def learn(cls, model, pairs, per_token=20, common=100, size=2000, batch_size=64):
        """Learn the table from the alignments of a trained model.

        Each target token is aligned to the source token with its largest weight. A
        source token gets the target tokens that are aligned to it most often.

        Args:
            model: a `Seq2Seq` or `Ensemble` with attention, which `score` accepts.
            pairs: `EncodedPairs`, e.g. the training set.
            per_token: greatest number of target tokens for a source token.
            common: of `Shortlist`.
            size: of `Shortlist`.
            batch_size: number of pairs in a batch.

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
        table = most_aligned(model, pairs, per_token, batch_size)
        return cls(table, ids_by_frequency(model, pairs), common, size)

    def ids(self, source, tokens=None, first=(), prefix=None, source_pad=None):
        """Return the list of a batch: int32 `[size]`; graph code.

        It begins with the special tokens. The ids `first` follow, then the others, all
        in ascending order.

        Args:
            source: int ids `[batch, source]`.
            tokens: `SpecialTokens` of the target; None: `SpecialTokens()`.
            first: tuple of ids that are in every list.
            prefix: int ids of any shape that are in this list, too.
            source_pad: id of the padding of the source; None: the same as `tokens.pad`.
        """
        tokens = SpecialTokens() if tokens is None else SpecialTokens(*tokens)
        source, vocabulary = tf.convert_to_tensor(source), len(self.frequent)
        fixed = fixed_ids(tokens, first)
        proposed = tf.gather(tf.constant(self.table, tf.int32), source)
        pad = tokens.pad if source_pad is None else source_pad
        proposed = tf.where((source == pad)[..., None], -1, proposed)
        rank = 2 + tf.range(self.table.shape[1]) + tf.zeros_like(proposed)
        proposed, rank = tf.reshape(proposed, [-1]), tf.reshape(rank, [-1])
        if prefix is not None:
            forced = tf.reshape(tf.cast(prefix, tf.int32), [-1])
            proposed = tf.concat([forced, proposed], axis=0)
            rank = tf.concat([tf.zeros_like(forced), rank], axis=0)
        # The best rank of each target id; ids of -1 are ignored.
        best = tf.math.unsorted_segment_min(rank, proposed, vocabulary)
        worst = 2 + self.table.shape[1]
        common_rank = np.where(self._place < self.common, 1, worst)
        best = tf.minimum(best, common_rank.astype(np.int32))
        order = best * vocabulary + self._place  # then by frequency
        order = tf.where(np.isin(range(vocabulary), fixed), order.dtype.max, order)
        count = max(min(self.size, vocabulary) - len(fixed), 0)
        _, others = tf.math.top_k(-order, count)
        return tf.concat([tf.constant(fixed, tf.int32), tf.sort(others)], axis=0)

    @functools.cached_property
    def _place(self):
        """The place of each target id in `frequent`, int32 `[vocabulary]`."""
        return np.argsort(self.frequent).astype(np.int32)

    # Comparison by value -----------------------------------------------------------

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

    # Saving -----------------------------------------------------------------------

    def save(self, path):
        """Save the shortlist in one file, in NumPy's .npz format."""
        with replacing(path) as part, open(part, "wb") as file:
            np.savez_compressed(file, **dataclasses.asdict(self))

    @classmethod
    def load(cls, path):
        """Return the shortlist that was saved in a file."""
        return cls(**read_arrays(path, {"table": 2, "frequent": 1}, ("common", "size")))


def fixed_ids(tokens, first=()):
    """Return the ids with which every list begins, for all batches."""
    special = sorted(set(tokens))
    return special + sorted(set(first) - set(special))


def _check_frequent(frequent):
    vocabulary = np.arange(frequent.size)
    if frequent.ndim != 1 or not np.array_equal(np.sort(frequent), vocabulary):
        raise four_part_error(
            "Shortlist got unusable frequent tokens",
            f"every target id once, 0 to {frequent.size - 1}, [vocabulary]",
            f"shape {frequent.shape} with other ids, or with ids that repeat",
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
