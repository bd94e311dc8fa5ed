"""The text processor `HubTokenizer`: a tokenizer of KerasHub with its own ids."""

import base64
import json
import tempfile
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

from keras_seqattn.errors import four_part_error
from keras_seqattn.layers.parts.hub import import_hub
from keras_seqattn.text.checks import string_batch
from keras_seqattn.text.hub_checks import check_start, check_tokenizer, special_tokens
from keras_seqattn.text.hub_offsets import (
    BytePairOffsets,
    SentencePieceOffsets,
    WordPieceOffsets,
)
from keras_seqattn.text.normalization import ragged_rows
from keras_seqattn.text.optional_packages import tensorflow_text
from keras_seqattn.text.processor import TextProcessor, Tokens

_FROM_FILES = ("vocabulary", "merges", "proto")  # arguments that may be paths
_NUL = r"\x00"  # it would end the text: a space stands for it
_TEXTS = tf.TensorSpec([None], tf.string)
_IDS = tf.RaggedTensorSpec([None, None], tf.int32)
_PROBE = "Été, ABC 中文x\n"


class HubTokenizer(TextProcessor):
    """Text processor that is a tokenizer of KerasHub, with its vocabulary and its ids.

    So a `PretrainedEncoder` reads the ids with which it was trained. `tokens` are the
    special ids of the tokenizer. Ids are the same as those of the tokenizer; `decode`
    writes what the tokenizer writes, e.g. in small letters.

    Args:
        tokenizer: `keras_hub.tokenizers.Tokenizer` with a padding and an end token,
            e.g. `keras_hub.models.BertTokenizer`.
        use_start: whether `encode` begins each text with the start token, e.g. [CLS],
            as pretrained encoders expect of their source. For a target leave it out:
            there the library writes the start token.

    Example:
        >>> import keras_hub
        >>> vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "rose", "##s"]
        >>> tokenizer = keras_hub.models.BertTokenizer(vocabulary)
        >>> text = HubTokenizer(tokenizer, use_start=True)
        >>> text.encode("roses rose").numpy().tolist()
        [2, 5, 6, 5]
        >>> text.decode([2, 5, 6, 3, 0]).numpy()
        b'roses'

    References:
        Devlin et al. 2019, arXiv:1810.04805 (BERT).
    """

    vocabulary_file = "tokenizer.json"
    white_space = ""  # the tokenizer splits texts in its own way

    def __init__(self, tokenizer, use_start=False):
        hub = import_hub(type(self).__name__)
        check_tokenizer(hub, tokenizer)
        vocabulary = tokenizer.get_vocabulary()
        if isinstance(tokenizer, hub.tokenizers.BytePairTokenizer):
            vocabulary = sorted(vocabulary, key=tokenizer.vocabulary.get)
        self.tokens = special_tokens(hub, tokenizer)
        super().__init__(vocabulary)
        self.tokenizer, self.use_start = tokenizer, bool(use_start)
        if use_start:
            check_start(tokenizer, self.tokens)
        self._offsets = self._make_offsets(hub)
        read, write = tokenizer.tokenize, tokenizer.detokenize
        if isinstance(self._offsets, SentencePieceOffsets):
            read, write = self._offsets.tokenize, self._offsets.detokenize
        else:  # inside of a graph, KerasHub returns tensors
            read = tf.function(read, [_TEXTS], autograph=False)
            write = tf.function(write, [_IDS], autograph=False)
        self._read, self._write = read, write

    @classmethod
    def from_preset(cls, preset, use_start=False):
        """Return the tokenizer of a preset of KerasHub, or of a folder with one.

        Args:
            preset: of `keras_hub.tokenizers.Tokenizer.from_preset`.
            use_start: see the class.
        """
        hub = import_hub(f"{cls.__name__}.from_preset")
        return cls(hub.tokenizers.Tokenizer.from_preset(preset), use_start)

    @classmethod
    def learn(cls, texts, *args, **kwargs):
        """Raise an error: the vocabulary is that of the tokenizer."""
        raise four_part_error(
            "HubTokenizer cannot learn a vocabulary",
            "a tokenizer of KerasHub, which has one",
            "a call of learn",
            "Use HubTokenizer(tokenizer), or learn with SentencePiece or WordPiece",
        )

    def get_config(self):
        return {"use_start": self.use_start}

    def _make_offsets(self, hub):
        """Return a function from texts and ids to offsets; None: it is not known."""
        kinds, tokenizer = hub.tokenizers, self.tokenizer
        library = tensorflow_text("HubTokenizer")
        if isinstance(tokenizer, kinds.WordPieceTokenizer):
            offsets = WordPieceOffsets(library, tokenizer)
        elif isinstance(tokenizer, kinds.BytePairTokenizer):
            offsets = BytePairOffsets(self._pieces, tokenizer.add_prefix_space)
        elif isinstance(tokenizer, kinds.SentencePieceTokenizer):
            offsets = SentencePieceOffsets(library, tokenizer, self._pieces)
        else:
            return None
        # A subclass may take texts apart in another way.
        ids = [np.asarray(tokenizer.tokenize(_PROBE), np.int32)]
        ids = tf.RaggedTensor.from_tensor(tf.maximum(ids, 0))
        starts, ends = offsets(tf.constant([_PROBE]), ids)
        fits = len(starts.values) == len(ids.values)
        if isinstance(offsets, BytePairOffsets):
            fits = fits and int(ends.values[-1]) == len(_PROBE.encode())
        if isinstance(offsets, SentencePieceOffsets):
            own = offsets.tokenize(tf.constant([_PROBE]))
            fits = fits and bool(tf.reduce_all(own.values == ids.values))
        return offsets if fits else None

    def encode_with_offsets(self, texts):
        texts, is_scalar = string_batch(type(self).__name__, texts)
        tokens = super().encode_with_offsets(texts)
        if self.use_start:
            start = self.tokens.start
            first = start, self.pieces(start), 0, 0  # it stands for no bytes
            pairs = zip(tokens, first, strict=True)
            tokens = Tokens(*(_with_first(*pair) for pair in pairs))
        return Tokens(*(x[0] for x in tokens)) if is_scalar else tokens

    def _encode(self, texts):
        ids = self._read_spaced(texts)
        return _with_first(ids, self.tokens.start) if self.use_start else ids

    def _read_spaced(self, texts):
        ids = self._read(tf.strings.regex_replace(texts, _NUL, " "))
        values = tf.cast(ids.values, tf.int32)
        return ids.with_values(tf.where(values < 0, self.tokens.unknown, values))

    def _tokenize(self, texts):
        if self._offsets is None:
            raise four_part_error(
                "HubTokenizer does not know which bytes a token stands for",
                "a WordPiece, byte-level BPE or SentencePiece tokenizer",
                type(self.tokenizer).__name__,
                "Call encode, which returns ids only; a Translator needs the offsets",
            )
        ids = self._read_spaced(texts)
        spaced = tf.strings.regex_replace(texts, _NUL, " ")
        return ids, *self._offsets(spaced, ids)

    def _join(self, ids):
        return self._write(ragged_rows(ids.row_splits, ids.values)[0])

    # Saving: one file with the class, the options and the files of the tokenizer ---

    def _to_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            self.tokenizer.save_assets(folder)
            files = {
                name: base64.b64encode(Path(folder, name).read_bytes()).decode()
                for name in self.tokenizer.file_assets
            }
        config = self.tokenizer.get_config()
        if hasattr(self.tokenizer, "split_on_cjk"):  # which KerasHub 0.32 leaves out
            config["split_on_cjk"] = self.tokenizer.split_on_cjk
        name = keras.saving.get_registered_name(type(self.tokenizer))
        content = {"tokenizer": name, "config": config, "files": files}
        return json.dumps(content, indent=2).encode()

    @classmethod
    def _from_bytes(cls, data, config):
        hub = import_hub(cls.__name__)
        content = json.loads(data)
        kind = keras.saving.get_registered_object(content["tokenizer"])
        if not isinstance(kind, type) or not issubclass(kind, hub.tokenizers.Tokenizer):
            raise ValueError(
                f"{content['tokenizer']!r} is no tokenizer that Keras knows"
            )
        options = content["config"]
        # The files bring these. In a config they could name files of this computer.
        options |= {name: None for name in _FROM_FILES if name in options}
        tokenizer = kind.from_config(options)
        files = {
            x: base64.b64decode(content["files"][x]) for x in tokenizer.file_assets
        }
        if isinstance(tokenizer, hub.tokenizers.SentencePieceTokenizer):
            [model] = files.values()
            tokenizer.set_proto(model)  # of a path, KerasHub leaves the file open
            return cls(tokenizer, **config)
        with tempfile.TemporaryDirectory() as folder:
            for name, file in files.items():
                Path(folder, name).write_bytes(file)
            tokenizer.load_assets(folder)
        return cls(tokenizer, **config)


def _with_first(ragged, value):
    """Put a value in front of each row of a ragged tensor `[batch, None]`."""
    value = tf.convert_to_tensor(value)
    value = value if value.dtype == ragged.dtype else tf.cast(value, ragged.dtype)
    first = tf.RaggedTensor.from_tensor(tf.fill([ragged.nrows(), 1], value))
    return tf.concat([first, ragged], axis=1)
