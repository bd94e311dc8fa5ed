"""A queue of calls, which are computed in batches, one batch after the other."""

import asyncio
import concurrent.futures
import contextlib
import dataclasses
import itertools
import math
import time
from typing import Any

import numpy as np

from keras_seqattn.serving.http_errors import overloaded
from keras_seqattn.serving.signature import Cancellation, padded_size

ROW_MULTIPLE = 8


@dataclasses.dataclass(eq=False)
class Job:
    """A call that waits for its outputs."""

    call: Any
    future: Any
    arrived: float


class BatchQueue:
    """A queue in the order of arrival, with one worker thread.

    Args:
        limits: `Limits`.
        is_shared: whether jobs may share a batch.
        on_batch: called with the signature and the rows of each batch.
    """

    def __init__(self, limits, is_shared, on_batch):
        self.limits, self.is_shared, self.on_batch = limits, is_shared, on_batch
        self._waiting, self._arrival = [], asyncio.Event()
        self._running, self._cancellation = [], Cancellation()
        self._thread = concurrent.futures.ThreadPoolExecutor(1, "batch-queue")
        self._task = asyncio.create_task(self._work())

    @property
    def rows(self):
        """The number of rows that wait."""
        return sum(job.call.rows for job in self._waiting)

    async def compute(self, call):
        """Return the outputs of a call, arrays by name.

        If the caller is cancelled, its job leaves the queue. The computation ends when
        all callers of its batch are cancelled.
        """
        if self.rows + call.rows > self.limits.queue:
            raise overloaded(
                f"at most {self.limits.queue} waiting instances",
                f"{call.rows} while {self.rows} wait",
            )
        future = asyncio.get_running_loop().create_future()
        job = Job(call, future, time.monotonic())
        self._waiting.append(job)
        self._arrival.set()
        try:
            return await future
        finally:
            with contextlib.suppress(ValueError):
                self._waiting.remove(job)
            if self._running and all(other.future.done() for other in self._running):
                self._cancellation.cancel()

    async def close(self):
        """Stop taking jobs, and wait for the batch that is being computed."""
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        await asyncio.to_thread(self._thread.shutdown)

    async def _work(self):
        loop = asyncio.get_running_loop()
        while True:
            jobs = await self._next_batch()
            if not jobs:
                continue
            self._running, self._cancellation = jobs, Cancellation()
            calls = [job.call for job in jobs]
            try:
                self.on_batch(calls[0].signature, sum(call.rows for call in calls))
                results = await loop.run_in_executor(
                    self._thread, compute_together, calls, self._cancellation
                )
            except Exception as error:  # the next batch must be computed all the same
                results = [error] * len(jobs)
            self._running = []
            for job, result in zip(jobs, results, strict=True):
                if job.future.done():  # the caller is cancelled
                    continue
                if isinstance(result, Exception):
                    job.future.set_exception(result)
                else:
                    job.future.set_result(result)

    async def _next_batch(self):
        """Return the next jobs; the first one waits up to `wait_ms` for others."""
        while not self._waiting:
            await self._wait_for_arrival(None)
        patience = self.limits.wait_ms / 1000
        while jobs := self._batch():
            remaining = jobs[0].arrived + patience - time.monotonic()
            rows = sum(job.call.rows for job in jobs)
            is_full = rows >= self.limits.batch
            if remaining <= 0 or is_full or not self._may_share(jobs[0]):
                break
            await self._wait_for_arrival(remaining)
        jobs = take_row_multiple(jobs)
        for job in jobs:
            self._waiting.remove(job)
        return jobs

    async def _wait_for_arrival(self, seconds):
        """Wait for another job, at most this many seconds."""
        self._arrival.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._arrival.wait()

    def _batch(self):
        """Return the first job, and others that can share a batch with it."""
        jobs = self._waiting[:1]
        if not jobs or not self._may_share(jobs[0]):
            return jobs
        jobs, size = [], (0, 0, 0)
        for job in self._waiting:
            is_same = job.call.signature is self._waiting[0].call.signature
            larger = padded_size(size, job.call)
            is_allowed = larger[0] <= self.limits.batch
            if is_same and is_allowed and math.prod(larger) <= self.limits.max_cells:
                jobs.append(job)
                size = larger
        return jobs

    def _may_share(self, job):
        return self.is_shared and job.call.signature.is_shared


def take_row_multiple(jobs):
    """Return the longest prefix of jobs whose rows are a multiple of `ROW_MULTIPLE`.

    Without such a prefix, return all jobs. oneDNN compiles a kernel for every shape and
    keeps it, so fewer shapes need less memory. The other jobs join the next batch.
    """
    rows = itertools.accumulate(job.call.rows for job in jobs)
    ends = [n for n, count in enumerate(rows, start=1) if count % ROW_MULTIPLE == 0]
    return jobs[: ends[-1]] if ends else jobs


def compute_together(calls, cancellation):
    """Return the outputs or the exception of each of several calls of one signature.

    If the batch fails, each call is computed alone, so that one bad call does not make
    the others fail.

    Args:
        calls: list of `SignatureCall`s.
        cancellation: `Cancellation`, which can end the computation.
    """
    signature = calls[0].signature
    try:
        if len(calls) == 1:
            return [signature(calls[0].inputs, cancellation)]
        inputs = {
            name: np.concatenate([call.inputs[name] for call in calls])
            for name in signature.inputs
        }
        outputs = signature(inputs, cancellation)
        ends = np.cumsum([call.rows for call in calls])[:-1]
        parts = {name: np.split(array, ends) for name, array in outputs.items()}
    except Exception as error:
        if len(calls) == 1 or cancellation.is_cancelled:
            return [error] * len(calls)
        return [compute_together([call], cancellation)[0] for call in calls]
    return [{name: part[i] for name, part in parts.items()} for i in range(len(calls))]
