"""The target tokens that a model aligns to each source token, and their counts."""

import numpy as np

from keras_seqattn.decoding.scoring import score
from keras_seqattn.errors import abbreviated, four_part_error


def most_aligned(model, pairs, per_token, batch_size):
    """Return the target ids that are aligned to each source id most often.

    Args:
        model: a model that `score` accepts.
        pairs: `EncodedPairs`.
        per_token: greatest number of target ids for each source id.
        batch_size: number of pairs in a batch.

    Returns:
        int32 `[source_vocabulary, per_token]`, the most frequent first, the lower id
        first among equally frequent ones; rows are filled with -1.
    """
    lists = [getattr(pairs, side, None) for side in ("source", "target")]
    if not all(hasattr(side, "lengths") for side in lists):
        raise four_part_error(
            "Shortlist.learn got pairs that are not encoded",
            "EncodedPairs",
            abbreviated(pairs),
            "Call data.encode(pairs, source_text, target_text) first",
        )
    source_size = _vocabulary_size(model, "source")
    target_size = _vocabulary_size(model, "target")
    order = pairs.target.lengths.argsort(kind="stable")
    links = [np.zeros(0, np.int64)]
    for start in range(0, len(pairs), batch_size):
        rows = order[start : start + batch_size]
        source = _with_end_tokens(pairs.source, rows, pairs.source_tokens)
        target = _with_end_tokens(pairs.target, rows, pairs.target_tokens)
        scored = score(model, source, target, pairs.target_tokens)
        source_ids, target_ids = _links(source, target, scored.alignments.numpy())
        is_special = np.isin(target_ids, pairs.target_tokens)  # listed anyway
        links.append((source_ids * target_size + target_ids)[~is_special])
    links, counts = np.unique(np.concatenate(links), return_counts=True)
    source_ids, target_ids = np.divmod(links, target_size)
    return _table(source_ids, target_ids, counts, [source_size, per_token])


def ids_by_frequency(model, pairs):
    """Return all target ids, the most frequent first, then the lower one."""
    size = _vocabulary_size(model, "target")
    counts = np.bincount(pairs.target.values, minlength=size)
    return np.argsort(-counts, kind="stable").astype(np.int32)


def _links(source, target, alignments):
    """Return pairs of aligned ids: all source ids and all target ids.

    A target token is aligned to the source token with its largest weight.
    """
    if alignments.ndim == 4:
        alignments = alignments.mean(axis=1)  # over heads
    position = alignments.argmax(axis=-1)
    is_real = alignments.max(axis=-1) > 0  # padding has no alignment
    source_ids = np.take_along_axis(source, position, axis=1)
    return source_ids[is_real].astype(np.int64), target[is_real].astype(np.int64)


def _table(source_ids, target_ids, counts, shape):
    """Return the table `[source_size, per_token]` of links, sorted by their counts."""
    table = np.full(shape, -1, np.int32)
    order = np.lexsort([target_ids, -counts, source_ids])
    source_ids, target_ids = source_ids[order], target_ids[order]
    # The rank of each link among those of its source id.
    rank = np.arange(len(source_ids)) - np.searchsorted(source_ids, source_ids)
    kept = rank < shape[1]
    table[source_ids[kept], rank[kept]] = target_ids[kept]
    return table


def _with_end_tokens(ids, rows, tokens):
    """Return sentences with their end tokens, padded: `[batch, length]`."""
    batch, lengths = ids.padded(rows, ids.lengths[rows].max() + 1, tokens.pad)
    batch[np.arange(len(rows)), lengths] = tokens.end
    return batch


def _vocabulary_size(model, side):
    """Return the number of tokens that a model embeds, or each in an ensemble."""
    member = getattr(model, "models", [model])[0]
    embedding = getattr(member, f"{side}_embedding", None)
    if not hasattr(embedding, "input_dim"):
        raise four_part_error(
            "Shortlist.learn got a model with unknown vocabularies",
            "a Seq2Seq or an Ensemble of them",
            f"{type(member).__name__} without a {side}_embedding",
            "Make the table yourself and pass it: Shortlist(table, frequent)",
        )
    return embedding.input_dim
