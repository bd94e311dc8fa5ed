"""Strings in, strings out: the one way from a text through the model and back."""

import dataclasses
from typing import Any, NamedTuple

import tensorflow as tf

from keras_seqattn.decoding.loop import decode
from keras_seqattn.decoding.unknown import replace_unknown
from keras_seqattn.text.words import Words


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
    """

    model: Any
    source_text: Any
    target_text: Any
    search: Any
    max_length: Any
    max_source: int = 1000
    unknown: dict | None = None

    def __post_init__(self):
        if self.unknown is not None and not isinstance(self.target_text, Words):
            raise ValueError(
                "Replacing unknown words needs words. Expected a target_text of class "
                f"Words, received {type(self.target_text).__name__} and "
                f"unknown={self.unknown!r}. Subwords have hardly any unknowns: leave "
                "`unknown` out."
            )

    def __call__(self, texts):
        """`Translated` for strings `[batch]`; a blank text has a blank translation."""
        texts = tf.convert_to_tensor(texts)
        ids, pieces, starts, ends, cut = self._source(texts)
        decoded = decode(
            self.model, ids, self.search, self.max_length, self.source_text.tokens
        )
        longest = tf.reduce_max(decoded.lengths)  # in a graph, there is room for more
        decoded = decoded._replace(
            tokens=decoded.tokens[..., :longest],
            alignments=decoded.alignments[..., :longest, :],
        )
        alignments = decoded.alignments
        if len(alignments.shape) == 5:  # heads stand before the target
            alignments = tf.reduce_mean(alignments, axis=2)
        target = self._pieces(decoded)
        translated = Translated(
            texts=self.target_text.decode(decoded.tokens),
            scores=decoded.scores,
            ranking=decoded.ranking,
            source_tokens=pieces.to_tensor(),
            source_starts=starts.to_tensor(),
            source_ends=ends.to_tensor(),
            source_lengths=tf.cast(pieces.row_lengths(), tf.int32),
            source_cut=cut,
            target_tokens=target,
            target_lengths=decoded.lengths,
            alignments=alignments,
        )
        if self.unknown is not None:
            translated = self._replaced(translated, texts, starts, ends)
        blank = tf.strings.regex_full_match(texts, r"[\s\pZ]*")
        return translated._replace(texts=tf.where(blank[:, None], "", translated.texts))

    def _source(self, texts):
        """Ids, dense; pieces, starts, ends, ragged; all with the end token; cut."""
        tokens = self.source_text.encode_with_offsets(texts)
        end = tf.fill(tf.shape(texts), self.source_text.tokens.end)
        size = tf.cast(tf.strings.length(texts), tf.int64)
        last = end, self.source_text.pieces(end), size, size
        ids, *rest = (
            tf.concat([row[:, : self.max_source], x[:, None]], axis=1)
            for row, x in zip(tokens, last, strict=True)
        )
        cut = tokens.ids.row_lengths() > self.max_source
        return ids.to_tensor(self.source_text.tokens.pad), *rest, cut

    def _pieces(self, decoded):
        real = tf.range(tf.shape(decoded.tokens)[2]) < decoded.lengths[..., None]
        return tf.where(real, self.target_text.pieces(decoded.tokens), "")

    def _replaced(self, translated, texts, starts, ends):
        """The source's own words in place of unknown ones."""
        typed = tf.strings.substr(
            tf.repeat(texts, starts.row_lengths()),
            starts.values,
            (ends - starts).values,
        )  # of the end token, nothing
        target = replace_unknown(
            translated.target_tokens,
            starts.with_values(typed).to_tensor(),
            translated.alignments,
            self.target_text.pieces(tf.constant(self.target_text.tokens.unknown)),
            self.unknown or None,
        )
        end = self.target_text.pieces(tf.constant(self.target_text.tokens.end))
        words = tf.where(target == end, "", target)
        texts = tf.strings.strip(tf.strings.reduce_join(words, axis=-1, separator=" "))
        return translated._replace(texts=texts, target_tokens=target)
