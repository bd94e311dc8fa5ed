"""Encoding of pairs as ids, with a cache in a file."""

import hashlib
import os
import zipfile

import numpy as np
import tensorflow as tf

from keras_seqattn.data.encoded_pairs import EncodedPairs, Ids
from keras_seqattn.data.pairs import as_pairs
from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.files import replacing
from keras_seqattn.safe_reading import well_formed
from keras_seqattn.types import SpecialTokens

_CHUNK = 8192  # sentences that are encoded at once
_PROBE = 1000  # pairs that are encoded to recognise a text processor


def encode(pairs, source_text, target_text, *, sample=False, cache=None):
    """Encodes both sides of pairs, in memory.

    Args:
        pairs: `Pairs`, or a list of pairs of strings.
        source_text: text processor of the sources: an object with `encode(texts)`,
            from `[batch]` strings to a `tf.RaggedTensor` `[batch, None]` of ids, and
            `tokens`, a `SpecialTokens`.
        target_text: text processor of the targets.
        sample: draw a random segmentation into subwords, if the processors support
            `encode(texts, sample=True)`.
        cache: path of a file that keeps the ids; None: no file. The file is read if it
            belongs to the same texts and processors. Otherwise it is written again,
            completely or not at all.

    Returns:
        `EncodedPairs`.

    Example:
        >>> class Letters:
        ...     tokens = SpecialTokens()
        ...     def encode(self, texts):
        ...         return tf.strings.unicode_decode(texts, "UTF-8") - 93
        >>> pairs = Pairs(["abc", "cab"], ["cba", "bac"])
        >>> encoded = encode(pairs, Letters(), Letters())
        >>> encoded.source.values.tolist(), encoded.source.splits.tolist()
        ([4, 5, 6, 6, 4, 5], [0, 3, 6])
    """
    pairs = as_pairs("encode", pairs)
    _check_processor("source_text", source_text)
    _check_processor("target_text", target_text)
    if cache is None:
        return _encoded(pairs, source_text, target_text, sample)
    if sample:
        raise four_part_error(
            "encode got contradictory options",
            "sample=True or a cache",
            f"sample=True and cache={os.fspath(cache)!r}",
            "Leave out one of them: a cache would keep the same random ids",
        )
    cache, wanted = os.fspath(cache), _fingerprint(pairs, source_text, target_text)
    encoded = _load(cache, wanted) if os.path.exists(cache) else None
    if encoded is None:
        encoded = _encoded(pairs, source_text, target_text, sample)
        _save(cache, wanted, encoded)
    return encoded


def _check_processor(name, text):
    """Check that it is an object with `encode` and `tokens`, and not a class."""
    missing = not (hasattr(text, "encode") and hasattr(text, "tokens"))
    if missing or isinstance(text, type):
        raise four_part_error(
            f"encode got an unusable {name}",
            "a text processor that has learned its vocabulary",
            abbreviated(text),
            "Pass e.g. Words.learn(pairs.source) for the sources",
        )


def _encoded(pairs, source_text, target_text, sample=False):
    return EncodedPairs(
        _ids(pairs.source, source_text, sample),
        _ids(pairs.target, target_text, sample),
        source_text.tokens,
        target_text.tokens,
    )


def _ids(texts, processor, sample):
    values, lengths = [np.zeros(0, np.int32)], [np.zeros(1, np.int64)]
    options = {"sample": True} if sample else {}
    for start in range(0, len(texts), _CHUNK):
        chunk = tf.constant([well_formed(x) for x in texts[start : start + _CHUNK]])
        ragged = processor.encode(chunk, **options)
        values.append(ragged.flat_values.numpy().astype(np.int32))
        lengths.append(ragged.row_lengths().numpy())
    return Ids(np.concatenate(values), np.cumsum(np.concatenate(lengths)))


def _fingerprint(pairs, source_text, target_text):
    """Return a hash of the texts, and of the ids of some of them.

    The ids identify a processor better than its class and its vocabulary, which do not
    say how a text is normalised and split.
    """
    probe = pairs.select(range(0, len(pairs), 1 + len(pairs) // _PROBE))
    encoded = _encoded(probe, source_text, target_text)
    digest = hashlib.sha256()
    for texts in (pairs.source, pairs.target):
        lengths = np.fromiter(map(len, texts), np.int64)
        digest.update(lengths.tobytes())
        digest.update("".join(texts).encode("utf-8", "surrogatepass"))
    for processor in (source_text, target_text):
        words = (type(processor).__name__, tuple(processor.tokens))
        digest.update(repr(words).encode())
        digest.update(repr(getattr(processor, "vocabulary", None)).encode())
    for array in (*encoded.source, *encoded.target):
        digest.update(array.tobytes())
    return digest.hexdigest()


def _save(path, fingerprint, encoded):
    arrays = {
        "fingerprint": np.array(fingerprint),
        "source_tokens": np.array(encoded.source_tokens),
        "target_tokens": np.array(encoded.target_tokens),
    }
    for side in ("source", "target"):
        ids = getattr(encoded, side)
        arrays |= {f"{side}_values": ids.values, f"{side}_splits": ids.splits}
    with replacing(path) as part, open(part, "wb") as file:
        np.savez(file, **arrays)


def _load(path, fingerprint):
    """Return the pairs in the file, or None if it belongs to other texts."""
    try:
        with np.load(path, allow_pickle=False) as file:
            if str(file["fingerprint"]) != fingerprint:
                return None
            sides = [
                Ids(file[f"{side}_values"], file[f"{side}_splits"])
                for side in ("source", "target")
            ]
            tokens = [
                SpecialTokens(*file[f"{side}_tokens"].tolist())
                for side in ("source", "target")
            ]
    except (ValueError, KeyError, TypeError, OSError, EOFError, zipfile.BadZipFile):
        raise four_part_error(
            "encode got a cache that it did not write",
            "a path without a file, or a file of an earlier call",
            repr(path),
            "Pass another path, or delete the file if it is a damaged cache",
        ) from None
    return EncodedPairs(*sides, *tokens)
