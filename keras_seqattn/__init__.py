"""Recurrent sequence-to-sequence attention for Keras 3 and TensorFlow."""

from keras_seqattn import data, tensorboard
from keras_seqattn.decoding.beam import BeamSearch
from keras_seqattn.decoding.ensemble import Ensemble
from keras_seqattn.decoding.greedy import Greedy
from keras_seqattn.decoding.limits import RelativeLength
from keras_seqattn.decoding.loop import decode
from keras_seqattn.decoding.penalties import coverage_penalty, length_penalty
from keras_seqattn.decoding.protocol import StepModel
from keras_seqattn.decoding.sampling import Sample
from keras_seqattn.decoding.scoring import score
from keras_seqattn.decoding.search import Search
from keras_seqattn.decoding.shortlist import Shortlist
from keras_seqattn.decoding.unknown import replace_unknown
from keras_seqattn.layers.attention import Attention
from keras_seqattn.layers.attention_decoder import AttentionDecoder
from keras_seqattn.layers.attentive_cell import AttentiveCell
from keras_seqattn.layers.bahdanau_attention import BahdanauAttention
from keras_seqattn.layers.bahdanau_cell import BahdanauCell
from keras_seqattn.layers.bi_encoder import BiEncoder
from keras_seqattn.layers.bridge import Bridge, CopyBridge, DenseBridge, ZeroBridge
from keras_seqattn.layers.cho_cell import ChoCell
from keras_seqattn.layers.composed_attention import ComposedAttention
from keras_seqattn.layers.conditional_cell import ConditionalCell
from keras_seqattn.layers.context_cell import ContextCell
from keras_seqattn.layers.coverage_attention import CoverageAttention
from keras_seqattn.layers.decoder_cell import DecoderCell
from keras_seqattn.layers.deep_output_head import DeepOutputHead
from keras_seqattn.layers.encoder import Encoder
from keras_seqattn.layers.gnmt_cell import GNMTCell
from keras_seqattn.layers.layer_norm_cells import LayerNormGRUCell, LayerNormLSTMCell
from keras_seqattn.layers.local_attention import LocalAttention
from keras_seqattn.layers.location_sensitive_attention import LocationSensitiveAttention
from keras_seqattn.layers.luong_attention import LuongAttention
from keras_seqattn.layers.luong_cell import LuongCell
from keras_seqattn.layers.monotonic_attention import MonotonicAttention
from keras_seqattn.layers.multi_head_additive_attention import (
    MultiHeadAdditiveAttention,
)
from keras_seqattn.layers.normalized_encoder import NormalizedEncoder
from keras_seqattn.layers.one_layer_attention import OneLayerAttention
from keras_seqattn.layers.output_head import OutputHead
from keras_seqattn.layers.projected_dot_attention import ProjectedDotAttention
from keras_seqattn.layers.pyramidal_encoder import PyramidalEncoder
from keras_seqattn.layers.stacked_encoder import StackedEncoder
from keras_seqattn.layers.uni_encoder import UniEncoder
from keras_seqattn.models.seq2seq import Seq2Seq
from keras_seqattn.tensorboard.callback import AttentionCallback
from keras_seqattn.text.characters import Characters
from keras_seqattn.text.heat_map import heat_map
from keras_seqattn.text.processor import TextProcessor
from keras_seqattn.text.sentence_piece import SentencePiece
from keras_seqattn.text.word_piece import WordPiece
from keras_seqattn.text.words import Words
from keras_seqattn.training.adam import FusedAdam
from keras_seqattn.training.alignment_confidence import (
    AlignmentConfidence,
    alignment_confidence,
    merge_subwords,
)
from keras_seqattn.training.alignment_error import (
    GoldLinks,
    alignment_error_rate,
    alignment_links,
    read_alignments,
)
from keras_seqattn.training.averaging import average_checkpoints
from keras_seqattn.training.divergence import DivergenceGuard
from keras_seqattn.training.edit_distance import edit_distance
from keras_seqattn.training.fused_crossentropy import FusedCrossentropy
from keras_seqattn.training.losses import SmoothedCrossentropy
from keras_seqattn.training.metrics import Perplexity, TokenAccuracy
from keras_seqattn.training.sampling_probability import (
    ConstantProbability,
    ExponentialProbability,
    InverseSigmoidProbability,
    LinearProbability,
    SamplingProbability,
)
from keras_seqattn.training.scheduled_sampling import ScheduledSampling
from keras_seqattn.training.schedules import HalvingDecay, RNMTPlusSchedule
from keras_seqattn.training.text_metric import TextMetric
from keras_seqattn.training.text_metrics import (
    bleu,
    chrf,
    exact_match,
    token_error_rate,
    word_error_rate,
)
from keras_seqattn.training.validation import Validation
from keras_seqattn.translator.translation import Token, Translation, Translations
from keras_seqattn.translator.translator import Translator
from keras_seqattn.types import (
    Attended,
    Decoded,
    Encoded,
    Memory,
    Scored,
    SpecialTokens,
    Started,
    Step,
)

__version__ = "0.1.0"

__all__ = [
    "AlignmentConfidence",
    "Attended",
    "Attention",
    "AttentionCallback",
    "AttentionDecoder",
    "AttentiveCell",
    "BahdanauAttention",
    "BahdanauCell",
    "BeamSearch",
    "BiEncoder",
    "Bridge",
    "Characters",
    "ChoCell",
    "ComposedAttention",
    "ConditionalCell",
    "ConstantProbability",
    "ContextCell",
    "CopyBridge",
    "CoverageAttention",
    "Decoded",
    "DecoderCell",
    "DeepOutputHead",
    "DenseBridge",
    "DivergenceGuard",
    "Encoded",
    "Encoder",
    "Ensemble",
    "ExponentialProbability",
    "FusedAdam",
    "FusedCrossentropy",
    "GNMTCell",
    "GoldLinks",
    "Greedy",
    "HalvingDecay",
    "InverseSigmoidProbability",
    "LayerNormGRUCell",
    "LayerNormLSTMCell",
    "LinearProbability",
    "LocalAttention",
    "LocationSensitiveAttention",
    "LuongAttention",
    "LuongCell",
    "Memory",
    "MonotonicAttention",
    "MultiHeadAdditiveAttention",
    "NormalizedEncoder",
    "OneLayerAttention",
    "OutputHead",
    "Perplexity",
    "ProjectedDotAttention",
    "PyramidalEncoder",
    "RNMTPlusSchedule",
    "RelativeLength",
    "Sample",
    "SamplingProbability",
    "ScheduledSampling",
    "Scored",
    "Search",
    "SentencePiece",
    "Seq2Seq",
    "Shortlist",
    "SmoothedCrossentropy",
    "SpecialTokens",
    "StackedEncoder",
    "Started",
    "Step",
    "StepModel",
    "TextMetric",
    "TextProcessor",
    "Token",
    "TokenAccuracy",
    "Translation",
    "Translations",
    "Translator",
    "UniEncoder",
    "Validation",
    "WordPiece",
    "Words",
    "ZeroBridge",
    "alignment_confidence",
    "alignment_error_rate",
    "alignment_links",
    "average_checkpoints",
    "bleu",
    "chrf",
    "coverage_penalty",
    "data",
    "decode",
    "edit_distance",
    "exact_match",
    "heat_map",
    "length_penalty",
    "merge_subwords",
    "read_alignments",
    "replace_unknown",
    "score",
    "tensorboard",
    "token_error_rate",
    "word_error_rate",
]
