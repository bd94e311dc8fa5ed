"""How long a training step waits for its input, as TensorFlow's profiler sees it.

One contender calls `fit` on batches that `data.batches` makes of Multi30k during the
training, the other one on the same batches from memory. The waiting time is the time in
`IteratorGetNext`. The first step of an epoch waits until all pairs are grouped into
batches. KERAS_SEQATTN_DATA names the folder with the corpus in `multi30k`.
"""

import pathlib
import statistics
import tempfile
import time

import numpy as np
import tensorflow as tf
from tensorflow.tsl.profiler.protobuf import xplane_pb2

import keras_seqattn as ks
from benchmarks import corpus, keras_weights, ours, sizes
from benchmarks.contender import Contender
from benchmarks.multi30k import in_memory

BATCH_TOKENS = 1500  # 64 sentences
BATCHES = 32  # in one repetition
WAIT, STEP = "IteratorGetNextOp::DoCompute", "multi_step_on_iterator"


def pipeline():
    """Return a contender that makes batches while it trains."""
    corpus.encoded()  # the first time it is written
    start = time.perf_counter()
    dataset = _dataset()
    read = time.perf_counter() - start
    return _contender(dataset, {"reading ids and grouping them into batches, s": read})


def memory():
    """Return a contender whose batches are in memory."""
    return _contender(in_memory(list(_dataset().as_numpy_iterator())))


def _dataset():
    # An epoch that does not end is not counted: every `fit` has the same batches.
    batches = ks.data.batches(corpus.encoded(), BATCH_TOKENS, seed=sizes.SEED)
    return batches.take(BATCHES)


def _contender(dataset, figures_before=None):
    model, variables = ours.compiled(sizes.REFERENCE, masked=True)
    keras_weights.assign(variables, sizes.weights(sizes.REFERENCE))

    def fit():
        return model.fit(dataset, shuffle=False, verbose=0).history["loss"]

    def figures():
        events = profiled(fit)
        first, *waits = events[WAIT]
        steps = events[STEP][1:]
        return (figures_before or {}) | {
            "waiting time of a step, median, ms": statistics.median(waits),
            "waiting time of a step, longest, ms": max(waits),
            "waiting time / step time, all steps but the first": sum(waits)
            / sum(steps),
            "waiting time of the first step of an epoch, ms": first,
        }

    return Contender(fit, lambda: {"loss": np.array(fit())}, figures=figures)


def profiled(work):
    """Return the milliseconds of all events of the host, by name and in order."""
    options = tf.profiler.experimental.ProfilerOptions(
        host_tracer_level=1, python_tracer_level=0, device_tracer_level=0
    )
    with tempfile.TemporaryDirectory() as folder:
        with tf.profiler.experimental.Profile(folder, options):
            work()
        [path] = pathlib.Path(folder).rglob("*.xplane.pb")
        space = xplane_pb2.XSpace.FromString(path.read_bytes())
    found = []
    for plane in space.planes:
        for line in plane.lines:
            for event in line.events:
                name = plane.event_metadata[event.metadata_id].name
                begin = line.timestamp_ns * 1000 + event.offset_ps
                found.append((begin, name, event.duration_ps / 1e9))
    events = {}
    for _, name, duration in sorted(found):
        events.setdefault(name, []).append(duration)
    return events
