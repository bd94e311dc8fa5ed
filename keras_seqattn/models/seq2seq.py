"""A sequence-to-sequence model: from ids to logits, at once or step by step."""

from inspect import signature

import keras
from keras import ops

from keras_seqattn.checks import check_rate
from keras_seqattn.layers.parts import checks
from keras_seqattn.models import head_inputs, part_checks, seq2seq_config
from keras_seqattn.models.named_alignments import (
    alignment_names,
    chosen_names,
    named_alignments,
    names_of,
)
from keras_seqattn.models.summary import summary_lines
from keras_seqattn.models.token_checks import check_ids, check_one_mask
from keras_seqattn.models.token_data import checked_inputs
from keras_seqattn.models.token_model import TokenModel
from keras_seqattn.models.token_outputs import as_names
from keras_seqattn.ops.mask import carry_mask
from keras_seqattn.types import Shortened, SourcedMemory, Started, Step


@keras.saving.register_keras_serializable(package="keras_seqattn")
class Seq2Seq(TokenModel):
    """A sequence-to-sequence model: embeddings, encoder, bridge, decoder and head.

    The constructor creates all weights. Train it with `fit` and a stock Keras loss (the
    logits carry the mask of the target), or with `compile(loss="auto")`, which never
    computes all logits at once. Search with `decode`.

    Args:
        source_embedding: `keras.layers.Embedding` of the source's tokens; or another
            layer from the source to `[batch, source, depth]`, e.g. a
            `keras.Sequential` that begins with `keras.Input((None, 80))` for a source
            of 80 numbers at each position. None: for an encoder that reads the source
            itself (its attribute `reads_source` is True), e.g. `PretrainedEncoder`.
        encoder: a layer that returns `Encoded`, e.g. `BiEncoder`, `TransformerEncoder`.
        decoder: `AttentionDecoder`, `TransformerDecoder`.
        head: `OutputHead`, `DeepOutputHead`, or any layer to logits. It reads the
            decoder's outputs. Its attribute `reads` may name more, in the order of the
            arguments of its `call`: `reads = ("outputs", "inputs", "alignment",
            "source")`. See Heads below.
        target_embedding: `keras.layers.Embedding` of the target's tokens. None: the
            source's, for a joint vocabulary. A head with the same
            `keras.layers.ReversibleEmbedding` is tied to it.
        bridge: a `Bridge`, from the encoder's state to the decoder's; None: zeros.
        source_word_dropout: rate at which embeddings of whole source words become zero.
        target_word_dropout: the same rate for the target inputs.
        pad: id of the padding of the target.
        seed: seed of the word dropout.
        source_pad: id of the padding of the source; None: the same as `pad`.
        outputs: "logits": a call returns the logits. ("logits", "alignment"): it
            returns a dict of both. `compile` then takes a dict of losses, `{"logits":
            "auto", "alignment": my_loss}`, and `fit` a dict of labels. A loss or a list
            of metrics without names is for the logits.
        **kwargs: of `keras.Model`.

    Call arguments:
        inputs: `{"source": ids, "target": ids}`, int `[batch, source]` and
            `[batch, target]`; the target begins with the start token and lacks the end
            token (the labels lack the start token and have the end token). A
            "source_mask" `[batch, source]` bool, True = real, is optional. Without it
            the mask is that of the source embedding, or where ids are not `source_pad`.
            With both, they must be equal; of batches that only a graph sees, e.g. of a
            dataset, the source_mask counts.
        return_attention_scores: whether to return logits and alignments, whatever
            `outputs` is: those that searches return. The method `alignments` has those
            of all layers.
        training: whether dropout applies.

    Returns:
        logits `[batch, target, vocabulary]`; with `return_attention_scores=True` also
        the alignments `[batch, target, source]`, with heads
        `[batch, heads, target, source]`. With `outputs=("logits", "alignment")` a dict;
        its alignments are float32 and carry the mask of the target.

    Heads:
        A head gets what it reads in the same form for whole targets, single steps and
        beams. The axes between batch and depth are none, target, or beam:
        "outputs" `[batch, ..., depth]`, the outputs of the decoder;
        "inputs" `[batch, ..., embedding]`, the target embeddings;
        "alignment" `[batch, ..., source]`, with heads `[batch, ..., heads, source]`;
        "source" int32 `[batch, source]`, the source ids, `source_pad` in the padding.
        Its `build` and `compute_output_shape` get a shape for each.

    Shapes:
        source: [batch, source]
        target: [batch, target]
        logits: [batch, target, vocabulary]
        alignment: [batch, target, source]

    Example:
        >>> cell = BahdanauCell(8, attention=BahdanauAttention(8))
        >>> model = Seq2Seq(
        ...     source_embedding=keras.layers.Embedding(20, 4),
        ...     encoder=BiEncoder(8),
        ...     bridge=DenseBridge(8),
        ...     target_embedding=keras.layers.Embedding(30, 4),
        ...     decoder=AttentionDecoder(cell),
        ...     head=OutputHead(30),
        ... )
        >>> source, target = keras.ops.array([[5, 6, 2]]), keras.ops.array([[1, 7]])
        >>> model({"source": source, "target": target}).shape
        TensorShape([1, 2, 30])
    """

    def __init__(
        self,
        source_embedding,
        encoder,
        decoder,
        head,
        target_embedding=None,
        bridge=None,
        source_word_dropout=0.0,
        target_word_dropout=0.0,
        pad=0,
        seed=None,
        source_pad=None,
        outputs="logits",
        **kwargs,
    ):
        super().__init__(**kwargs)
        check_rate("Seq2Seq", "source_word_dropout", source_word_dropout)
        check_rate("Seq2Seq", "target_word_dropout", target_word_dropout)
        part_checks.check_source_side(
            source_embedding, encoder, target_embedding, source_word_dropout
        )
        self.source_embedding, self.encoder = source_embedding, encoder
        if target_embedding is None:
            target_embedding = source_embedding
        self.bridge, self.target_embedding = bridge, target_embedding
        self.decoder, self.head = decoder, head
        seed_2 = None if seed is None else seed + 1
        # Dropout layers; their names are part of the file format.
        self.source_words = _word_dropout(
            source_word_dropout, seed, source_embedding, "source_words"
        )
        self.target_words = _word_dropout(
            target_word_dropout, seed_2, target_embedding, "target_words"
        )
        self.pad, self.seed = pad, seed
        self.source_pad = pad if source_pad is None else source_pad
        part_checks.check_pads(source_embedding, pad=pad, source_pad=self.source_pad)
        self.named_outputs = as_names(type(self).__name__, outputs)
        self._build_parts()
        part_checks.check_vocabularies(self.vocabularies)

    def _build_parts(self):
        part_checks.check_embedding(self.target_embedding)
        if not self.target_embedding.built:
            self.target_embedding.build((None, None))
        if self.source_embedding is None:
            source = part_checks.read_shape(None, self.encoder)
        else:
            source = part_checks.embedded_shape(self.source_embedding)
        target = (None, None, self.target_embedding.output_dim)
        part_checks.check_encoder(self.encoder)
        part_checks.check_decoder(self.decoder)
        part_checks.check_head(self.head)
        self.encoder.build(source)
        shapes = self.encoder.compute_output_shape(source)
        encoded = part_checks.as_encoded(self.encoder, shapes)
        part_checks.build_bridge(self.bridge, encoded, self.decoder)
        self.decoder.build(target, encoded.values)
        outputs = self.decoder.compute_output_shape(target, encoded.values)
        names = self._head_reads = head_inputs.names_read(self.head)
        head_inputs.check_source_ids(self.head, names, self._reads_ids)
        shapes = outputs, target, encoded.values
        read = head_inputs.shapes_read(names, self.decoder, *shapes)
        self.head.build(*read)
        self._vocabulary = self.head.compute_output_shape(*read)[-1]
        self._part_outputs = {  # for the summary
            "source_embedding": f"source x {source[-1]}",
            "encoder": f"source x {encoded.values[-1]}",
            "target_embedding": f"target x {target[-1]}",
            "decoder": f"target x {outputs[-1]}",
            "head": f"target x {self._vocabulary}",
        }
        self.built = True

    def build(self, input_shape=None):
        """Do nothing: the constructor knows every size and builds all parts."""

    @property
    def vocabularies(self):
        """The sizes of the vocabularies of inputs and labels."""
        of_target = {
            "target": self.target_embedding.input_dim,
            "labels": self._vocabulary,
        }
        if not self._reads_ids:
            return of_target
        size = getattr(self.source_embedding, "input_dim", None)
        if self.source_embedding is None:
            size = getattr(self.encoder, "vocabulary_size", None)
        return {"source": size, **of_target}

    @property
    def _reads_ids(self):
        """Whether the source are ids; else it has numbers at each position."""
        shape = part_checks.read_shape(self.source_embedding, self.encoder)
        return len(shape) == 2

    @property
    def max_length(self):
        """The greatest number of steps of the decoder; None: any."""
        return getattr(self.decoder, "max_length", None)

    @property
    def max_source(self):
        """The greatest number of positions of a source; None: any."""
        return getattr(self.encoder, "max_length", None)

    # Step by step -----------------------------------------------------------------

    def check_ids(self, source, target=None):
        """Check ids before a graph hides them; `decode` and `score` call it."""
        inputs = source if isinstance(source, dict) else {"source": source}
        check_ids(self, "source", ops.convert_to_tensor(inputs["source"]))
        self.check_masks(inputs)
        if target is not None:
            check_ids(self, "target", ops.convert_to_tensor(target))

    def check_masks(self, inputs):
        """Check that "source_mask" agrees with the mask of the source embedding."""
        if inputs.get("source_mask") is not None:
            own = part_checks.own_mask(self.source_embedding, inputs["source"])
            check_one_mask("Seq2Seq", inputs["source_mask"], own)

    def start(self, source, max_length=None):
        """Return `Started(state, memory)` for sources.

        Args:
            source: ids `[batch, source]`, or a dict with "source" and "source_mask".
            max_length: Python integer, the number of steps that a decoder which
                remembers all of them makes room for; None: its past grows.
        """
        inputs = source if isinstance(source, dict) else {"source": source}
        encoded = self._encode(inputs)
        memory = self.decoder.prepare(encoded.values, encoded.mask)
        state = None if self.bridge is None else self.bridge(encoded)
        initial_state = self.decoder.initial_state
        room = {"max_length": max_length}  # only some decoders remember all steps
        room = room if "max_length" in signature(initial_state).parameters else {}
        state = initial_state(memory, state, **room)
        if "source" in self._head_reads:
            memory = SourcedMemory(memory, self._source_ids(inputs, encoded.mask))
        return Started(state, memory)

    def precompute(self, memory):
        """Return the memory with work that many steps share already done."""
        if isinstance(memory, SourcedMemory):
            ready = self.decoder.precompute(memory.memory)
            memory = memory._replace(memory=ready)
        else:
            memory = self.decoder.precompute(memory)
        product = getattr(self.head, "last_product", None)
        columns = None if product is None else product.precompute()
        return memory if columns is None else Shortened(memory, (), columns)

    def select(self, memory, rows):
        """Return the memory of some sentences of the batch."""
        if isinstance(memory, Shortened):  # all sentences share the list
            return memory._replace(memory=self.select(memory.memory, rows))
        return keras.tree.map_structure(lambda x: ops.take(x, rows, axis=0), memory)

    def shorten(self, memory, ids):
        """The memory with which `step` knows some tokens only, by their places.

        Args:
            memory: of `start`, or of `precompute`.
            ids: int `[size]`, the tokens.
        """
        product = getattr(self.head, "last_product", None)
        part_checks.check_last_product(self.head, product)
        memory = memory.memory if isinstance(memory, Shortened) else memory
        return Shortened(memory, ids, product.columns(ids))

    def step(self, tokens, state, memory):
        """Compute one target step.

        Args:
            tokens: ids `[batch]`, or `[batch, beam]` if the state has that axis: the
                hypotheses of a sentence share its memory.
            state: from `start`, or from the last step.
            memory: from `start`; or from `shorten`: the tokens are places in its ids.

        Returns:
            `Step(output, alignment, state)`; the output is the logits.
        """
        if isinstance(memory, Shortened):
            return self._short_step(tokens, state, memory)
        step, read = self._decoder_step(tokens, state, memory)
        logits = self.head(*read, training=False)
        return Step(logits, step.alignment, step.state)

    def _short_step(self, places, state, memory):
        is_whole = isinstance(memory.ids, tuple)
        tokens = places if is_whole else ops.take(memory.ids, places)
        step, read = self._decoder_step(tokens, state, memory.memory)
        hidden = self.head.hidden(*read)
        logits = self.head.last_product.logits(hidden, memory.columns)
        return Step(logits, step.alignment, step.state)

    def _decoder_step(self, tokens, state, memory):
        """Return the `Step` of the decoder, and what the head reads of it."""
        source = None
        if isinstance(memory, SourcedMemory):
            memory, source = memory
        embedded = self.target_embedding(tokens)
        step = self.decoder.step(embedded, state, memory)
        return step, self._read(step.output, embedded, step.alignment, source)

    def _read(self, *known):
        """Return what the head reads, of `head_inputs.READABLE`."""
        known = dict(zip(head_inputs.READABLE, known, strict=True))
        return [known[name] for name in self._head_reads]

    def _source_ids(self, inputs, mask):
        return head_inputs.real_ids(inputs["source"], mask, self.source_pad)

    # Whole sequences --------------------------------------------------------------

    def call(self, inputs, return_attention_scores=False, training=None):
        target = inputs["target"]
        checks.check_rank("Seq2Seq", "target", target.shape, "[batch, target]")
        encoded = self._encode(inputs, training)
        mask = ops.not_equal(target, self.pad)
        embedded = self.target_embedding(target)
        embedded = self.target_words(embedded, training=training)
        reads = self._head_reads
        is_aligned = return_attention_scores or "alignment" in self.named_outputs
        is_aligned = is_aligned or "alignment" in reads
        outputs = self._decode(encoded, embedded, mask, is_aligned, training)
        outputs, alignments = outputs if is_aligned else (outputs, None)
        steps, source = alignments, None
        if "alignment" in reads:
            steps = head_inputs.heads_after_target(alignments)
        if "source" in reads:
            source = self._source_ids(inputs, encoded.mask)
        outputs = carry_mask(outputs, mask)
        read = self._read(outputs, embedded, steps, source)
        logits = carry_mask(self.head(*read, training=training), mask)
        if return_attention_scores:
            return logits, alignments
        if not self.named_outputs:
            return logits
        results = {"logits": logits}
        if "alignment" in self.named_outputs:
            results["alignment"] = _with_mask(alignments, mask)
        return results

    def alignments(self, inputs, names=None):
        """Compute all alignments of a batch: each layer, each head, self-attention too.

        A Transformer has an alignment for each layer: "decoder/layer 1" is where its
        first layer looked in the source, "decoder/self/layer 1" and
        "encoder/self/layer 1" are its self-attention. Any other decoder has one,
        "decoder". The model runs in inference mode and computes no logits.

        Args:
            inputs: as for `call`.
            names: which of them, a name or a list; None: all `alignment_names`.

        Returns:
            Dict from names to float32 tensors: "decoder..." are
            `[batch, heads, target, source]`, "decoder/self/..." are
            `[batch, heads, target, target]`, "encoder/self/..." are
            `[batch, heads, source, source]`. An attention without heads counts as one
            head. Rows of the padding are zeros. Row t of the target belongs to the t-th
            input token in a self-attention, and otherwise to the token after it, which
            the model predicts.
        """
        names = chosen_names("Seq2Seq.alignments", names, self.alignment_names)
        inputs = checked_inputs(self, inputs)
        target, of_encoder = inputs["target"], {}
        if names_of(self.encoder):
            encoded, of_encoder = self._encode(inputs, return_attention_scores=True)
        else:
            encoded = self._encode(inputs)
        _, of_decoder = self._decode(
            encoded,
            self.target_embedding(target),
            ops.not_equal(target, self.pad),
            return_attention_scores="all" if names_of(self.decoder) else True,
        )
        found = named_alignments(of_encoder, of_decoder)
        return {name: found[name] for name in names}

    @property
    def alignment_names(self):
        """The names of all alignments, see `alignments`."""
        return alignment_names(self.encoder, self.decoder)

    def _encode(self, inputs, training=False, **options):
        source, mask = inputs["source"], inputs.get("source_mask")
        rank = "[batch, source]" if self._reads_ids else "[batch, source, depth]"
        checks.check_rank("Seq2Seq", "source", source.shape, rank)
        embed = self.source_embedding
        embedded = source if embed is None else embed(source)
        own = getattr(embedded, "_keras_mask", None)
        mask = own if mask is None else mask
        if mask is None and self._reads_ids:
            mask = ops.not_equal(source, self.source_pad)
        checks.check_mask("Seq2Seq", mask, "source", source.shape, "source")
        check_one_mask("Seq2Seq", mask, own)
        if embed is not None:
            embedded = self.source_words(embedded, training=training)
        return self.encoder(embedded, mask=mask, training=training, **options)

    def _decode(self, encoded, embedded, mask, return_attention_scores, training=False):
        return self.decoder(
            embedded,
            encoded.values,
            initial_state=None if self.bridge is None else self.bridge(encoded),
            inputs_mask=mask,
            value_mask=encoded.mask,
            return_attention_scores=return_attention_scores,
            training=training,
        )

    def summary(self, print_fn=print, **options):
        """Print the parts, their options and their parameters.

        Args:
            print_fn: function that prints one line.
            **options: of `keras.Model.summary`; with any of them, its table is printed.
        """
        if options:
            super().summary(print_fn=print_fn, **options)
            return
        parts = [
            (name, getattr(self, name), self._part_outputs.get(name))
            for name in seq2seq_config.PARTS
        ]
        for line in summary_lines(self, [part for part in parts if part[1]]):
            print_fn(line)

    # Saving -----------------------------------------------------------------------

    def get_config(self):
        return {**super().get_config(), **seq2seq_config.config_of(self)}

    @classmethod
    def from_config(cls, config):
        return cls(**seq2seq_config.arguments_of(config))


def _with_mask(alignments, mask):
    """Return alignments `[batch, (heads,) target, source]` as an output of a model."""
    alignments = ops.cast(alignments, "float32")
    if len(alignments.shape) > 3:  # a mask that broadcasts over the heads
        mask = mask[:, None]
    return carry_mask(alignments, mask)


def _word_dropout(rate, seed, embedding, name):
    """Return a dropout of whole words, in the precision of their embedding."""
    return keras.layers.Dropout(
        rate,
        noise_shape=(None, None, 1),
        seed=seed,
        # Not its policy, which may be int8.
        dtype=getattr(embedding, "compute_dtype", None),
        name=name,
    )
