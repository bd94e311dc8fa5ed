"""Checks of the parts of a `Seq2Seq`: what does not fit is known at construction."""

import numbers

import keras
from keras import tree

from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.layers.bridge import CopyBridge, DenseBridge, ZeroBridge
from keras_seqattn.layers.composite import Composite
from keras_seqattn.layers.context_cell import ContextCell
from keras_seqattn.layers.decoder_cell import DecoderCell
from keras_seqattn.layers.parts.run_recurrent import as_lists
from keras_seqattn.layers.transformer_decoder import TransformerDecoder
from keras_seqattn.types import Encoded

_CELLS = {"LSTM": "lstm", "GRU": "gru", "SimpleRNN": "simple"}


def check_embedding(embedding):
    """Check that an embedding knows its vocabulary."""
    if not isinstance(embedding, keras.layers.Embedding):
        raise four_part_error(
            "Seq2Seq got an unusable embedding",
            "a keras.layers.Embedding",
            abbreviated(embedding),
            "Pass e.g. keras.layers.Embedding(vocabulary, 256), or "
            "ReversibleEmbedding to tie it to the head",
        )


def check_source_side(embedding, encoder, target_embedding, word_dropout):
    """Check that either an embedding or the encoder reads the source."""
    reads, name = getattr(encoder, "reads_source", False), type(encoder).__name__
    if embedding is None and not reads:
        raise four_part_error(
            "Seq2Seq got source_embedding=None for an encoder that needs one",
            "an encoder that reads the source itself, which it says by an attribute "
            "reads_source = True",
            abbreviated(encoder),
            "Pass keras.layers.Embedding(vocabulary, 256), or a PretrainedEncoder",
        )
    if embedding is not None and reads:
        raise four_part_error(
            f"Seq2Seq got a source_embedding that {name} does not need",
            "source_embedding=None, because this encoder reads the source itself",
            abbreviated(embedding),
            "Drop the embedding",
        )
    if embedding is None and target_embedding is None:
        raise four_part_error(
            "Seq2Seq got no target_embedding, and no source_embedding to share",
            "a keras.layers.Embedding of the target's tokens",
            "target_embedding=None",
            "Pass target_embedding=keras.layers.Embedding(vocabulary, 256)",
        )
    if embedding is None and word_dropout:
        raise four_part_error(
            "Seq2Seq got source_word_dropout without a source_embedding to drop",
            f"0, because {name} reads the source itself",
            f"source_word_dropout={word_dropout}",
            "Drop the argument, and give the encoder a dropout of its own",
        )


def read_shape(embedding, encoder):
    """The shape of the raw source, which the embedding or else the encoder reads."""
    if embedding is None:
        return tuple(getattr(encoder, "source_shape", (None, None)))
    return source_shape(embedding)


def source_shape(embedding):
    """The shape of the source that an embedding reads: ids, or numbers in vectors."""
    shape = getattr(embedding, "input_shape", None) if embedding.built else None
    return (None, None, *shape[2:]) if isinstance(shape, tuple) else (None, None)


def embedded_shape(embedding):
    """Build a source embedding, and return the shape of its result."""
    owner, remedy = "Seq2Seq", "Pass e.g. keras.layers.Embedding(vocabulary, 256)"
    if isinstance(embedding, keras.layers.Embedding):
        check_embedding(embedding)
        shape = (None, None, embedding.output_dim)
        if not embedding.built:
            embedding.build((None, None))
        return shape
    if not isinstance(embedding, keras.layers.Layer):
        raise four_part_error(
            f"{owner} got an unusable source_embedding",
            "a layer",
            abbreviated(embedding),
            remedy,
        )
    shape = source_shape(embedding)
    if not embedding.built:
        embedding.build(shape)
    shape = embedding.compute_output_shape(shape)
    if len(shape) != 3 or shape[-1] is None:
        raise four_part_error(
            f"{owner} got a source_embedding that does not make sequences of vectors",
            "[batch, source, depth]",
            f"{abbreviated(embedding)}, which makes {tuple(shape)}",
            f"{remedy}, or for numbers a keras.Sequential([keras.Input((None, depth)), "
            "keras.layers.Dense(256)])",
        )
    return tuple(shape)


