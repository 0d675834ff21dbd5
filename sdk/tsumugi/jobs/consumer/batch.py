"""Run the jobs of one batch at once: begin, perform, report, give up. Reads no message.

Reports leave together: when the batch is done, or shortly after the first that nobody told yet, so
that a slow job holds no other back. No timer stands between a lone job and its report.
"""

from __future__ import annotations

import asyncio
import logging
import os
from typing import TYPE_CHECKING, Any, Final

from tsumugi.jobs.consumer.attempt import attempt
from tsumugi.jobs.consumer.deliveries import LEFT_BEHIND
from tsumugi.jobs.consumer.link import Link
from tsumugi.jobs.consumer.log_lines import log_end
from tsumugi.jobs.consumer.remote import WIND_UP_MS, attempt_elsewhere
from tsumugi.jobs.consumer.reports import Ended, refused, report_text
from tsumugi.jobs.consumer.running import Running
from tsumugi.jobs.consumer.tasks import start_task
from tsumugi.jobs.consumer.watch import FLUSH_AFTER_MS, Due, Watch
from tsumugi.jobs.core.reports import Outcome, may_start

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable

    from tsumugi.jobs.consumer.deliveries import Dispatched
    from tsumugi.jobs.registry import Registry
    from tsumugi.jobs.settings import Settings
    from tsumugi.jobs.wire import BegunJob, StaleJob

#: Bytes of chance that tell one invocation of a consumer from every other.
INVOCATION_BYTES: Final = 12

#: Of a claimed job, only who claimed it may say so (ADR-0285).
_NOT_BEGUN: Final = (Outcome.NOT_STARTED, Outcome.IMPOSSIBLE)

_log = logging.getLogger("tsumugi.jobs")


