"""Cells, attentions, encoders, bridges and heads that cannot be, and their errors."""

import keras
from keras import layers

import keras_seqattn as ks
from keras_seqattn.layers.bridge import CopyBridge, DenseBridge
from keras_seqattn.layers.composed_attention import ComposedAttention
from keras_seqattn.layers.encoder import Encoder
from keras_seqattn.layers.normalized_encoder import NormalizedEncoder
from keras_seqattn.layers.stacked_encoder import StackedEncoder
from tests.errors.valid_arguments import UNITS, additive, attend, bahdanau_cell, ones


class WithoutEncode(Encoder):
    def __init__(self):
        super().__init__(UNITS, "gru")


@keras.saving.register_keras_serializable("tests")
class UnknownCell(keras.layers.GRUCell):
    """A subclass that the library does not know."""


def encoded(**options):
    return ks.BiEncoder(UNITS, **options)(ones(2, 5, 4))


def local_with_heads():
    heads = ks.layers.MultiHeadAdditiveAttention(4, heads=2)
    attend(attention=ks.layers.LocalAttention(heads))


def stacked_with_dropout():
    cells = [layers.GRUCell(UNITS), layers.GRUCell(UNITS, recurrent_dropout=0.1)]
    return layers.StackedRNNCells(cells)


def transformed():
    return ks.layers.TransformerEncoder(8, layers=1)(ones(2, 5, 8))


def decoder_of_4():
    positions = ks.layers.PositionEmbedding("learned", 4)
    decoder = ks.layers.TransformerDecoder(8, layers=1, positions=positions)
    decoder.build((2, 3, 8), (2, 5, 8))
    return decoder


def around_keras(layer):
    return lambda: attend(attention=ks.layers.KerasAttention(layer))


