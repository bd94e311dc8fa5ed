"""Requests of several clients, computed together, one batch after the other."""

import asyncio
import concurrent.futures
import contextlib
import dataclasses
import itertools
import math
import time
from typing import Any

import numpy as np

from keras_seqattn.serving.cancellation import Cancellation
from keras_seqattn.serving.refused import Refused, four_parts
from keras_seqattn.serving.sizes import padded

EVEN = 8  # rows


@dataclasses.dataclass(eq=False)
class Job:
    """A question, and where its answer will be."""

    question: Any
    future: Any
    arrived: float


class Lane:
    """One worker thread and its queue, in the order of arrival.

    Args:
        limits: `Limits`.
        is_shared: whether jobs may share a batch.
        on_batch: called with the signature and the rows of each batch.
    """

    def __init__(self, limits, is_shared, on_batch):
        self.limits, self.is_shared, self.on_batch = limits, is_shared, on_batch
        self._waiting, self._arrival = [], asyncio.Event()
        self._computed, self._cancellation = [], Cancellation()
        self._thread = concurrent.futures.ThreadPoolExecutor(1, "lane")
        self._task = asyncio.create_task(self._work())

    @property
    def rows(self):
        """How many wait."""
        return sum(job.question.rows for job in self._waiting)

    async def ask(self, question):
        """Outputs, arrays by name.

        A caller that is cancelled leaves the queue; the computation ends if it runs for
        callers that are gone.
        """
        if self.rows + question.rows > self.limits.queue:
            message = four_parts(
                "The server has more to do than it can",
                f"{self.limits.queue} instances or less that wait",
                f"{question.rows} while {self.rows} wait",
                "Try again in a second",
            )
            raise Refused(503, message, {"Retry-After": "1"})
        future = asyncio.get_running_loop().create_future()
        job = Job(question, future, time.monotonic())
        self._waiting.append(job)
        self._arrival.set()
        try:
            return await future
        finally:
            with contextlib.suppress(ValueError):
                self._waiting.remove(job)
            if self._computed and all(each.future.done() for each in self._computed):
                self._cancellation.cancel()

    async def close(self):
        """Ends; the batch that runs is waited for."""
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        await asyncio.to_thread(self._thread.shutdown)

    async def _work(self):
        loop = asyncio.get_running_loop()
        while True:
            jobs = await self._gather()
            if not jobs:
                continue
            self._computed, self._cancellation = jobs, Cancellation()
            work = answer, [job.question for job in jobs], self._cancellation
            try:
                first = jobs[0].question.signature
                self.on_batch(first, sum(job.question.rows for job in jobs))
                answers = await loop.run_in_executor(self._thread, *work)
            except Exception as error:  # the next batch must be computed all the same
                answers = [error] * len(jobs)
            self._computed = []
            for job, found in zip(jobs, answers, strict=True):
                if job.future.done():  # its caller is gone
                    continue
                if isinstance(found, Exception):
                    job.future.set_exception(found)
                else:
                    job.future.set_result(found)

    async def _gather(self):
        """The next jobs; a first one waits a little for others."""
        while not self._waiting:
            await self._next(None)
        patience = self.limits.wait_ms / 1000
        while jobs := self._batch():
            left = jobs[0].arrived + patience - time.monotonic()
            rows = sum(job.question.rows for job in jobs)
            if left <= 0 or rows >= self.limits.batch or not self._may_share(jobs[0]):
                break
            await self._next(left)
        jobs = even(jobs)
        for job in jobs:
            self._waiting.remove(job)
        return jobs

    async def _next(self, seconds):
        """Waits for another job."""
        self._arrival.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._arrival.wait()

    def _batch(self):
        """The first job, and others that can share a batch with it."""
        jobs = self._waiting[:1]
        if not jobs or not self._may_share(jobs[0]):
            return jobs
        jobs, size = [], (0, 0, 0)
        for job in self._waiting:
            same = job.question.signature is self._waiting[0].question.signature
            larger = padded(size, job.question)
            is_allowed = larger[0] <= self.limits.batch
            if same and is_allowed and math.prod(larger) <= self.limits.max_cells:
                jobs.append(job)
                size = larger
        return jobs

    def _may_share(self, job):
        return self.is_shared and job.question.signature.is_shared


def even(jobs):
    """The first of some jobs, as many as have a multiple of `EVEN` rows; else all.

    oneDNN makes a kernel for every shape and keeps it, so fewer shapes need less
    memory. The other jobs are in the next batch.
    """
    rows = itertools.accumulate(job.question.rows for job in jobs)
    ends = [end for end, count in enumerate(rows, start=1) if count % EVEN == 0]
    return jobs[: ends[-1]] if ends else jobs


def answer(questions, cancellation):
    """Outputs for each of several questions of a signature; or an exception.

    If they fail together, each is tried alone: one cannot spoil the others.

    Args:
        questions: list.
        cancellation: `Cancellation`, ends the computation.
    """
    signature = questions[0].signature
    try:
        if len(questions) == 1:
            return [signature(questions[0].inputs, cancellation)]
        inputs = {
            name: np.concatenate([question.inputs[name] for question in questions])
            for name in signature.inputs
        }
        outputs = signature(inputs, cancellation)
        ends = np.cumsum([question.rows for question in questions])[:-1]
        parts = {name: np.split(array, ends) for name, array in outputs.items()}
    except Exception as error:
        if len(questions) == 1 or cancellation.is_cancelled:
            return [error] * len(questions)
        return [
            found
            for question in questions
            for found in answer([question], cancellation)
        ]
    return [
        {name: part[i] for name, part in parts.items()} for i in range(len(questions))
    ]
