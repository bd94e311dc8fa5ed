"""Strings in, strings out: the one way from a text through the model and back."""

import dataclasses
import functools
from typing import Any, NamedTuple

import tensorflow as tf

from keras_seqattn.decoding.beam import BeamSearch
from keras_seqattn.decoding.loop import decode
from keras_seqattn.decoding.scoring import score
from keras_seqattn.decoding.unknown_words import replace_unknown
from keras_seqattn.errors import four_part_error
from keras_seqattn.text.checks import strings_of
from keras_seqattn.text.normalization import WHITE_SPACE
from keras_seqattn.text.words import Words

_TEXTS = tf.TensorSpec([None], tf.string)
_BLANK = f"[{WHITE_SPACE}]*"


class Translated(NamedTuple):
    """Everything about the translations of a batch, the best hypothesis first.

    A blank text has blank `texts`; the rest is what the model makes of no words.
    """

    texts: Any  # strings [batch, n_best]
    scores: Any  # [batch, n_best], log-probability under the model
    ranking: Any  # [batch, n_best], the penalised value that sorts
    source_tokens: Any  # strings [batch, source], the end token included, "" after it
    source_starts: Any  # int64 [batch, source], bytes of the text as it was given
    source_ends: Any  # int64 [batch, source], the first byte after each token
    source_lengths: Any  # int32 [batch], tokens, the end token included
    source_cut: Any  # bool [batch], whether tokens behind max_source were not read
    target_tokens: Any  # strings [batch, n_best, target], as source_tokens
    target_lengths: Any  # int32 [batch, n_best]
    alignments: Any  # [batch, n_best, target, source], the mean over heads


class NBest(NamedTuple):
    """The translations of a batch, `[batch, n_best]`, the best first.

    Where there are fewer than `n_best`, the rest have length 0 and score -inf.
    """

    texts: Any  # strings
    scores: Any  # log-probability under the model
    ranking: Any  # the penalised value that sorts
    lengths: Any  # int32, tokens, the end token included


class ScoredTexts(NamedTuple):
    """What a model says about given translations, `[batch, ...]`."""

    score: Any  # [batch], log-probability under the model
    alignment: Any  # [batch, target, source], the mean over heads
    source_tokens: Any  # strings [batch, source], the end token included, "" after it
    source_lengths: Any  # int32 [batch]
    source_cut: Any  # bool [batch], whether tokens behind max_source were not read
    target_tokens: Any  # strings [batch, target], as source_tokens
    target_lengths: Any  # int32 [batch]
    target_cut: Any  # bool [batch], the same bound


class Read(NamedTuple):
    """What a model reads of texts, `[batch, source]`, the end token included."""

    ids: Any  # int32, padded
    tokens: Any  # strings, "" in the padding
    starts: Any  # int64, bytes of the text as it was given
    ends: Any  # int64, the first byte after each token
    lengths: Any  # int32 [batch]
    cut: Any  # bool [batch], whether tokens behind max_source were not read


