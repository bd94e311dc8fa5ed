"""Every encoder and every decoder, small enough to learn in a minute."""

import functools

import keras

import keras_seqattn as ks

L, UNITS, VOCABULARY = ks.layers, 64, 16

ENCODERS = {
    "one-way": lambda: L.UniEncoder(UNITS, cell="gru"),
    "two-way": lambda: ks.BiEncoder(UNITS, cell="lstm"),
    "stacked": lambda: L.StackedEncoder(UNITS, layers=3, residual_from=3),
    "pyramidal": lambda: L.PyramidalEncoder(UNITS, layers=2),
    "transformer": lambda: L.TransformerEncoder(UNITS, layers=2, heads=4),
    "pretrained": lambda: L.PretrainedEncoder(bert()),
}


def bert():
    """Return a backbone of KerasHub with new weights."""
    import keras_hub  # only where it is used: its import takes seconds

    return keras_hub.models.BertBackbone(
        vocabulary_size=VOCABULARY,
        num_layers=2,
        num_heads=4,
        hidden_dim=UNITS,
        intermediate_dim=4 * UNITS,
        dropout=0.0,
        max_sequence_length=16,
    )


def bahdanau():
    return L.BahdanauCell(UNITS, ks.BahdanauAttention(UNITS))


def luong():
    return L.LuongCell(UNITS, ks.LuongAttention("general"))


def gnmt():
    return L.GNMTCell(UNITS, ks.BahdanauAttention(UNITS), layers=2, residual_from=2)


def conditional():
    return L.ConditionalCell(UNITS, ks.BahdanauAttention(UNITS))


def rnmt_plus():
    heads = L.MultiHeadAdditiveAttention(UNITS, heads=4, value_units=UNITS)
    kinds = {"cell": "layer_norm_lstm", "query": "current", "readout": "state_context"}
    return L.GNMTCell(UNITS, heads, layers=2, residual_from=2, **kinds)


CELLS = {
    cell.__name__: cell for cell in (bahdanau, luong, gnmt, conditional, rnmt_plus)
}
DECODERS = [*CELLS, "transformer"]


def combined(encoder, decoder):
    """Return a new model; a recurrent decoder starts from the mean of the source."""
    if decoder == "transformer":
        bridge, made = None, L.TransformerDecoder(UNITS, layers=2, heads=4)
    else:
        cell = CELLS[decoder]()
        bridge = L.DenseBridge(cell.state_size, inputs="mean")
        made = ks.AttentionDecoder(cell)
    embedding = functools.partial(keras.layers.Embedding, VOCABULARY, UNITS)
    return ks.Seq2Seq(
        source_embedding=None if encoder == "pretrained" else embedding(),
        encoder=ENCODERS[encoder](),
        bridge=bridge,
        target_embedding=embedding(),
        decoder=made,
        head=L.OutputHead(VOCABULARY),
    )