def own_mask(embedding, source):
    """The mask that a source embedding makes, without a call; None: none, or unknown.

    Args:
        embedding: the source embedding, or a `keras.Sequential` that begins with it.
        source: what it reads.
    """
    first, *rest = getattr(embedding, "layers", None) or [embedding]
    kinds = keras.layers.Embedding, keras.layers.Masking
    is_kept = all(layer.supports_masking for layer in rest)
    return first.compute_mask(source) if isinstance(first, kinds) and is_kept else None


def check_encoder(encoder):
    """Check that an encoder is not one of Keras's recurrent layers."""
    is_of_keras = isinstance(encoder, (keras.layers.RNN, keras.layers.Bidirectional))
    if isinstance(encoder, keras.layers.Layer) and not is_of_keras:
        return
    raise _unusable_encoder(encoder, abbreviated(encoder))


def as_encoded(encoder, shapes):
    """The shapes of an `Encoded`; an error if the encoder returns something else."""
    nested = isinstance(shapes, (list, tuple)) and len(shapes) == len(Encoded._fields)
    values = shapes[0] if nested else None
    if isinstance(values, (list, tuple)) and len(values) == 3:
        return Encoded(*shapes)
    raise _unusable_encoder(
        encoder, f"{abbreviated(encoder)}, which returns {abbreviated(shapes)}"
    )


def _unusable_encoder(encoder, received):
    return four_part_error(
        "Seq2Seq got an unusable encoder",
        "a layer that returns Encoded(values, mask, state)",
        received,
        f"Use {_our_encoder(encoder)}, or return an Encoded from your own layer",
    )


def _our_encoder(encoder):
    """The encoder of the library that does the same, as code."""
    name = "UniEncoder"
    if isinstance(encoder, keras.layers.Bidirectional):
        encoder, name = encoder.forward_layer, "BiEncoder"
    kind = type(encoder).__name__
    if kind not in _CELLS:
        return "BiEncoder(256)"
    return f"{name}({encoder.units}, cell={_CELLS[kind]!r})"


def check_decoder(decoder):
    """Check that a decoder runs steps; a bare cell needs an `AttentionDecoder`."""
    verbs = ("prepare", "initial_state", "step")
    is_object = not isinstance(decoder, type)
    if isinstance(decoder, DecoderCell) and is_object:
        what, remedy = "a cell as decoder", f"AttentionDecoder({_code(decoder)})"
    elif is_object and all(hasattr(decoder, verb) for verb in verbs):
        return
    else:
        what = "an unusable decoder"
        remedy = "AttentionDecoder(BahdanauCell(256, BahdanauAttention(256)))"
    raise four_part_error(
        f"Seq2Seq got {what}",
        f"a decoder with the methods {', '.join(verbs)}",
        abbreviated(decoder),
        f"Pass {remedy}",
    )


def _code(cell):
    return f"{type(cell).__name__}({cell.units}, ...)"


def build_bridge(bridge, encoded, decoder):
    """Build a bridge, and check that it makes the state that the decoder starts from.

    Args:
        bridge: a bridge, or None.
        encoded: `Encoded` of shapes.
        decoder: the decoder; if it has no cell, nothing is known of its state.
    """
    cell = getattr(decoder, "cell", None)
    if bridge is None:
        _check_starts_from_zeros(cell)
        return
    if isinstance(decoder, TransformerDecoder):
        raise four_part_error(
            "Seq2Seq got a bridge that its decoder cannot use",
            "bridge=None: a TransformerDecoder starts from nothing",
            abbreviated(bridge),
            "Drop the bridge: this decoder knows the source from its attention",
        )
    is_of_keras = type(bridge).__module__.startswith("keras.src.layers.")
    if not isinstance(bridge, keras.layers.Layer) or is_of_keras:
        raise four_part_error(
            "Seq2Seq got an unusable bridge",
            "a layer from the Encoded of the encoder to the state of the decoder",
            abbreviated(bridge),
            "Pass e.g. DenseBridge(units), or None to start from zeros",
        )
    _check_new(bridge)
    bridge.build(encoded)
    # One of another class may return what it likes, a whole state for example.
    if cell is not None and isinstance(bridge, (CopyBridge, DenseBridge, ZeroBridge)):
        _check_state(bridge, encoded, as_lists(cell.state_size))