@dataclasses.dataclass(frozen=True)
class Pipeline:
    """A model, what reads and writes its tokens, and how it searches.

    Eagerly, and inside a `tf.function` or a SavedModel, it is the same code.

    Args:
        model: a `StepModel`.
        source_text: `TextProcessor` of the sources.
        target_text: that of the targets.
        search: `Greedy()`, `BeamSearch(...)`, `Sample(...)`.
        max_length: of a translation in tokens, an integer or a `RelativeLength`.
        max_source: tokens of a source that are read; what is behind them is lost.
        unknown: dict from source words to target words: an unknown word is replaced by
            the translation of the source word that was looked at most, or by this
            word itself where the dict, which may be empty, does not have it. The
            target needs `Words`. None: nothing is replaced.
        shortlist: `Shortlist`: translations consist of its tokens. None: of all.
    """

    model: Any
    source_text: Any
    target_text: Any
    search: Any
    max_length: Any
    max_source: int = 1000
    unknown: dict | None = None
    shortlist: Any = None

    def __post_init__(self):
        if self.unknown is not None and not isinstance(self.target_text, Words):
            raise four_part_error(
                "Replacing unknown words needs words",
                "a target_text of class Words",
                f"{type(self.target_text).__name__} and unknown={self.unknown!r}",
                "Subwords have hardly any unknowns: leave `unknown` out",
            )

    @functools.cached_property
    def table(self):
        """The dict `unknown` as a `tf.lookup` table; None where there is nothing in it.

        One for all graphs: a SavedModel has to hold it.
        """
        if not self.unknown:
            return None
        with tf.init_scope():
            rows = map(strings_of, (list(self.unknown), list(self.unknown.values())))
            rows = tf.lookup.KeyValueTensorInitializer(*rows, tf.string, tf.string)
            return tf.lookup.StaticHashTable(rows, default_value="")

    @property
    def widest(self):
        """The search that returns all that it finds."""
        if isinstance(self.search, BeamSearch):
            return dataclasses.replace(self.search, n_best=self.search.width)
        return self.search

    def __call__(self, texts):
        """`Translated` for strings `[batch]`; a blank text has a blank translation."""
        return self._translated(texts, self.search)

    def n_best(self, texts):
        """`NBest` for strings `[batch]`: of a beam, all hypotheses."""
        found = self._translated(texts, self.widest)
        return NBest(found.texts, found.scores, found.ranking, found.target_lengths)

    def _translated(self, texts, search):
        texts = strings_of(texts)
        source = self.encode(texts)
        tokens = self.source_text.tokens
        decoded = decode(
            self.model,
            source.ids,
            search,
            self.max_length,
            tokens,
            leaving=True,
            shortlist=self.shortlist,
        )
        longest = tf.reduce_max(decoded.lengths)  # in a graph, there is room for more
        decoded = decoded._replace(
            tokens=decoded.tokens[..., :longest],
            alignments=decoded.alignments[..., :longest, :],
        )
        translated = Translated(
            texts=self.target_text.decode(decoded.tokens),
            scores=decoded.scores,
            ranking=decoded.ranking,
            source_tokens=source.tokens,
            source_starts=source.starts,
            source_ends=source.ends,
            source_lengths=source.lengths,
            source_cut=source.cut,
            target_tokens=self._pieces(decoded),
            target_lengths=decoded.lengths,
            alignments=_mean_over_heads(decoded.alignments, rank=4),
        )
        if self.unknown is not None:
            translated = self._replaced(translated, texts)
        blank = tf.strings.regex_full_match(texts, _BLANK)
        return translated._replace(texts=tf.where(blank[:, None], "", translated.texts))

    def score(self, sources, targets):
        """`ScoredTexts` for strings `[batch]` and their translations `[batch]`.

        Both are read up to `max_source` tokens: the score is that of what was read.
        """
        source = self.encode(sources)
        target = self._target_reader(strings_of(targets))
        scored = score(self.model, source.ids, target.ids, self.target_text.tokens)
        return ScoredTexts(
            score=scored.scores,
            alignment=_mean_over_heads(scored.alignments, rank=3),
            source_tokens=source.tokens,
            source_lengths=source.lengths,
            source_cut=source.cut,
            target_tokens=target.tokens,
            target_lengths=target.lengths,
            target_cut=target.cut,
        )

    def encode(self, texts):
        """`Read` for strings `[batch]`."""
        return self._source_reader(strings_of(texts))

    @functools.cached_property
    def _source_reader(self):
        return self._reader(self.source_text)

    @functools.cached_property
    def _target_reader(self):
        return self._reader(self.target_text)

    def _reader(self, processor):
        """`Read` of strings `[batch]`; a graph that all signatures share.

        Hundreds of operations read a text: in each of the signatures of a SavedModel
        they would be half of it.
        """

        @tf.function(input_signature=[_TEXTS], autograph=False)
        def read(texts):
            tokens = processor.encode_with_offsets(texts)
            end = tf.fill(tf.shape(texts), processor.tokens.end)
            size = tf.cast(tf.strings.length(texts), tf.int64)
            last = end, processor.pieces(end), size, size
            ids, *rest = (
                tf.concat([row[:, : self.max_source], x[:, None]], axis=1)
                for row, x in zip(tokens, last, strict=True)
            )
            return Read(
                ids.to_tensor(processor.tokens.pad),
                *(x.to_tensor() for x in rest),
                lengths=tf.cast(ids.row_lengths(), tf.int32),
                cut=tokens.ids.row_lengths() > self.max_source,
            )

        return read

    def _pieces(self, decoded):
        real = tf.range(tf.shape(decoded.tokens)[2]) < decoded.lengths[..., None]
        return tf.where(real, self.target_text.pieces(decoded.tokens), "")

    def _replaced(self, translated, texts):
        """The source's own words in place of unknown ones."""
        starts, ends = translated.source_starts, translated.source_ends
        typed = tf.strings.substr(texts[:, None], starts, ends - starts)
        target = replace_unknown(
            translated.target_tokens,
            # JSON wants UTF-8, whatever was typed.
            tf.strings.unicode_transcode(typed, "UTF-8", "UTF-8"),
            translated.alignments,
            self.target_text.pieces(tf.constant(self.target_text.tokens.unknown)),
            self.table,
        )
        end = self.target_text.pieces(tf.constant(self.target_text.tokens.end))
        words = tf.where(target == end, "", target)
        texts = tf.strings.strip(tf.strings.reduce_join(words, axis=-1, separator=" "))
        return translated._replace(texts=texts, target_tokens=target)


def _mean_over_heads(alignments, rank):
    """Alignments of this rank; where there are heads, they stand before the target."""
    if len(alignments.shape) == rank:
        return alignments
    return tf.reduce_mean(alignments, axis=-3)
