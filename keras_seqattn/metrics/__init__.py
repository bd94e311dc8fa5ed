"""Metrics of tokens, of texts and of alignments."""

from keras_seqattn.metrics.alignment_error import (
    GoldLinks,
    alignment_error_rate,
    alignment_links,
    read_alignments,
)
from keras_seqattn.metrics.confidence import (
    AlignmentConfidence,
    alignment_confidence,
    merge_subwords,
)
from keras_seqattn.metrics.levenshtein import edit_distance
from keras_seqattn.metrics.text_metric import TextMetric
from keras_seqattn.metrics.text_scores import (
    bleu,
    chrf,
    exact_match,
    token_error_rate,
    word_error_rate,
)
from keras_seqattn.metrics.token_metrics import Perplexity, TokenAccuracy

__all__ = [
    "AlignmentConfidence",
    "GoldLinks",
    "Perplexity",
    "TextMetric",
    "TokenAccuracy",
    "alignment_confidence",
    "alignment_error_rate",
    "alignment_links",
    "bleu",
    "chrf",
    "edit_distance",
    "exact_match",
    "merge_subwords",
    "read_alignments",
    "token_error_rate",
    "word_error_rate",
]
