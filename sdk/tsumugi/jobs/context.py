"""What a performer knows of its attempt, and how it speaks while it runs. Decides nothing."""

from __future__ import annotations

import asyncio
import math
from typing import Final, Protocol

from tsumugi.jobs.wire import LOG_LENGTH, whole_text

#: Stands where characters were left out.
ELLIPSIS: Final = "…"


class Voice(Protocol):
    """Where heartbeats and log lines go. The consumer's; tests have their own."""

    async def heartbeat(self, progress: float | None) -> None: ...

    async def log(self, text: str) -> None: ...


class JobContext:
    """One attempt of one job, as its performer sees it."""

    __slots__ = (
        "_voice",
        "attempt",
        "cancelled",
        "deadline_at_ms",
        "job_id",
        "traceparent",
    )

    def __init__(
        self,
        voice: Voice,
        *,
        job_id: str,
        attempt: int,
        deadline_at_ms: int | None = None,
        traceparent: str | None = None,
    ) -> None:
        self._voice = voice
        #: ``<binding>#<shard>:<local>``, as ``enqueue`` answered it.
        self.job_id = job_id
        #: From 1; how often the job was begun, this time included.
        self.attempt = attempt
        #: When the consumer stops waiting (milliseconds since 1970); None: it waits for ever.
        self.deadline_at_ms = deadline_at_ms
        #: W3C trace context that was given to ``enqueue``.
        self.traceparent = traceparent
        #: Set when nobody waits for this attempt any more. The task is cancelled as well.
        self.cancelled = asyncio.Event()

    @property
    def idempotency_key(self) -> str:
        """The same in every attempt, manual retries included: hand it to what must act once."""
        return self.job_id

    async def heartbeat(self, progress: float | None = None) -> None:
        """Say that the performer is alive, and how far it is (0 to 1, kept within).

        The silence of a job is counted from here. At most one heartbeat per 5 seconds is sent;
        call it as often as convenient. One that is sent is awaited, so that blocking code after it
        does not hold it back. A shard that cannot be reached is not the performer's fault, and
        raises nothing; only a ``progress`` that is no number does (``ValueError``).
        """
        if progress is not None:
            number = isinstance(progress, int | float) and not isinstance(progress, bool)
            if not number or math.isnan(progress):
                raise ValueError(f"progress is a number from 0 to 1, not {progress!r}")
            progress = min(1.0, max(0.0, float(progress)))
        await self._voice.heartbeat(progress)

    async def log(self, text: object) -> None:
        """Keep a line with the job: the last 20 are shown, each cut to 2 000 characters."""
        await self._voice.log(cut(storable(str(text)), LOG_LENGTH))

    def __repr__(self) -> str:
        return f"<JobContext {self.job_id} attempt {self.attempt}>"


def cut(text: str, length: int) -> str:
    """The beginning of a text that is too long."""
    return text if len(text) <= length else text[: length - 1] + ELLIPSIS


def storable(text: str) -> str:
    """The text without what a database cannot keep: NUL and halves of surrogate pairs."""
    if text.isascii() and "\0" not in text:
        return text
    return whole_text(text.replace("\0", "\ufffd"))
