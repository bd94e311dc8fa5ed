"""Which words become which, as a model's alignments say, and how often they occur."""

import numpy as np

from keras_seqattn.decoding.scoring import score
from keras_seqattn.errors import four_part_error


def aligned(model, pairs, per_token, batch_size):
    """The target ids that are aligned to each source id most often.

    Args:
        model: as `score` takes it.
        pairs: `EncodedPairs`.
        per_token: greatest number for each source id.
        batch_size: pairs that are read at once.

    Returns:
        int32 `[source_vocabulary, per_token]`, the most frequent first, the lower id
        among equals; -1 where there are no more.
    """
    rows, columns = _vocabulary(model, "source"), _vocabulary(model, "target")
    order = pairs.target.lengths.argsort(kind="stable")
    found = [np.zeros(0, np.int64)]
    for start in range(0, len(pairs), batch_size):
        chosen = order[start : start + batch_size]
        source = _ended(pairs.source, chosen, pairs.source_tokens)
        target = _ended(pairs.target, chosen, pairs.target_tokens)
        scored = score(model, source, target, pairs.target_tokens)
        words, meanings = _links(source, target, scored.alignments.numpy())
        listed_anyway = meanings <= max(pairs.target_tokens)
        found.append((words * columns + meanings)[~listed_anyway])
    links, counts = np.unique(np.concatenate(found), return_counts=True)
    return _best(links // columns, links % columns, counts, rows, per_token)


def counted(model, pairs):
    """All target ids, the most frequent first, the lower one among equals."""
    size = _vocabulary(model, "target")
    counts = np.bincount(pairs.target.values, minlength=size)
    return np.argsort(-counts, kind="stable").astype(np.int32)


def _links(source, target, alignments):
    """Source ids and target ids: what each target token looks at most."""
    if alignments.ndim == 4:
        alignments = alignments.mean(axis=1)  # over heads
    position = alignments.argmax(axis=-1)
    looks = alignments.max(axis=-1) > 0  # padding looks at nothing
    words = np.take_along_axis(source, position, axis=1)
    return words[looks].astype(np.int64), target[looks].astype(np.int64)


def _best(words, meanings, counts, rows, per_token):
    """The table of all links, by their counts."""
    table = np.full([rows, per_token], -1, np.int32)
    order = np.lexsort([meanings, -counts, words])
    words, meanings = words[order], meanings[order]
    rank = np.arange(len(words)) - np.searchsorted(words, words)  # within its word
    kept = rank < per_token
    table[words[kept], rank[kept]] = meanings[kept]
    return table


def _ended(ids, rows, tokens):
    """`[batch, length]`, the sentences at some positions, each with its end token."""
    batch, lengths = ids.padded(rows, ids.lengths[rows].max() + 1, tokens.pad)
    batch[np.arange(len(rows)), lengths] = tokens.end
    return batch


def _vocabulary(model, side):
    """How many tokens the model embeds; of an ensemble, each does."""
    member = getattr(model, "models", [model])[0]
    embedding = getattr(member, f"{side}_embedding", None)
    if not hasattr(embedding, "input_dim"):
        raise four_part_error(
            "Shortlist.learn got a model of unknown vocabularies",
            "a Seq2Seq or an Ensemble of them",
            f"{type(member).__name__} without a {side}_embedding",
            "Make the table yourself, for Shortlist(table, frequent)",
        )
    return embedding.input_dim
