"""Answers what a child asks for: sends and metrics go to the broker, lines to the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.queues.errors import QueueError
from tsumugi_emulator.queues.messages import OutgoingMessage, Send
from tsumugi_emulator.worker.frames import OperationDone

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.object_services import ObjectServices
    from tsumugi_emulator.queues.broker import Broker
    from tsumugi_emulator.queues.messages import Metrics
    from tsumugi_emulator.service_links import ServiceLinks
    from tsumugi_emulator.socket_services import SocketServices
    from tsumugi_emulator.worker.frames import Frame, QueueMetrics, Sends
    from tsumugi_emulator.worker.lending import TerminalLender
    from tsumugi_emulator.worker.process import WorkerProcess


class ChildServices:
    def __init__(
        self,
        broker: Broker,
        log: Callable[[str, str], None],
        terminal: TerminalLender,
        objects: ObjectServices,
        sockets: SocketServices,
        links: ServiceLinks,
    ) -> None:
        self._broker = broker
        self._log = log
        self._terminal = terminal
        self._objects = objects
        self.web_sockets = sockets
        self._links = links

    def sends(self, frame: Sends, process: WorkerProcess) -> None:
        sends = [
            Send(queue, [OutgoingMessage._make(m) for m in messages], batch_delay_s, as_batch)
            for _, queue, messages, batch_delay_s, as_batch in frame.sends
        ]
        answers = self._broker.send_together(sends)
        for (operation, *_), answer in zip(frame.sends, answers, strict=True):
            process.send(_answer(operation, answer))

    def metrics(self, frame: QueueMetrics, process: WorkerProcess) -> None:
        try:
            answer: Metrics | QueueError = self._broker.metrics(frame.queue)
        except QueueError as error:
            answer = error
        process.send(_answer(frame.id, answer))

    def log(self, level: str, text: str) -> None:
        self._log(level, text)

    def objects(self, frame: Frame, process: WorkerProcess) -> None:
        self._objects.take(frame, process)

    def sockets(self, frame: Any, process: WorkerProcess) -> None:
        self.web_sockets.take(frame, process)

    def links(self, frame: Frame, process: WorkerProcess) -> None:
        self._links.take(frame, process)

    def gone(self, process: WorkerProcess) -> None:
        self._objects.gone(process)
        self._links.gone(process)
        self.web_sockets.gone(process)

    def borrow_terminal(self, process: WorkerProcess) -> None:
        self._terminal.borrow(process)

    def give_terminal_back(self, process: WorkerProcess) -> None:
        self._terminal.give_back(process)


def _answer(operation: int, answer: Metrics | QueueError) -> OperationDone:
    if isinstance(answer, QueueError):
        return OperationDone(operation, None, (answer.code, answer.message, answer.http_status))
    figures = (
        answer.backlog_count,
        answer.backlog_bytes,
        answer.oldest_message_timestamp_ms,
    )
    return OperationDone(operation, figures, None)
