"""The pipeline from strings to strings: encode texts, decode, write tokens as text."""

import dataclasses
import functools
from typing import Any, NamedTuple

import tensorflow as tf

from keras_seqattn.decoding.beam import BeamSearch
from keras_seqattn.decoding.decoded import with_empty_translations
from keras_seqattn.decoding.loop import decode
from keras_seqattn.decoding.scoring import score
from keras_seqattn.decoding.unknown_words import replace_unknown
from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.text.checks import strings_of
from keras_seqattn.text.normalization import are_blank
from keras_seqattn.text.words import Words

_TEXTS = tf.TensorSpec([None], tf.string)


class Translated(NamedTuple):
    """The translations of a batch in all detail, the best hypothesis first.

    A blank text (`are_blank`) has the empty translation: the end token alone, with
    score 0, which attends to the end token of the source.
    """

    texts: Any  # strings [batch, n_best]
    scores: Any  # [batch, n_best], log-probability under the model
    ranking: Any  # [batch, n_best], the penalised value that sorts
    source_tokens: Any  # strings [batch, source], the end token included, "" after it
    source_starts: Any  # int64 [batch, source], bytes of the original text
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
    """The scores of translations under a model, `[batch, ...]`."""

    score: Any  # [batch], log-probability under the model
    alignment: Any  # [batch, target, source], the mean over heads
    source_tokens: Any  # strings [batch, source], the end token included, "" after it
    source_lengths: Any  # int32 [batch]
    source_cut: Any  # bool [batch], whether tokens behind max_source were not read
    target_tokens: Any  # strings [batch, target], as source_tokens
    target_lengths: Any  # int32 [batch]
    target_cut: Any  # bool [batch], the same for the target


class EncodedTexts(NamedTuple):
    """Texts as tokens, `[batch, source]`, the end token included."""

    ids: Any  # int32, padded
    tokens: Any  # strings, "" in the padding
    starts: Any  # int64, bytes of the original text
    ends: Any  # int64, the first byte after each token
    lengths: Any  # int32 [batch]
    cut: Any  # bool [batch], whether tokens behind max_source were not read


