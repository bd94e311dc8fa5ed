"""The plan of all batches: sentences of similar length, the same shapes each epoch."""

import dataclasses
import sys

import numpy as np

from keras_seqattn.checks import check_count
from keras_seqattn.data.encoded_pairs import check_encoded
from keras_seqattn.errors import four_part_error

# This many source lengths share a cell: fewer shapes, and more pairs to choose from.
_SOURCE_STEP = 2
# Numbers of target lengths that share a strip, which is sorted by source length. All
# are tried, and the plan with the least padding wins.
_STRIPS = (1, 2, 3, 4, 6, 8, 12, 16)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class BatchPlan:
    """The shapes of the batches of an epoch.

    Pairs of similar length form a cell. A batch takes its pairs from neighbouring
    cells; every epoch draws again which pairs of a cell it takes. So all epochs have
    the same shapes, the same number of batches and the same padding.

    Args:
        cells: `[pairs]`, the cell of each pair; cells are numbered in the order in
            which they fill the batches, the longest targets first.
        rows: `[batches]`, number of pairs.
        source_lengths: `[batches]`, padded length of the sources, end token included.
        target_lengths: `[batches]`, padded length of the targets, end token included.
        tokens: numbers of real tokens of both sides, end tokens included.
    """

    cells: np.ndarray
    rows: np.ndarray
    source_lengths: np.ndarray
    target_lengths: np.ndarray
    tokens: tuple[int, int]

    def __len__(self):
        return len(self.rows)

    @property
    def shapes(self):
        """The different `(pairs, source length, target length)`, sorted."""
        return sorted(set(zip(*map(np.ndarray.tolist, self._sizes()), strict=True)))

    @property
    def padding(self):
        """The share of padding in the sources and in the targets."""
        rows, source, target = self._sizes()
        positions = np.sum(rows * source), np.sum(rows * target)
        real = zip(self.tokens, positions, strict=True)
        return tuple(float(1 - tokens / size) for tokens, size in real)

    def _sizes(self):
        return self.rows, self.source_lengths, self.target_lengths

    def indices(self, random=None):
        """Return an array of pairs for each batch; `random` draws them from cells."""
        pairs = np.arange(len(self.cells))
        if random is not None:
            random.shuffle(pairs)
        pairs = pairs[np.argsort(self.cells[pairs], kind="stable")]
        return np.split(pairs, np.cumsum(self.rows)[:-1])

    def __repr__(self):
        source, target = (f"{100 * share:.1f} %" for share in self.padding)
        return (
            f"BatchPlan({len(self)} batches in {len(self.shapes)} shapes, padding: "
            f"source {source}, target {target})"
        )


def plan_batches(encoded, batch_tokens=None, *, batch_size=None, pad_to_multiple=1):
    """Groups sentences of similar length into batches; `batches` follows the plan.

    Args:
        encoded: `EncodedPairs`.
        batch_tokens: see `batches`.
        batch_size: see `batches`.
        pad_to_multiple: see `batches`.

    Returns:
        A `BatchPlan`. Printed, it shows the numbers of batches and shapes, and the
        share of padding.

    Example:
        >>> encoded = EncodedPairs.of([[5] * 9, [5] * 3, [5] * 8], [[5] * 9] * 3)
        >>> plan_batches(encoded, batch_tokens=20)
        BatchPlan(2 batches in 2 shapes, padding: source 4.2 %, target 0.0 %)
    """
    check_sizes(batch_tokens, batch_size, pad_to_multiple)
    _check_encoded(encoded)
    lengths = np.stack([encoded.source.lengths, encoded.target.lengths]) + 1  # the end
    padded = -(-lengths // pad_to_multiple) * pad_to_multiple
    # From here on there are a few thousand different sizes instead of all pairs.
    beyond = np.max(padded) + 1
    sizes, size_of, counts = np.unique(
        padded[0] * beyond + padded[1], return_inverse=True, return_counts=True
    )
    sizes = np.stack(np.divmod(sizes, beyond))
    limits = batch_tokens or sys.maxsize, batch_size or sys.maxsize
    plans = []
    for strip in _STRIPS:
        cells = _cells(*sizes, strip * pad_to_multiple, pad_to_multiple)
        plans.append((cells, _fill_batches(_contents(cells, *sizes, counts), *limits)))
    cells, batches = min(plans, key=lambda plan: _positions(plan[1]))
    return BatchPlan(
        cells[size_of], *batches.T, tuple(np.sum(lengths, axis=1).tolist())
    )


def _cells(source, target, strip, multiple):
    """Return `[sizes]`, the cell of each size, numbered in the order of the batches.

    Targets of similar length form a strip, and the longest strip comes first. Each
    strip is sorted by source length, in turn up and down. So neighbouring cells are
    similar where one strip ends and the next begins.
    """
    strip = (target - 1) // strip
    step = (source - 1) // max(multiple, _SOURCE_STEP)
    step = np.where(strip % 2 == 0, step, -step)
    keys = np.stack([-strip, -step], axis=1)
    return np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)


def _contents(cells, source, target, counts):
    """Return `[pairs, source length, target length]` of each cell."""
    contents = np.zeros((np.max(cells) + 1, 3), np.int64)
    np.add.at(contents[:, 0], cells, counts)
    np.maximum.at(contents[:, 1], cells, source)
    np.maximum.at(contents[:, 2], cells, target)
    return contents.tolist()


def _fill_batches(contents, batch_tokens, batch_size):
    """Return `[batches, 3]`: pairs, source length and target length of full batches.

    A pair that is longer than `batch_tokens` gets its own batch.
    """
    batches, rows, longest = [], 0, (0, 0)
    for count, *lengths in contents:
        while count:
            longer = tuple(map(max, longest, lengths))
            room = min(batch_tokens // max(longer), batch_size) - rows
            if rows and room < 1:
                batches.append((rows, *longest))
                rows, longest = 0, (0, 0)
                continue
            taken = min(count, max(room, 1))
            rows, longest, count = rows + taken, longer, count - taken
    return np.array([*batches, (rows, *longest)])


def _positions(batches):
    rows, source, target = batches.T
    return np.sum(rows * (source + target))


def _check_encoded(encoded):
    check_encoded("batches", encoded)
    if len(encoded) == 0:
        raise four_part_error(
            "batches got no pairs",
            "one pair or more",
            "none",
            "Check what was read, and the report of the filter",
        )


def check_size(owner, batch_tokens, batch_size):
    """Check that batches have a size."""
    if batch_tokens is None and batch_size is None:
        raise four_part_error(
            f"{owner} got no size of batches",
            "batch_tokens, batch_size or both",
            "neither",
            "Pass e.g. batch_tokens=2000",
        )


def check_sizes(batch_tokens, batch_size, pad_to_multiple):
    """Check that batches have a size, and that all sizes are 1 or more."""
    check_size("batches", batch_tokens, batch_size)
    sizes = {"batch_tokens": batch_tokens, "batch_size": batch_size}
    sizes = {name: size for name, size in sizes.items() if size is not None}
    for name, size in {**sizes, "pad_to_multiple": pad_to_multiple}.items():
        check_count("batches", name, size, 1)
