"""Cells, attentions, encoders, bridges and heads that cannot be, and what is said."""

from keras import layers

import keras_seqattn as ks
from keras_seqattn.layers.bi_encoder import BiEncoder
from keras_seqattn.layers.bridge import CopyBridge, DenseBridge
from keras_seqattn.layers.composed_attention import ComposedAttention
from keras_seqattn.layers.deep_output_head import DeepOutputHead
from keras_seqattn.layers.encoder import Encoder
from keras_seqattn.layers.normalized_encoder import NormalizedEncoder
from keras_seqattn.layers.output_head import OutputHead
from keras_seqattn.layers.stacked_encoder import StackedEncoder
from keras_seqattn.layers.uni_encoder import UniEncoder
from tests.errors.valid_arguments import UNITS, additive, attend, bahdanau_cell, ones

_HEADS = {"attention": ks.layers.MultiHeadAdditiveAttention(4, heads=2)}
_NAMES = "'gru', 'gru_paper', 'layer_norm_gru', 'layer_norm_lstm', 'lstm', 'simple'"


class WithoutEncode(Encoder):
    def __init__(self):
        super().__init__(UNITS, "gru")


LAYERS = [
    # Cells.
    (
        "Keras cell in place of a decoder cell",
        lambda: ks.AttentionDecoder(layers.GRUCell(UNITS)),
        "AttentionDecoder got an unusable cell. Expected a decoder cell (see "
        "DecoderCell), received <GRUCell name=..., built=False>, which lacks "
        "state_type, zero_state, prepare, look_ahead, drop, project, initial_state, "
        "step, alignment_shape. Wrap a recurrent cell first, e.g. BahdanauCell(256, "
        "attention=BahdanauAttention(256), cell='gru').",
    ),
    (
        "decoder cell called",
        lambda: bahdanau_cell()(ones(2, 3, 4)),
        "BahdanauCell cannot be called. Expected its methods prepare, project, "
        "initial_state and step, received a call. Wrap it: "
        "AttentionDecoder(BahdanauCell(...)).",
    ),
    (
        "unknown cell",
        lambda: bahdanau_cell("gur"),
        "BahdanauCell got an unknown cell. Expected one of gru, gru_paper, "
        "layer_norm_gru, layer_norm_lstm, lstm, simple, received 'gur'. Use 'gru', the "
        "nearest.",
    ),
    (
        "number in place of a cell",
        lambda: bahdanau_cell(7),
        f"BahdanauCell got an unusable cell. Expected one of [{_NAMES}] or a Keras RNN "
        "cell object, received cell=7. Pass e.g. "
        'cell="lstm" or cell=keras.layers.LSTMCell(units).',
    ),
    (
        "cell of another size",
        lambda: bahdanau_cell(layers.GRUCell(4)),
        "BahdanauCell got a cell of another size than its own. Expected one with "
        "output_size=3, received GRUCell with output_size=4. Give both the same "
        "number of units.",
    ),
    (
        "cell with dropout",
        lambda: bahdanau_cell(
            layers.StackedRNNCells(
                [layers.GRUCell(UNITS), layers.GRUCell(UNITS, recurrent_dropout=0.1)]
            )
        ),
        "BahdanauCell got a Keras cell with dropout. Expected dropout=0 and "
        "recurrent_dropout=0: Keras keeps the dropout masks on the cell, and "
        "only its own RNN layer resets them, received <GRUCell name=..., "
        "built=False>. Give dropout to BahdanauCell instead, whose masks are "
        "arguments.",
    ),
    (
        "recurrent dropout of a cell object",
        lambda: bahdanau_cell(layers.GRUCell(UNITS), recurrent_dropout=0.1),
        "BahdanauCell got recurrent_dropout beside a cell object. Expected 0: "
        "the product with the state is inside the cell, out of reach, received "
        "recurrent_dropout=0.1 and <GRUCell name=..., built=False>. Name the "
        "cell, e.g. cell='lstm', or, in an encoder, give the rate to the cell "
        "object.",
    ),
    (
        "recurrent dropout of an encoder's cell object",
        lambda: BiEncoder(UNITS, layers.LSTMCell(UNITS), recurrent_dropout=0.1),
        "BiEncoder got recurrent_dropout beside a cell object. Expected 0: the "
        "product with the state is inside the cell, out of reach, received "
        "recurrent_dropout=0.1 and <LSTMCell name=..., built=False>. Name the "
        "cell, e.g. cell='lstm', or, in an encoder, give the rate to the cell "
        "object.",
    ),
    (
        "recurrent dropout of everything",
        lambda: bahdanau_cell(recurrent_dropout=1.0),
        "BahdanauCell got an unusable recurrent_dropout. Expected a rate in [0, 1), "
        "received recurrent_dropout=1.0. Use 0 to switch it off.",
    ),
    (
        "recurrent dropout of everything in an encoder",
        lambda: BiEncoder(UNITS, recurrent_dropout=1.0),
        "BiEncoder got an unusable recurrent_dropout. Expected a rate in [0, 1), "
        "received recurrent_dropout=1.0. Use 0 to switch it off.",
    ),
    (
        "cell object for several layers",
        lambda: bahdanau_cell(layers.GRUCell(UNITS), layers=2),
        "BahdanauCell got a cell object for several layers. Expected layers=1 with a "
        "Keras cell, received layers=2 and <GRUCell name=..., built=False>. Name the "
        "cell, e.g. cell='lstm', or stack cells with keras.layers.StackedRNNCells.",
    ),
    (
        "initializer beside a decoder's cell object",
        lambda: ks.layers.ContextCell(
            UNITS, layers.GRUCell(UNITS), recurrent_initializer="zeros"
        ),
        "ContextCell got recurrent_initializer beside a cell object. Expected the "
        "default 'orthogonal', received <keras....Zeros object at ...>. Give it to the "
        "cell, which makes its own weights.",
    ),
    (
        "name in place of an attention",
        lambda: ks.layers.LuongCell(UNITS, "general"),
        "LuongCell got an unusable attention. Expected an attention layer with the "
        "verbs prepare and attend, received 'general'. Pass an object, e.g. "
        "attention=BahdanauAttention(256).",
    ),
    (
        "class in place of an attention",
        lambda: ks.layers.LuongCell(UNITS, ks.LuongAttention),
        "LuongCell got an unusable attention. Expected an attention layer with the "
        "verbs prepare and attend, received <class '....LuongAttention'>. Pass an "
        "object, e.g. attention=BahdanauAttention(256).",
    ),
    (
        "class in place of a decoder cell",
        lambda: ks.AttentionDecoder(ks.layers.BahdanauCell),
        "AttentionDecoder got an unusable cell. Expected a decoder cell (see "
        "DecoderCell), received <class '....BahdanauCell'>, which lacks build, "
        "state_size, state_type, zero_state, prepare, look_ahead, drop, project, "
        "initial_state, "
        "step, compute_output_shape, alignment_shape. Wrap a recurrent cell first, "
        "e.g. BahdanauCell(256, attention=BahdanauAttention(256), cell='gru').",
    ),
    (
        "unknown readout",
        lambda: bahdanau_cell(readout="next_state"),
        "BahdanauCell got an unknown readout. Expected one of previous_state, "
        "state, received 'next_state'. Use 'state', the nearest.",
    ),
    (
        "one GNMT layer",
        lambda: ks.layers.GNMTCell(UNITS, additive(), layers=1),
        "GNMTCell got too few layers. Expected layers >= 2 (the bottom one "
        "attends, those above read) and residual_from >= 2 (the bottom one's input has "
        "another size), received layers=1, residual_from=3. For one layer use "
        "BahdanauCell or LuongCell.",
    ),
    (
        "two conditional layers",
        lambda: ks.layers.ConditionalCell(UNITS, additive(), layers=2),
        "ConditionalCell got several layers. Expected layers=1, which is both of its "
        "cells, received layers=2. For a deep decoder use BahdanauCell, LuongCell or "
        "GNMTCell.",
    ),
    # Attentions.
    (
        "unknown score",
        lambda: ks.LuongAttention("additive"),
        "LuongAttention got an unknown score. Expected one of concat, dot, "
        "general, location, scaled_dot, received 'additive'. Check the spelling.",
    ),
    (
        "units of a dot product",
        lambda: ks.LuongAttention("dot", units=UNITS),
        "LuongAttention got an argument that score='dot' does not use. Expected "
        "units only with score in ('concat',), received units=3. Drop units, or "
        "change the score.",
    ),
    (
        "scale of concat",
        lambda: ks.LuongAttention("concat", scale=True),
        "LuongAttention got an argument that score='concat' does not use. Expected "
        "scale only with score in ('dot', 'general'), received scale=True. Drop "
        "scale, or change the score.",
    ),
    (
        "maximum_source of general",
        lambda: ks.LuongAttention("general", maximum_source=9),
        "LuongAttention got an argument that score='general' does not use. Expected "
        "maximum_source only with score in ('location',), received maximum_source=9. "
        "Drop maximum_source, or change the score.",
    ),
    (
        "dot product of unequal depths",
        lambda: attend(attention=ks.LuongAttention("dot")),
        "LuongAttention got score='dot' for unequal depths. Expected query_depth = "
        "memory_depth, received 4 and 6. Use score='general' (a matrix between the "
        "two), or make the depths equal.",
    ),
    (
        "factor that is no number",
        lambda: ks.layers.ProjectedDotAttention(UNITS, factor=True),
        "ProjectedDotAttention got an unusable factor. Expected a number or None, "
        "received factor=True. Pass e.g. factor=3**-0.5.",
    ),
    (
        "units that the heads cannot share",
        lambda: ks.layers.MultiHeadAdditiveAttention(5, heads=2),
        "MultiHeadAdditiveAttention cannot share its units among its heads. Expected "
        "units divisible by heads, received units=5 and heads=2. Use e.g. units=6.",
    ),
    (
        "filters without a centre",
        lambda: ks.layers.LocationSensitiveAttention(UNITS, kernel_size=4),
        "LocationSensitiveAttention got filters that have no centre. Expected an odd "
        "kernel_size, received kernel_size=4. Use 3 or 5.",
    ),
    (
        "monotonic around local",
        lambda: ks.layers.MonotonicAttention(ks.layers.LocalAttention(additive())),
        "MonotonicAttention got an unusable attention. Expected a mechanism that "
        "aligns by a softmax over its score, because this softmax is what it "
        "replaces, received <LocalAttention name=..., built=False>. Pass an object, "
        "e.g. attention=LuongAttention('general').",
    ),
    (
        "local with heads",
        lambda: attend(attention=ks.layers.LocalAttention(**_HEADS)),
        "LocalAttention got an attention with heads. Expected one alignment [batch, "
        "..., source] for each query, received MultiHeadAdditiveAttention with "
        "alignments of shape (2, 2, 3, 5). Use a mechanism with a single alignment.",
    ),
    (
        "units without weights",
        lambda: ks.layers.LocalAttention(additive(), units=UNITS),
        "LocalAttention got units for a position that has no weights. Expected it "
        "only with position='predictive', received units=3 with "
        "position='monotonic'. Drop units, or change the position.",
    ),
    (
        "negative noise",
        lambda: ks.layers.MonotonicAttention(additive(), noise=-1.0),
        "MonotonicAttention got a negative noise. Expected a standard deviation >= "
        "0, received noise=-1.0. Use 0 to switch it off.",
    ),
    (
        "no score",
        lambda: attend(attention=ks.layers.Attention()),
        "Attention has no score. Expected a subclass of Attention that defines "
        "score(query, memory, state), received none. See CONTRIBUTING.md.",
    ),
    (
        "no alignment",
        lambda: attend(attention=ComposedAttention(additive())),
        "ComposedAttention has no alignment. Expected a subclass of "
        "ComposedAttention that defines align(scores, query, memory, past, "
        "training), received none. See CONTRIBUTING.md.",
    ),
    # Encoders and bridges.
    (
        "no encode",
        lambda: WithoutEncode()(ones(2, 5, 4)),
        "WithoutEncode has no encoding. Expected a subclass of Encoder that "
        "defines encode(inputs, mask, training), received none. See "
        "CONTRIBUTING.md.",
    ),
    (
        "encoder cell that is none",
        lambda: BiEncoder(UNITS, cell=7),
        f"BiEncoder got an unusable cell. Expected one of [{_NAMES}] or a Keras RNN "
        "cell object, received cell=7. Pass e.g. "
        'cell="lstm" or cell=keras.layers.LSTMCell(units).',
    ),
    (
        "encoder cell of another size",
        lambda: BiEncoder(UNITS, cell=layers.LSTMCell(4)),
        "BiEncoder got a cell of another size than its own. Expected one with "
        "output_size=3, received LSTMCell with output_size=4. Give both the same "
        "number of units.",
    ),
    (
        "initializer beside a cell object",
        lambda: BiEncoder(
            UNITS, cell=layers.LSTMCell(UNITS), kernel_initializer="ones"
        ),
        "BiEncoder got kernel_initializer beside a cell object. Expected the default "
        "'glorot_uniform', received <keras....Ones object at ...>. Give it to the "
        "cell, which makes its own weights.",
    ),
    (
        "one stacked layer",
        lambda: StackedEncoder(UNITS, layers=1),
        "StackedEncoder got too few layers. Expected at least 2, the bidirectional "
        "one and one above it, received layers=1. For a single bidirectional layer "
        "use BiEncoder.",
    ),
    (
        "no encoder to normalise",
        lambda: NormalizedEncoder(UNITS),
        "NormalizedEncoder got an unusable encoder. Expected an Encoder, received 3. "
        "Pass e.g. BiEncoder(units).",
    ),
    (
        "residual too early",
        lambda: StackedEncoder(UNITS, residual_from=2),
        "StackedEncoder got an unusable residual_from. Expected 3 or more, received "
        "residual_from=2: below the third layer the input is not as wide as the "
        "output. Use None for no residuals.",
    ),
    (
        "residual around the first bidirectional layer",
        lambda: BiEncoder(UNITS, residual_from=1),
        "BiEncoder got an unusable residual_from. Expected 2 or more, received "
        "residual_from=1: the input of the first layer is not as wide as its output. "
        "Use None for no residuals.",
    ),
    (
        "residual around the first layer",
        lambda: UniEncoder(UNITS, residual_from=1),
        "UniEncoder got an unusable residual_from. Expected 2 or more, received "
        "residual_from=1: the input of the first layer is not as wide as its output. "
        "Use None for no residuals.",
    ),
    (
        "layers that the encoder does not have",
        lambda: CopyBridge(layers=[1])(BiEncoder(UNITS)(ones(2, 5, 4))),
        "CopyBridge got layers that the encoder does not have. Expected indices from "
        "-1 to 0, received layers=[1]. Count from 0 at the bottom, or use None for "
        "all layers.",
    ),
    (
        "no backward half",
        lambda: DenseBridge(UNITS, inputs="backward")(
            BiEncoder(UNITS, merge="sum")(ones(2, 5, 4))
        ),
        "DenseBridge got a state whose size is odd. Expected the forward and "
        "backward halves of a bidirectional layer, received size 3. Use "
        'inputs="state" after an encoder that does not concatenate them.',
    ),
    (
        "values in place of what is encoded",
        lambda: CopyBridge()(ones(2, 5, 6)),
        "CopyBridge got something else than what an encoder returns. Expected "
        "Encoded(values, mask, state), received (2, 5, 6). Pass the result of the "
        "encoder whole, not one of its parts.",
    ),
    # Heads.
    (
        "head tied to a plain Embedding",
        lambda: OutputHead(9, embedding=layers.Embedding(9, 4)),
        "OutputHead got an embedding that cannot run backwards. Expected a "
        "keras.layers.ReversibleEmbedding, received <Embedding name=..., "
        "built=False>. Use that layer for the target embedding, too: it is an "
        "Embedding otherwise.",
    ),
    (
        "head tied to another vocabulary",
        lambda: DeepOutputHead(9, 4, embedding=layers.ReversibleEmbedding(8, 4)),
        "OutputHead got an embedding of another vocabulary. Expected input_dim = "
        "vocabulary_size = 9, received 8. Tie the head to the embedding of the "
        "target language.",
    ),
]