BUILT = layers.MultiHeadAttention(2, 3, name="heads")
BUILT.build((2, 5, 6), (2, 5, 6))
CELLS = {
    "AttentionDecoder got an unusable cell ... <GRUCell name= ... , built=False>, "
    "which lacks state_type, zero_state, prepare, precompute, drop, project, "
    "initial_state, step, alignment_shape. Wrap a recurrent "
    "cell": lambda: ks.AttentionDecoder(layers.GRUCell(UNITS)),
    "AttentionDecoder got an unusable cell ... .BahdanauCell'>, which lacks "
    "build,": lambda: ks.AttentionDecoder(ks.layers.BahdanauCell),
    "BahdanauCell cannot be called": lambda: bahdanau_cell()(ones(2, 3, 4)),
    "BahdanauCell got an unknown cell. Expected one of gru, gru_paper, layer_norm_gru, "
    "layer_norm_lstm, lstm, simple, received 'gur'. Use 'gru', the "
    "nearest.": lambda: bahdanau_cell("gur"),
    "BiEncoder got an unknown cell ... received 'GRU'. Use 'gru', the "
    "nearest": lambda: ks.BiEncoder(UNITS, "GRU"),
    "BahdanauCell got an unusable cell. Expected one of ['gru', 'gru_paper', "
    "'layer_norm_gru', 'layer_norm_lstm', 'lstm', 'simple'] or a Keras RNN cell "
    'object, received cell=7. Pass e.g. cell="lstm" or '
    "cell=keras.layers.LSTMCell(units).": lambda: bahdanau_cell(7),
    "BahdanauCell got an unusable cell ... received cell=<GRU name=": lambda: (
        bahdanau_cell(layers.GRU(UNITS))
    ),
    "BahdanauCell got a cell of another size than its own. Expected one with "
    "output_size=3, received GRUCell with output_size=4. Give both the same number of "
    "units.": lambda: bahdanau_cell(layers.GRUCell(4)),
    "BahdanauCell got a Keras cell with dropout ... <GRUCell ... to "
    "BahdanauCell": lambda: bahdanau_cell(stacked_with_dropout()),
    "BahdanauCell got recurrent_dropout beside a cell ... =0.1 and <GRUCell "
    "name=": lambda: bahdanau_cell(layers.GRUCell(UNITS), recurrent_dropout=0.1),
    "BahdanauCell got a cell object for several layers ... layers=2 and "
    "<GRUCell": lambda: bahdanau_cell(layers.GRUCell(UNITS), layers=2),
    "BahdanauCell got an unknown readout": lambda: bahdanau_cell(readout="next_state"),
    "BiEncoder got an unusable cell ... cell=7": lambda: ks.BiEncoder(UNITS, 7),
    "BiEncoder got a cell of another size ... LSTMCell with output_size=4. Give both "
    "the same number of units": lambda: ks.BiEncoder(UNITS, layers.LSTMCell(4)),
    "BiEncoder got recurrent_dropout beside a cell ... =0.1 and <LSTMCell "
    "name=": lambda: ks.BiEncoder(UNITS, layers.LSTMCell(UNITS), recurrent_dropout=0.1),
    "BiEncoder got kernel_initializer beside a cell object ... 'he_uniform'": lambda: (
        ks.BiEncoder(UNITS, layers.LSTMCell(UNITS), kernel_initializer="ones")
    ),
    "ContextCell got recurrent_initializer beside a cell ... 'orthogonal', "
    "received": lambda: ks.layers.ContextCell(
        UNITS, layers.GRUCell(UNITS), recurrent_initializer="zeros"
    ),
    "LuongCell got an unusable attention. Expected an attention layer with the verbs "
    "prepare and attend, received 'general'. Pass an object, e.g. "
    "attention=BahdanauAttention(256).": lambda: ks.layers.LuongCell(UNITS, "general"),
    "LuongCell got an unusable attention ... .LuongAttention'>. Pass an object, "
    "e.g": lambda: ks.layers.LuongCell(UNITS, ks.LuongAttention),
    "LuongCell got an unknown attentional. Expected one of concat, units, received "
    "'concatenate'. Use 'concat', the nearest.": lambda: ks.layers.LuongCell(
        UNITS, additive(), attentional="concatenate"
    ),
    "LuongCell got an unusable attentional ... attentional=0. Pass": lambda: (
        ks.layers.LuongCell(UNITS, additive(), attentional=0)
    ),
    "GNMTCell got an unusable residual_from ... =1": lambda: ks.layers.GNMTCell(
        UNITS, additive(), residual_from=1
    ),
    "BiEncoder got an unknown argument ... received 'dropuot'. Use 'dropout'": lambda: (
        ks.BiEncoder(UNITS, dropuot=0.1)
    ),
    "GNMTCell got too few layers ... layers=1. For one layer use": lambda: (
        ks.layers.GNMTCell(UNITS, additive(), layers=1)
    ),
    "ConditionalCell got several layers ... received layers=2. For a deep "
    "decoder": lambda: ks.layers.ConditionalCell(UNITS, additive(), layers=2),
}
ATTENTIONS = {
    "LuongAttention got an unknown score. Expected one of additive, bilinear, concat, "
    "dot, general, location, mlp, multiplicative, scaled_dot, received 'Bilinaer'. Use "
    "'bilinear', the nearest.": lambda: ks.LuongAttention("Bilinaer"),
    "LuongAttention got an argument that score='dot' does not use. Expected units only "
    "with score in ('concat',), received units=3. Drop units, or change the "
    "score.": lambda: ks.LuongAttention("dot", units=UNITS),
    "LuongAttention got an argument that score='concat' does not use ... in ('dot', "
    "'general'), received scale=True": lambda: ks.LuongAttention("concat", scale=True),
    "LuongAttention got an argument that score='general' does not use ... location',), "
    "received maximum_source=9": lambda: ks.LuongAttention("general", maximum_source=9),
    "LuongAttention got score='dot' for unequal depths ... received 4 and 6. "
    "Use": lambda: attend(attention=ks.LuongAttention("dot")),
    "ProjectedDotAttention got an unusable factor ... factor=True. Pass e.g. "
    "factor=3**-0.5": lambda: ks.layers.ProjectedDotAttention(UNITS, factor=True),
    "MultiHeadAdditiveAttention cannot share its units ... units=5 and ... "
    "units=6": lambda: ks.layers.MultiHeadAdditiveAttention(5, heads=2),
    "LocationSensitiveAttention got filters that have no ... kernel_size=4. Use "
    "3": lambda: ks.layers.LocationSensitiveAttention(UNITS, kernel_size=4),
    "MonotonicAttention got an unusable attention ... received "
    "<LocalAttention": lambda: ks.layers.MonotonicAttention(
        ks.layers.LocalAttention(additive())
    ),
    "MonotonicAttention got an unusable noise": lambda: ks.layers.MonotonicAttention(
        additive(), noise="1"
    ),
    "MonotonicAttention got an unusable score_bias": lambda: (
        ks.layers.MonotonicAttention(additive(), score_bias=None)
    ),
    "MonotonicAttention got a negative noise ... noise=-1.0. Use 0 to switch it "
    "off": lambda: ks.layers.MonotonicAttention(additive(), noise=-1.0),
    "LocalAttention got an attention with heads ... (2, 2, 3, 5)": local_with_heads,
    "LocalAttention got units for a position that ... with "
    "position='monotonic'": lambda: ks.layers.LocalAttention(additive(), units=UNITS),
    "KerasAttention got": {
        "an unusable layer. Expected Attention, AdditiveAttention, MultiHeadAttention "
        "or GroupQueryAttention of keras.layers, from [batch, time, depth] to [batch, "
        "time, depth], received <Dense": around_keras(layers.Dense(4)),
        "an unusable layer ... with a sliding_window, which": around_keras(
            layers.MultiHeadAttention(2, 3, sliding_window=2)
        ),
        "an unusable layer ... with flash attention, which returns no": around_keras(
            layers.MultiHeadAttention(2, 3, flash_attention=True)
        ),
        "an unusable layer ... with attention_axes=(2,)": around_keras(
            layers.MultiHeadAttention(2, 3, attention_axes=2)
        ),
        "an unusable layer ... with output_shape=(2, 3). Pass": around_keras(
            layers.MultiHeadAttention(2, 3, output_shape=(2, 3))
        ),
        "Attention for unequal depths ... 4 and 6. Use": around_keras(
            layers.Attention()
        ),
        "'heads', which was built for other tensors. Expected query, value and key of "
        "the shapes [(2, 5, 6), (2, 5, 6), (2, 5, 6)], as it was built, received [(2, "
        "None, 4), (2, 5, 6), (2, 5, 6)]. Pass a new layer": around_keras(BUILT),
    },
    "Attention has no score ... score(query, memory, state), received none. Define "
    "it": lambda: attend(attention=ks.layers.Attention()),
    "ComposedAttention has no alignment ... align(scores, query, memory, "
    "past,": lambda: attend(attention=ComposedAttention(additive())),
}
ENCODERS = {
    "WithoutEncode has no encoding": lambda: WithoutEncode()(ones(2, 5, 4)),
    "StackedEncoder got too few layers ... layers=1. For a single "
    "bidirectional": lambda: StackedEncoder(UNITS, layers=1),
    "StackedEncoder got an unusable residual_from ... 3 or more, received "
    "residual_from=2:": lambda: StackedEncoder(UNITS, residual_from=2),
    "NormalizedEncoder got an unusable encoder ... 3": lambda: NormalizedEncoder(UNITS),
    "BiEncoder got an unusable residual_from. Expected 2 or more, received "
    "residual_from=1: the input of the first layer is not as wide as its output. Use "
    "None for no residuals.": lambda: ks.BiEncoder(UNITS, residual_from=1),
    "BiEncoder got an unknown implementation. Expected one of auto, fast, reference, "
    "received 'quick'. Use 'auto' or 'fast' or 'reference'.": lambda: ks.BiEncoder(
        UNITS, implementation="quick"
    ),
    "UniEncoder got an unusable residual_from ... 2 or more, received "
    "residual_from=1:": lambda: ks.layers.UniEncoder(UNITS, residual_from=1),
    "UniEncoder cannot run its fast implementation. Expected a call that "
    "it supports, received one where UnknownCell may do anything. Pass "
    "implementation='auto', which takes the readable one here.": lambda: (
        ks.layers.UniEncoder(UNITS, cell=UnknownCell(UNITS), implementation="fast")(
            ones(2, 3, 4)
        )
    ),
    "CopyBridge got layers that the encoder ... -1 to 0, received layers=[1]. Count "
    "from 0 at the bottom": lambda: CopyBridge(layers=[1])(encoded()),
    "CopyBridge got something else ... (2, 5, 6)": lambda: CopyBridge()(ones(2, 5, 6)),
    "DenseBridge got a state whose size is odd ... received size 3": lambda: (
        DenseBridge(UNITS, inputs="backward")(encoded(merge="sum"))
    ),
}
HEADS = {
    "OutputHead got an embedding that cannot run backwards ... <Embedding "
    "name=": lambda: ks.layers.OutputHead(9, embedding=layers.Embedding(9, 4)),
    "OutputHead got an embedding of another vocabulary ... size = 9, "
    "received 8": lambda: ks.layers.DeepOutputHead(
        9, 4, embedding=layers.ReversibleEmbedding(8, 4)
    ),
}
TRANSFORMERS = {
    "TransformerDecoder cannot share its units among its heads ... units=8 and "
    "heads=3": lambda: ks.layers.TransformerDecoder(8, heads=3),
    "TransformerEncoder got unusable positions ... received 'learned'": lambda: (
        ks.layers.TransformerEncoder(8, positions="learned")
    ),
    "TransformerDecoder got an unusable alignment ... from -6 to 5, received "
    "alignment=6": lambda: ks.layers.TransformerDecoder(8, alignment=6),
    "TransformerDecoder got an unusable alignment. Expected 'layer 1' to 'layer 6', "
    "also with '/head 1' to '/head 2' ... 'layer 1/head 3'": lambda: (
        ks.layers.TransformerDecoder(8, heads=2, alignment="layer 1/head 3")
    ),
    "TransformerDecoder got an unknown return_attention_scores ... received 'layer "
    "1'": lambda: ks.layers.TransformerDecoder(8, layers=1)(
        ones(2, 3, 8), ones(2, 4, 8), return_attention_scores="layer 1"
    ),
    "TransformerDecoder got an attention that cannot run in parallel ... received "
    "CoverageAttention": lambda: ks.layers.TransformerDecoder(
        8, self_attention=ks.layers.CoverageAttention(4)
    ),
    "TransformerDecoder got an initial_state ... received a ndarray": lambda: (
        decoder_of_4().initial_state(decoder_of_4().prepare(ones(2, 5, 8)), ones(2, 8))
    ),
    "TransformerDecoder got an initial_state ... None": lambda: (
        ks.layers.TransformerDecoder(8, layers=1)(
            ones(2, 3, 8), ones(2, 4, 8), initial_state=ones(2, 8)
        )
    ),
    "TransformerEncoder got inputs that do not fit its units. Expected [batch, source, "
    "8] with source >= 1, received shape (2, 3, 6). Give the embedding": lambda: (
        ks.layers.TransformerEncoder(8)(ones(2, 3, 6))
    ),
    "PositionEmbedding got an unusable max_positions ... kind='learned' with "
    "max_positions=None": lambda: ks.layers.PositionEmbedding("learned"),
    "PositionEmbedding got more positions than it has learned. Expected at most "
    "max_positions=4, received 5 positions": lambda: ks.layers.PositionEmbedding(
        "learned", 4
    )(ones(2, 5, 8)),
    "PositionEmbedding got inputs of odd depth": lambda: ks.layers.PositionEmbedding()(
        ones(2, 5, 7)
    ),
    "CopyBridge got an encoder without a state ... Pass DenseBridge(units, "
    'inputs="mean")': lambda: CopyBridge()(transformed()),
    "DenseBridge got an encoder without a state": lambda: DenseBridge(8)(transformed()),
    "TransformerDecoder cannot take so many steps. Expected at most 4": lambda: (
        decoder_of_4().initial_state(decoder_of_4().prepare(ones(2, 5, 8)), None, 5)
    ),
    "BahdanauAttention cannot use a causal mask ... (2, 4, 6)": lambda: (
        ks.BahdanauAttention(3)(ones(2, 4, 6), ones(2, 5, 6), use_causal_mask=True)
    ),
}
LAYERS = [CELLS, ATTENTIONS, ENCODERS, HEADS, TRANSFORMERS]