@dataclasses.dataclass(frozen=True)
class Pipeline:
    """A model, its text processors, and the options of its search.

    The same code runs eagerly, inside a `tf.function`, and in a SavedModel.

    Args:
        model: a `StepModel`.
        source_text: `TextProcessor` of the sources.
        target_text: `TextProcessor` of the targets.
        search: `Greedy()`, `BeamSearch(...)`, `Sample(...)`.
        max_length: greatest number of tokens of a translation, an integer or a
            `RelativeLength`.
        max_source: greatest number of tokens of a source; tokens after these are lost.
        unknown: dict from source words to target words. An unknown target word is
            replaced by the translation of the source word with the largest alignment,
            or by this source word if the dict, which may be empty, does not have it.
            `target_text` must be `Words`. None: unknown words stay.
        shortlist: `Shortlist`: translations consist of its tokens. None: of all tokens.
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
                "Pipeline can replace unknown words only in texts of words",
                "a target_text of class Words",
                f"{type(self.target_text).__name__} and "
                f"unknown={abbreviated(self.unknown)}",
                "Leave `unknown` out: subwords have hardly any unknown tokens",
            )

    @functools.cached_property
    def table(self):
        """The dict `unknown` as a `tf.lookup` table; None if it is empty or None.

        All graphs share one table, because a SavedModel has to hold it.
        """
        if not self.unknown:
            return None
        with tf.init_scope():
            rows = map(strings_of, (list(self.unknown), list(self.unknown.values())))
            rows = tf.lookup.KeyValueTensorInitializer(*rows, tf.string, tf.string)
            return tf.lookup.StaticHashTable(rows, default_value="")

    @property
    def full_search(self):
        """The search, changed to return all hypotheses of its beam."""
        if isinstance(self.search, BeamSearch):
            return dataclasses.replace(self.search, n_best=self.search.width)
        return self.search

    def __call__(self, texts):
        """Return `Translated` for strings `[batch]`."""
        return self._translate(texts, self.search)

    def n_best(self, texts):
        """Return `NBest` for strings `[batch]`: of a beam, all hypotheses."""
        full = self._translate(texts, self.full_search)
        return NBest(full.texts, full.scores, full.ranking, full.target_lengths)

    def _translate(self, texts, search):
        texts = strings_of(texts)
        source = self.encode(texts)
        tokens = self.target_text.tokens
        decoded = decode(
            self.model,
            source.ids,
            search,
            self.max_length,
            tokens,
            leaving=True,
            shortlist=self.shortlist,
        )
        is_blank = are_blank(texts, source.lengths)
        decoded = with_empty_translations(decoded, is_blank, source.lengths, tokens)
        longest = tf.reduce_max(decoded.lengths)  # shorter than the axis, in a graph
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
            target_tokens=self._target_pieces(decoded),
            target_lengths=decoded.lengths,
            alignments=_mean_over_heads(decoded.alignments, rank=4),
        )
        if self.unknown is not None:
            translated = self._replace_unknown(translated, texts)
        return translated

    def score(self, sources, targets):
        """Return `ScoredTexts` for strings `[batch]` and their translations `[batch]`.

        Both are cut after `max_source` tokens; the score is that of the cut texts. The
        empty translation of a blank text has score 0.
        """
        sources, targets = strings_of(sources), strings_of(targets)
        source, target = self.encode(sources), self._target_reader(targets)
        scored = score(self.model, source.ids, target.ids, self.target_text.tokens)
        with tf.control_dependencies([scored.scores]):  # the sizes are checked there
            are_both_blank = are_blank(sources, source.lengths)
            are_both_blank &= are_blank(targets, target.lengths)
        return ScoredTexts(
            score=tf.where(are_both_blank, 0.0, scored.scores),
            alignment=_mean_over_heads(scored.alignments, rank=3),
            source_tokens=source.tokens,
            source_lengths=source.lengths,
            source_cut=source.cut,
            target_tokens=target.tokens,
            target_lengths=target.lengths,
            target_cut=target.cut,
        )

    def encode(self, texts):
        """Return `EncodedTexts` for strings `[batch]`."""
        return self._source_reader(strings_of(texts))

    @functools.cached_property
    def _source_reader(self):
        return self._reader(self.source_text)

    @functools.cached_property
    def _target_reader(self):
        return self._reader(self.target_text)

    def _reader(self, processor):
        """Return a function from strings `[batch]` to `EncodedTexts`.

        It is one graph for all signatures of a SavedModel. It has hundreds of
        operations, which would be half of every signature otherwise.
        """

        @tf.function(input_signature=[_TEXTS], autograph=False)
        def read(texts):
            tokens = processor.encode_with_offsets(texts)
            end = tf.fill(tf.shape(texts), processor.tokens.end)
            size = tf.cast(tf.strings.length(texts), tf.int64)
            end_token = end, processor.pieces(end), size, size
            ids, pieces, starts, ends = (
                tf.concat([field[:, : self.max_source], x[:, None]], axis=1)
                for field, x in zip(tokens, end_token, strict=True)
            )
            return EncodedTexts(
                ids=ids.to_tensor(processor.tokens.pad),
                tokens=pieces.to_tensor(),
                starts=starts.to_tensor(),
                ends=ends.to_tensor(),
                lengths=tf.cast(ids.row_lengths(), tf.int32),
                cut=tokens.ids.row_lengths() > self.max_source,
            )

        return read

    def _target_pieces(self, decoded):
        real = tf.range(tf.shape(decoded.tokens)[2]) < decoded.lengths[..., None]
        return tf.where(real, self.target_text.pieces(decoded.tokens), "")

    def _replace_unknown(self, translated, texts):
        """Return the translations, with unknown words replaced by source words."""
        starts, ends = translated.source_starts, translated.source_ends
        source_words = tf.strings.substr(texts[:, None], starts, ends - starts)
        target = replace_unknown(
            translated.target_tokens,
            # Invalid bytes become U+FFFD, because JSON needs valid UTF-8.
            tf.strings.unicode_transcode(source_words, "UTF-8", "UTF-8"),
            translated.alignments,
            self.target_text.pieces(tf.constant(self.target_text.tokens.unknown)),
            self.table,
        )
        end = self.target_text.pieces(tf.constant(self.target_text.tokens.end))
        words = tf.where(target == end, "", target)
        texts = tf.strings.strip(tf.strings.reduce_join(words, axis=-1, separator=" "))
        return translated._replace(texts=texts, target_tokens=target)


def _mean_over_heads(alignments, rank):
    """Return alignments of this rank; the axis of heads is before the target."""
    if len(alignments.shape) == rank:
        return alignments
    return tf.reduce_mean(alignments, axis=-3)
