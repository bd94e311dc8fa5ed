"""Attention mechanisms, encoders, bridges, decoder cells, decoders and heads.

One public class per file; `parts` has the code that they share.
"""

from keras_seqattn.layers.attention import Attention
from keras_seqattn.layers.attention_decoder import AttentionDecoder
from keras_seqattn.layers.bahdanau_attention import BahdanauAttention
from keras_seqattn.layers.bahdanau_cell import BahdanauCell
from keras_seqattn.layers.bi_encoder import BiEncoder
from keras_seqattn.layers.bridge import Bridge, CopyBridge, DenseBridge, ZeroBridge
from keras_seqattn.layers.cho_cell import ChoCell
from keras_seqattn.layers.composed_attention import ComposedAttention
from keras_seqattn.layers.composite import Composite
from keras_seqattn.layers.conditional_cell import ConditionalCell
from keras_seqattn.layers.context_cell import ContextCell
from keras_seqattn.layers.coverage_attention import CoverageAttention
from keras_seqattn.layers.decoder_cell import AttentiveCell, DecoderCell
from keras_seqattn.layers.deep_output_head import DeepOutputHead
from keras_seqattn.layers.encoder import Encoder
from keras_seqattn.layers.gnmt_cell import GNMTCell
from keras_seqattn.layers.keras_attention import KerasAttention
from keras_seqattn.layers.layer_norm_cells import LayerNormGRUCell, LayerNormLSTMCell
from keras_seqattn.layers.local_attention import LocalAttention
from keras_seqattn.layers.location_sensitive_attention import LocationSensitiveAttention
from keras_seqattn.layers.luong_attention import LuongAttention
from keras_seqattn.layers.luong_cell import LuongCell
from keras_seqattn.layers.monotonic_attention import MonotonicAttention
from keras_seqattn.layers.multi_head_additive_attention import (
    MultiHeadAdditiveAttention,
)
from keras_seqattn.layers.multi_head_attention import MultiHeadAttention
from keras_seqattn.layers.normalized_encoder import NormalizedEncoder
from keras_seqattn.layers.one_layer_attention import OneLayerAttention
from keras_seqattn.layers.output_head import OutputHead
from keras_seqattn.layers.position_embedding import PositionEmbedding
from keras_seqattn.layers.pretrained_encoder import PretrainedEncoder
from keras_seqattn.layers.projected_dot_attention import ProjectedDotAttention
from keras_seqattn.layers.pyramidal_encoder import PyramidalEncoder
from keras_seqattn.layers.stacked_encoder import StackedEncoder
from keras_seqattn.layers.transformer_decoder import TransformerDecoder
from keras_seqattn.layers.transformer_encoder import TransformerEncoder
from keras_seqattn.layers.uni_encoder import UniEncoder

__all__ = [
    "Attention",
    "AttentionDecoder",
    "AttentiveCell",
    "BahdanauAttention",
    "BahdanauCell",
    "BiEncoder",
    "Bridge",
    "ChoCell",
    "ComposedAttention",
    "Composite",
    "ConditionalCell",
    "ContextCell",
    "CopyBridge",
    "CoverageAttention",
    "DecoderCell",
    "DeepOutputHead",
    "DenseBridge",
    "Encoder",
    "GNMTCell",
    "KerasAttention",
    "LayerNormGRUCell",
    "LayerNormLSTMCell",
    "LocalAttention",
    "LocationSensitiveAttention",
    "LuongAttention",
    "LuongCell",
    "MonotonicAttention",
    "MultiHeadAdditiveAttention",
    "MultiHeadAttention",
    "NormalizedEncoder",
    "OneLayerAttention",
    "OutputHead",
    "PositionEmbedding",
    "PretrainedEncoder",
    "ProjectedDotAttention",
    "PyramidalEncoder",
    "StackedEncoder",
    "TransformerDecoder",
    "TransformerEncoder",
    "UniEncoder",
    "ZeroBridge",
]
