"""A whole model: from the ids of two sentences to logits, at once or step by step."""

import inspect

import keras
from keras import ops

from keras_seqattn.checks import check_rate
from keras_seqattn.errors import four_part_error
from keras_seqattn.layers.parts import checks
from keras_seqattn.layers.parts.nested_layers import deserialize_part, serialize_part
from keras_seqattn.models.summary import summary_lines
from keras_seqattn.ops.mask import carry_mask
from keras_seqattn.types import Shortened, Started, Step

_PARTS = (
    "source_embedding",
    "encoder",
    "bridge",
    "target_embedding",
    "decoder",
    "head",
)


@keras.saving.register_keras_serializable(package="keras_seqattn")
class Seq2Seq(keras.Model):
    """Embeds, encodes, bridges, decodes, and puts a head on it.

    All weights exist once it is made. Train it with `fit` and a stock Keras loss: the
    logits carry the target's mask; or with `compile(loss="auto")`, for which they never
    exist. Search with `decode`.

    Args:
        source_embedding: `keras.layers.Embedding` of the source's tokens.
        encoder: an `Encoder`, e.g. `BiEncoder`.
        decoder: an `AttentionDecoder`.
        head: `OutputHead`, `DeepOutputHead`, or any layer from outputs to logits.
        target_embedding: `keras.layers.Embedding` of the target's tokens; None: the
            source's, for a joint vocabulary. Tied to a head that was given the same
            `keras.layers.ReversibleEmbedding`: two ways, or all three.
        bridge: a `Bridge`, from the encoder's state to the decoder's; None: zeros.
        source_word_dropout: rate at which whole source words lose their embedding.
        target_word_dropout: the same for the target words that are fed.
        pad: id of the padding, in both languages.
        seed: for the word dropout.
        **kwargs: of `keras.Model`.

    Call arguments:
        inputs: `{"source": ids, "target": ids}`, int `[batch, source]` and
            `[batch, target]`; the target begins with the start token and lacks the end
            token (labels are the same, one to the left).
        return_attention_scores: whether to return the alignments too.
        training: whether dropout applies.

    Returns:
        logits `[batch, target, vocabulary]`; with `return_attention_scores=True` also
        the alignments `[batch, target, source]`, with heads
        `[batch, heads, target, source]`.

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
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.source_embedding, self.encoder = source_embedding, encoder
        if target_embedding is None:
            target_embedding = source_embedding
        self.bridge, self.target_embedding = bridge, target_embedding
        self.decoder, self.head = decoder, head
        for name in ("source_word_dropout", "target_word_dropout"):
            check_rate("Seq2Seq", name, locals()[name])
        seed_2 = None if seed is None else seed + 1
        self.source_words = _word_dropout(
            source_word_dropout, seed, source_embedding, "source_words"
        )
        self.target_words = _word_dropout(
            target_word_dropout, seed_2, target_embedding, "target_words"
        )
        self.pad, self.seed = pad, seed
        self._build_parts()

    def _build_parts(self):
        for embedding in (self.source_embedding, self.target_embedding):
            _check_embedding(embedding)
            if not embedding.built:
                embedding.build((None, None))
        source = (None, None, self.source_embedding.output_dim)
        target = (None, None, self.target_embedding.output_dim)
        self.encoder.build(source)
        encoded = self.encoder.compute_output_shape(source)
        if self.bridge is not None:
            self.bridge.build(encoded)
        self.decoder.build(target, encoded.values)
        outputs = self.decoder.compute_output_shape(target, encoded.values)
        read = [outputs, target] if self._head_reads else [outputs]
        self.head.build(*read)
        self._made = {  # for the summary
            "source_embedding": f"source x {source[-1]}",
            "encoder": f"source x {encoded.values[-1]}",
            "target_embedding": f"target x {target[-1]}",
            "decoder": f"target x {outputs[-1]}",
            "head": f"target x {self.head.compute_output_shape(*read)[-1]}",
        }
        self.built = True

    def build(self, input_shape=None):
        """Nothing is left to build: every size is known to the constructor."""

    @property
    def _head_reads(self):
        """Whether the head wants the target embeddings beside the outputs."""
        return getattr(self.head, "reads_inputs", False)

    # Step by step -----------------------------------------------------------------

    def start(self, source):
        """`Started(state, memory)` for sources `[batch, source]`: once per search."""
        encoded = self._encode(source)
        memory = self.decoder.prepare(encoded.values, encoded.mask)
        state = None if self.bridge is None else self.bridge(encoded)
        return Started(self.decoder.initial_state(memory, state), memory)

    def look_ahead(self, memory):
        """The memory with more computed once, for many steps."""
        memory = self.decoder.look_ahead(memory)
        product = getattr(self.head, "last_product", None)
        columns = None if product is None else product.look_ahead()
        return memory if columns is None else Shortened(memory, (), columns)

    def select(self, memory, rows):
        """The memory of some sentences of the batch."""
        if isinstance(memory, Shortened):  # the list is that of all
            return memory._replace(memory=self.select(memory.memory, rows))
        return keras.tree.map_structure(lambda x: ops.take(x, rows, axis=0), memory)

    def shorten(self, memory, ids):
        """The memory with which `step` knows some tokens only, by their places.

        Args:
            memory: of `start`, or of `look_ahead`.
            ids: int `[size]`, the tokens.
        """
        product = getattr(self.head, "last_product", None)
        _check_last_product(self.head, product)
        memory = memory.memory if isinstance(memory, Shortened) else memory
        return Shortened(memory, ids, product.columns(ids))

    def step(self, tokens, state, memory):
        """One target step.

        Args:
            tokens: ids `[batch]`, or `[batch, beam]` if the state has that axis: the
                hypotheses of a sentence share its memory.
            state: of `start`, or of the last step.
            memory: of `start`; of `shorten`: the tokens are places in its ids.

        Returns:
            `Step(output, alignment, state)`; the output are the logits.
        """
        if isinstance(memory, Shortened):
            return self._short_step(tokens, state, memory)
        embedded = self.target_embedding(tokens)
        step = self.decoder.step(embedded, state, memory)
        return Step(self._logits(step.output, embedded), step.alignment, step.state)

    def _short_step(self, places, state, memory):
        is_whole = isinstance(memory.ids, tuple)
        tokens = places if is_whole else ops.take(memory.ids, places)
        embedded = self.target_embedding(tokens)
        step = self.decoder.step(embedded, state, memory.memory)
        read = [step.output, embedded] if self._head_reads else [step.output]
        hidden = self.head.hidden(*read)
        logits = self.head.last_product.logits(hidden, memory.columns)
        return Step(logits, step.alignment, step.state)

    # Whole sequences --------------------------------------------------------------

    def call(self, inputs, return_attention_scores=False, training=None):
        source, target = _sentences(inputs)
        encoded = self._encode(source, training)
        mask = ops.not_equal(target, self.pad)
        embedded = self.target_embedding(target)
        embedded = self.target_words(embedded, training=training)
        outputs = self.decoder(
            embedded,
            encoded.values,
            initial_state=None if self.bridge is None else self.bridge(encoded),
            inputs_mask=mask,
            value_mask=encoded.mask,
            return_attention_scores=return_attention_scores,
            training=training,
        )
        if not return_attention_scores:
            return self._logits(outputs, embedded, mask, training)
        outputs, alignments = outputs
        return self._logits(outputs, embedded, mask, training), alignments

    def _encode(self, source, training=False):
        mask = ops.not_equal(source, self.pad)
        embedded = self.source_words(self.source_embedding(source), training=training)
        return self.encoder(embedded, mask=mask, training=training)

    def _logits(self, outputs, embedded, mask=None, training=False):
        outputs = carry_mask(outputs, mask)
        inputs = [outputs, embedded] if self._head_reads else [outputs]
        return carry_mask(self.head(*inputs, training=training), mask)

    # Training ---------------------------------------------------------------------

    def compile(self, optimizer="rmsprop", loss=None, *args, **kwargs):
        """As `keras.Model.compile`.

        Args:
            optimizer: of `keras.Model.compile`.
            loss: "auto": `FusedCrossentropy()`, which needs no logits; or any loss of
                logits.
            *args: of `keras.Model.compile`.
            **kwargs: of `keras.Model.compile`.
        """
        if isinstance(loss, str) and loss == "auto":
            # By its name: models know no losses.
            loss = keras.losses.get(
                {"class_name": "keras_seqattn>FusedCrossentropy", "config": {}}
            )
        super().compile(optimizer, loss, *args, **kwargs)

    def fit(self, *args, **kwargs):
        """As `keras.Model.fit`, but for `class_weight`: tokens have `sample_weight`."""
        _check_class_weight(super().fit, args, kwargs)
        return super().fit(*args, **kwargs)

    def train_on_batch(self, *args, **kwargs):
        """As `keras.Model.train_on_batch`, but for `class_weight`."""
        _check_class_weight(super().train_on_batch, args, kwargs)
        return super().train_on_batch(*args, **kwargs)

    def compile_from_config(self, config):
        """What Keras does for every model that keeps its `compile`."""
        self.compile(**keras.saving.deserialize_keras_object(config))
        if self.optimizer is not None:
            self.optimizer.build(self.trainable_variables)

    def summary(self, print_fn=print, **options):
        """Prints the parts, what is in them and their parameters.

        Args:
            print_fn: gets one line at a time.
            **options: of `keras.Model.summary`, whose table is then printed instead.
        """
        if options:
            super().summary(print_fn=print_fn, **options)
            return
        parts = [(name, getattr(self, name), self._made.get(name)) for name in _PARTS]
        for line in summary_lines(self, [part for part in parts if part[1]]):
            print_fn(line)

    # Saving -----------------------------------------------------------------------

    def get_config(self):
        parts = {name: getattr(self, name) for name in _PARTS}
        config = {
            name: None if part is None else serialize_part(part)
            for name, part in parts.items()
        }
        if self.target_embedding is self.source_embedding:
            config["target_embedding"] = None
        return {
            **super().get_config(),
            **config,
            # Which embedding the head uses backwards: a reloaded one must be the same.
            "head_embedding": self._tie(),
            "source_word_dropout": self.source_words.rate,
            "target_word_dropout": self.target_words.rate,
            "pad": self.pad,
            "seed": self.seed,
        }

    def _tie(self):
        embedding = getattr(self.head, "embedding", None)
        for name in ("source_embedding", "target_embedding"):
            if embedding is not None and embedding is getattr(self, name):
                return name
        return None

    @classmethod
    def from_config(cls, config):
        config = {**config}
        tie = config.pop("head_embedding", None)
        head = config.pop("head")
        for name in _PARTS:
            if config.get(name) is not None:
                config[name] = deserialize_part(config[name])
        if tie is not None:  # before the head makes another one from its own config
            head = {**head, "config": {**head["config"], "embedding": config[tie]}}
        config["head"] = keras.saving.deserialize_keras_object(head)
        return cls(**config)


def _sentences(inputs):
    """Source and target of the inputs, which may be what Keras made of the dict."""
    if not isinstance(inputs, dict) or not {"source", "target"} <= set(inputs):
        received = sorted(inputs) if isinstance(inputs, dict) else type(inputs).__name__
        raise four_part_error(
            "Seq2Seq got unusable inputs",
            "a dict with the ids 'source' [batch, source] and 'target' [batch, target]",
            received,
            'Call it as model({"source": source, "target": target})',
        )
    source, target = inputs["source"], inputs["target"]
    for name, ids in (("source", source), ("target", target)):
        checks.check_rank("Seq2Seq", name, ids.shape, f"[batch, {name}]")
    return source, target


def _word_dropout(rate, seed, embedding, name):
    """Of whole words, in the precision of their embedding."""
    return keras.layers.Dropout(
        rate,
        noise_shape=(None, None, 1),
        seed=seed,
        dtype=getattr(embedding, "compute_dtype", None),  # no policy: it may be int8
        name=name,
    )


def _check_last_product(head, product):
    if product is None:
        raise four_part_error(
            "Seq2Seq has a head that cannot be cut down to some tokens",
            "an OutputHead, a DeepOutputHead, or a layer whose class defines "
            "`hidden` and `last_product` beside its `call`",
            f"{type(head).__name__}",
            "Drop the shortlist: all tokens have logits",
        )


def _check_class_weight(method, args, kwargs):
    """Keras would weigh each sentence by the position of its largest id."""
    given = inspect.signature(method).bind(*args, **kwargs).arguments
    class_weight = given.get("class_weight")
    if class_weight is not None:
        raise four_part_error(
            "Seq2Seq got a class_weight",
            "None, because a label is a sequence of classes",
            repr(class_weight),
            "Pass weights of tokens instead: sample_weight=weights[labels], "
            "[batch, target]",
        )


def _check_embedding(embedding):
    if not isinstance(embedding, keras.layers.Embedding):
        raise four_part_error(
            "Seq2Seq got an unusable embedding",
            "a keras.layers.Embedding",
            repr(embedding),
            "Pass e.g. keras.layers.Embedding(vocabulary, 256), or "
            "ReversibleEmbedding to tie it to the head",
        )
