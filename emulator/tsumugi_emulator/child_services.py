"""Answers what a child asks for: sends and metrics go to the broker, lines to the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.queues.errors import QueueError
from tsumugi_emulator.queues.messages import OutgoingMessage
from tsumugi_emulator.worker.frames import OperationDone

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.queues.broker import Broker
    from tsumugi_emulator.queues.messages import Metrics
    from tsumugi_emulator.worker.frames import QueueMetrics, Sends
    from tsumugi_emulator.worker.lending import TerminalLender
    from tsumugi_emulator.worker.process import WorkerProcess


class ChildServices:
    def __init__(
        self, broker: Broker, log: Callable[[str, str], None], terminal: TerminalLender
    ) -> None:
        self._broker = broker
        self._log = log
        self._terminal = terminal

    def sends(self, frame: Sends, process: WorkerProcess) -> None:
        for operation, queue, messages, batch_delay_s, producer_delay_s in frame.sends:
            outgoing = [OutgoingMessage._make(message) for message in messages]

            def send(
                queue: str = queue,
                outgoing: list[OutgoingMessage] = outgoing,
                batch: int | None = batch_delay_s,
                producer: int | None = producer_delay_s,
            ) -> Metrics:
                return self._broker.send(
                    queue, outgoing, batch_delay_s=batch, producer_delay_s=producer
                )

            process.send(_answer(operation, send))

    def metrics(self, frame: QueueMetrics, process: WorkerProcess) -> None:
        process.send(_answer(frame.id, lambda: self._broker.metrics(frame.queue)))

    def log(self, level: str, text: str) -> None:
        self._log(level, text)

    def borrow_terminal(self, process: WorkerProcess) -> None:
        self._terminal.borrow(process)

    def give_terminal_back(self, process: WorkerProcess) -> None:
        self._terminal.give_back(process)


def _answer(operation: int, ask: Any) -> OperationDone:
    try:
        metrics: Metrics = ask()
    except QueueError as error:
        return OperationDone(operation, None, (error.code, error.message, error.http_status))
    figures = (
        metrics.backlog_count,
        metrics.backlog_bytes,
        metrics.oldest_message_timestamp_ms,
    )
    return OperationDone(operation, figures, None)