class Batch:
    """One batch under way."""

    def __init__(
        self, env: Any, registry: Registry, settings: Settings, now_ms: Callable[[], int]
    ) -> None:
        self._env = env
        self._registry = registry
        self._settings = settings
        self._now_ms = now_ms
        self._loop = asyncio.get_running_loop()
        self._watch = Watch(self._loop, now_ms)
        self._links: dict[str, Link] = {}
        self._invocation = ""
        self._claimants = 0
        #: By shard and id, to find those the shard calls stale.
        self._running: dict[tuple[Link, str, int], Running] = {}
        #: Jobs, and tasks of the batch itself, that are not over.
        self._open = 0
        self._helpers: set[asyncio.Task[None]] = set()
        #: Performers that were given up and may still wind up.
        self._given_up: list[asyncio.Task[None]] = []
        self._fatal: BaseException | None = None

    async def run(self, jobs: Iterable[Dispatched]) -> None:
        """Returns when every job is reported or given up. Raises what stops the whole event."""
        try:
            self._accept(jobs)
            while self._open and self._fatal is None:
                self._serve(await self._watch.pause())
            await self._end()
        finally:
            self._abandon()
            for link in self._links.values():
                link.cancel()
        if self._fatal is not None:
            raise self._fatal

    def _accept(self, jobs: Iterable[Dispatched]) -> None:
        asked: dict[Link, list[Running]] = {}
        blocking: list[Running] = []
        for job in jobs:
            running = self._running_of(job)
            if running is None:
                continue
            if job.claim or job.payload is LEFT_BEHIND:
                asked.setdefault(running.link, []).append(running)
            elif running.registered.gives_way:
                self._start(running)
            else:
                blocking.append(running)
                self._watch.queued(running)
        for link, wanted in asked.items():
            self._help(self._begin(link, wanted))
        if blocking:
            self._help(self._one_by_one(blocking))
        if self._open and any(link.has_news for link in self._links.values()):
            self._watch.flush_soon()

    def _running_of(self, job: Dispatched) -> Running | None:
        """The job in our hands; None, and a report, for one that cannot be performed here."""
        link = self._links.get(job.shard)
        if link is None:
            link = self._links[job.shard] = Link(
                self._env, self._settings.env, job.shard, self._on_stale
            )
        if (link, job.local, job.epoch) in self._running:
            return None  # the queue delivered it twice: one answer is enough
        now_ms = self._now_ms()
        registered = self._registry.get(job.binding)
        if registered is None:
            ended = not_here(self._registry, job.binding)
        elif not may_start(attempt=job.attempt, expires_ms=job.expires_ms, now_ms=now_ms):
            ended = Ended(Outcome.NOT_STARTED)
        else:
            self._open += 1
            running = Running(
                job,
                registered,
                link,
                claimant=self._claimant() if job.claim else None,
                now_ms=self._now_ms,
                on_news=self._on_news,
            )
            self._running[link, job.local, job.epoch] = running
            return running
        link.report(report_text(job.local, job.epoch, ended, started_ms=now_ms, finished_ms=now_ms))
        self._on_news()
        return None

    def _claimant(self) -> str:
        """A name for one delivery: in no other invocation, and once in this one (ADR-0285)."""
        if not self._invocation:
            self._invocation = os.urandom(INVOCATION_BYTES).hex()
        self._claimants += 1
        return f"{self._invocation}.{self._claimants}"

    async def _begin(self, link: Link, wanted: list[Running]) -> None:
        """Ask the shard for claims and for payloads that were left behind."""
        while wanted:
            answers = await link.begin([running.begin_job() for running in wanted])
            if answers is None:
                for running in wanted:
                    self._not_begun(running)
                return
            later = [one for one, a in zip(wanted, answers, strict=True) if not self._begun(one, a)]
            if len(later) == len(wanted):
                raise RuntimeError(f"shard {link.shard} puts off every job it is asked for")
            wanted = later

    def _begun(self, running: Running, answer: BegunJob) -> bool:
        """Whether it is decided: performed, or not to be performed."""
        if answer["refused"] == "later":
            return False
        if answer["refused"] is None:
            if "payload" in answer:
                running.payload = answer["payload"]
            self._start(running)
            return True
        _log.info("job %s is not performed: %s", running.dispatched.job_id, answer["refused"])
        self._close(running)
        return True

    def _not_begun(self, running: Running) -> None:
        """The shard could not be asked. It was not performed here; it must not loop, nor run twice.

        An at-most-once job may be claimed by another delivery: only "not started" is safe, which
        the shard ignores then. Any other attempt counts as failed, and waits for its backoff.
        """
        if running.claimant is not None:
            self._report(running, Ended(Outcome.NOT_STARTED))
        else:
            why = "its payload could not be fetched from its shard"
            self._report(running, refused(Outcome.FAILED, "tsumugi.ShardError", why))

    async def _one_by_one(self, wanted: list[Running]) -> None:
        """Performers that do not give way: between two of them the batch looks at the time."""
        last = self._loop.time()
        for running in wanted:
            self._start(running)
            if running.is_open or self._loop.time() - last > FLUSH_AFTER_MS / 1_000:
                await asyncio.sleep(0)
                last = self._loop.time()

    def _start(self, running: Running) -> None:
        running.start()
        running.task = start_task(self._loop, self._perform(running))
        if running.is_open:
            self._watch.started(running)

    async def _perform(self, running: Running) -> None:
        registered = running.registered
        try:
            if registered.service is None:
                ended = await attempt(registered, self._env, running.payload, running.ctx)
            else:
                ended = await attempt_elsewhere(registered, self._env, running)
        except asyncio.CancelledError:
            return  # it was given up
        if ended.fatal is not None and self._fatal is None:
            self._fatal = ended.fatal
        self._report(running, ended)

    def _report(self, running: Running, ended: Ended) -> None:
        """The first word about a job is its last: later ones have no listener."""
        if not running.is_open:
            return
        job, now_ms = running.dispatched, self._now_ms()
        log_end(job.job_id, job.attempt, ended)
        if running.claimant is not None and ended.outcome in _NOT_BEGUN:
            named = f'{ended.members},"claimant":"{running.claimant}"'
            ended = ended._replace(members=named)
        started_ms = running.started_ms or now_ms
        running.link.report(
            report_text(job.local, job.epoch, ended, started_ms=started_ms, finished_ms=now_ms)
        )
        self._close(running)

    def _close(self, running: Running) -> None:
        running.is_open = False
        self._open -= 1
        self._on_news()

    def _on_news(self) -> None:
        """Something is to be told: soon, or at once when nothing runs any more."""
        if self._open == 0 or self._fatal is not None:
            self._watch.wake()
        else:
            self._watch.flush_soon()

    def _give_up(self, running: Running) -> None:
        """Nobody waits for it any more. Its performer is told, and gets the time to wind up."""
        if running.is_open:
            self._close(running)
        if running.task is not None and not running.task.done():
            running.ctx.cancelled.set()
            running.task.cancel()
            self._given_up.append(running.task)

    def _on_stale(self, link: Link, stale: StaleJob) -> None:
        running = self._running.get((link, stale["id"], stale["epoch"]))
        if running is None:
            return
        _log.info(
            "job %s, attempt %d: what it said came too late (%s)",
            running.dispatched.job_id,
            running.dispatched.attempt,
            stale["because"],
        )
        if running.is_open:
            self._give_up(running)

    def _serve(self, due: Due) -> None:
        for running in due.timed_out:
            if running.is_open:
                why = (
                    "the performer did not end within its timeout_ms of "
                    f"{running.dispatched.timeout_ms}"
                )
                self._report(running, refused(Outcome.TIMED_OUT, "TimeoutError", why))
                self._give_up(running)
        for running in due.beats:
            if running.is_due_for_beat():
                running.beat()
                running.link.send()
        if due.flush:
            for link in self._links.values():
                link.send()

    async def _end(self) -> None:
        """Tell what is left to tell, and let performers that were cancelled wind up."""
        for link in self._links.values():
            await link.finish()
        left = [task for task in self._given_up if not task.done()]
        if not left or self._fatal is not None:
            return
        _, deaf = await asyncio.wait(left, timeout=WIND_UP_MS / 1_000)
        for task in deaf:
            _log.warning("%r was cancelled and goes on; the runtime drops it", task.get_coro())

    def _abandon(self) -> None:
        """Leave no job running. What is not reported is found by the reaper."""
        for task in self._helpers:
            task.cancel()
        for running in self._running.values():
            if running.is_open:
                self._give_up(running)

    def _help(self, work: Coroutine[Any, Any, None]) -> None:
        """A task of the batch itself. It ends before the batch does; its fault is the batch's."""
        task = asyncio.create_task(work)
        self._open += 1
        self._helpers.add(task)
        task.add_done_callback(self._helped)

    def _helped(self, task: asyncio.Task[None]) -> None:
        self._helpers.discard(task)
        self._open -= 1
        if not task.cancelled() and (error := task.exception()) is not None:
            self._fatal = self._fatal or error
        self._watch.wake()


def not_here(registry: Registry, name: str) -> Ended:
    """Of a job whose performer this Worker does not list."""
    known = ", ".join(sorted(registry.names)) or "none"
    return refused(
        Outcome.IMPOSSIBLE,
        "tsumugi.UnknownPerformer",
        f"the Worker that consumes the queue has no performer {name!r} (it has: {known}): list the "
        "class in Tsumugi(performers=[...]), or remote(...) if another Worker performs it",
    )