def _check_starts_from_zeros(cell):
    """Check that a decoder without a bridge knows the source from its attention."""
    if isinstance(cell, ContextCell):
        raise four_part_error(
            f"Seq2Seq got a {type(cell).__name__} without a bridge",
            "a bridge: the initial state is all that this decoder knows of the source",
            "bridge=None",
            f"Pass bridge=DenseBridge({as_lists(cell.state_size)})",
        )


def _check_state(bridge, encoded, sizes):
    """Check the sizes of the state that a bridge returns."""
    shapes = bridge.compute_output_shape(encoded)
    received = tree.map_shape_structure(lambda shape: shape[-1], shapes)
    if as_lists(received) != sizes:
        raise four_part_error(
            "Seq2Seq got a bridge that does not fit its decoder",
            f"the sizes of the decoder's state, {sizes}",
            f"{as_lists(received)} from {type(bridge).__name__}",
            f"Pass bridge=DenseBridge({sizes})",
        )


def check_head(head):
    """Check that a head does not end in a softmax: losses and searches want logits."""
    last = head
    while inner := getattr(last, "layers", None) or getattr(last, "layer", None):
        last = inner[-1] if isinstance(inner, list) else inner  # of a TimeDistributed
    is_softmax = isinstance(last, keras.layers.Softmax)
    is_softmax |= getattr(last, "activation", None) is keras.activations.softmax
    if not isinstance(head, keras.layers.Layer) or is_softmax:
        raise four_part_error(
            "Seq2Seq got an unusable head" + " with a softmax" * is_softmax,
            "a layer from outputs to logits",
            abbreviated(head),
            "Drop the softmax: the loss and the search apply it"
            if is_softmax
            else "Pass e.g. OutputHead(vocabulary)",
        )
    _check_new(head)


def _check_new(part):
    """Check that a layer of the library has no weights yet: its owner builds it."""
    if isinstance(part, Composite) and part.built:
        raise four_part_error(
            "Seq2Seq got a part that has its weights already",
            f"a new {type(part).__name__}",
            f"{part.name!r} with built=True",
            "Make one for every model",
        )


def check_pads(source_embedding, **pads):
    """Check that paddings are ids, and that the source embedding masks the same id."""
    for name, pad in pads.items():
        if isinstance(pad, bool) or not isinstance(pad, numbers.Integral):
            raise four_part_error(
                f"Seq2Seq got an unusable {name}",
                "an integer",
                f"{name}={abbreviated(pad)}",
                "Pass the id that the text processor pads with, mostly 0",
            )
    if getattr(source_embedding, "mask_zero", False) and pads["source_pad"] != 0:
        raise four_part_error(
            "Seq2Seq got a source_embedding that masks another id than source_pad",
            "mask_zero=False, because Seq2Seq masks the padding itself",
            f"mask_zero=True and source_pad={pads['source_pad']}",
            "Drop mask_zero",
        )


def check_vocabularies(vocabularies):
    """Check that what the head predicts can be read."""
    if (vocabularies["labels"] or 0) > vocabularies["target"]:
        raise four_part_error(
            "Seq2Seq got a head with more tokens than its target embedding has",
            f"at most {vocabularies['target']} logits",
            vocabularies["labels"],
            "Give both the size of the target vocabulary",
        )


def check_last_product(head, product):
    """Check that the last product of a head can be cut down to some tokens."""
    if product is None:
        raise four_part_error(
            "Seq2Seq has a head that cannot be cut down to some tokens",
            "an OutputHead, a DeepOutputHead, or a layer whose class defines "
            "`hidden` and `last_product` beside its `call`",
            f"{type(head).__name__}",
            "Drop the shortlist: all tokens have logits",
        )
