"""The child's side of operations the supervisor answers: gather, send, match the answer."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.bindings.port import Metrics, PortError, SendRequest
from tsumugi_emulator.worker.frames import OperationDone, QueueMetrics, Sends

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.worker.channel import Channel

type Answer = Callable[[Metrics | None, PortError | None], None]


class Operations:
    """A :class:`~tsumugi_emulator.bindings.port.Port` over the channel."""

    def __init__(
        self, channel: Channel, at_turn_end: Callable[[Callable[[], None]], object]
    ) -> None:
        self._channel = channel
        self._at_turn_end = at_turn_end
        self._ids = itertools.count(1)
        self._waiting: dict[int, Answer] = {}
        self._sends: list[Any] = []

    def queue_send(self, request: SendRequest, answer: Answer) -> None:
        operation = next(self._ids)
        self._waiting[operation] = answer
        if not self._sends:
            self._at_turn_end(self._flush)
        self._sends.append((operation, *request))

    def _flush(self) -> None:
        sends, self._sends = self._sends, []
        self._channel.send(Sends(sends))

    def queue_metrics(self, queue: str, answer: Answer) -> None:
        operation = next(self._ids)
        self._waiting[operation] = answer
        self._channel.send(QueueMetrics(operation, queue))

    def done(self, frame: OperationDone) -> None:
        answer = self._waiting.pop(frame.id, None)
        if answer is None:
            return
        if frame.error is not None:
            answer(None, PortError(*frame.error))
        else:
            answer(Metrics(*frame.result), None)
