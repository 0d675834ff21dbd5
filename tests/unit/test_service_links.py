"""Links between children as the supervisor passes them on: numbers, waiting, order, ends."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.service_links import LOST_TEXT, End, ServiceLinks
from tsumugi_emulator.worker.link_frames import Connect, Disconnect, Relay, Splice
from tsumugi_emulator.worker.supervisor import Unavailable

if TYPE_CHECKING:
    from collections.abc import Coroutine

TARGET = ("entrypoint", None, b"")


class Child:
    """Remembers what it is sent."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.linked = 0

    def send(self, frame: Any) -> None:
        self.sent.append(frame)

    def call(self, frame: Connect) -> None:
        self.linked += 1
        self.sent.append(frame)


class Worker:
    """Starts when it is told to."""

    def __init__(self, child: Child | None = None) -> None:
        self.serving = child
        self._started = asyncio.Event()
        self._failure: str | None = None

    def start(self, child: Child) -> None:
        self.serving = child
        self._started.set()

    def fail(self, report: str) -> None:
        self._failure = report
        self._started.set()

    async def current(self, *, wait_s: float) -> Child:
        await self._started.wait()
        if self._failure is not None:
            raise Unavailable(self._failure)
        assert self.serving is not None
        return self.serving


def links_of(**workers: Worker) -> ServiceLinks:
    return ServiceLinks(workers.get)  # type: ignore[arg-type]


def connect(links: ServiceLinks, caller: Child, number: int, worker: str = "other") -> None:
    links.take(Connect(number, worker, TARGET, "add", b"args"), caller)  # type: ignore[arg-type]


def take(links: ServiceLinks, frame: Any, child: Child) -> None:
    links.take(frame, child)  # type: ignore[arg-type]


def in_loop(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_each_end_knows_a_link_by_its_own_number() -> None:
    caller, callee = Child(), Child()
    links = links_of(other=Worker(callee))
    connect(links, caller, 7)
    (received,) = callee.sent
    assert received == Connect(received.link, "other", TARGET, "add", b"args")
    assert received.link < 0
    take(links, Relay(received.link, (1, b"answer")), callee)
    take(links, Relay(7, (2, b"more")), caller)
    assert caller.sent == [Relay(7, (1, b"answer"))]
    assert callee.sent[-1] == Relay(received.link, (2, b"more"))


def test_a_closed_link_passes_nothing_on_and_counts_no_more() -> None:
    caller, callee = Child(), Child()
    links = links_of(other=Worker(callee))
    connect(links, caller, 1)
    assert callee.linked == 1
    take(links, Disconnect(1, ""), caller)
    number = callee.sent[0].link
    assert callee.sent[-1] == Disconnect(number, "")
    take(links, Relay(number, (1,)), callee)
    assert caller.sent == []
    assert callee.linked == 0


def test_a_worker_that_is_not_there_is_named() -> None:
    caller = Child()
    connect(links_of(), caller, 1, "nope")
    (answer,) = caller.sent
    assert answer.reason.startswith('The Worker "nope" is not running here.')


def test_calls_wait_for_a_worker_that_starts_and_arrive_in_order() -> None:
    async def story() -> None:
        callers, callee, worker = [Child(), Child()], Child(), Worker()
        links = links_of(other=worker)
        connect(links, callers[0], 1)
        await turns()
        connect(links, callers[1], 1)
        take(links, Relay(1, (9, b"follows")), callers[0])
        worker.start(callee)
        connect(links, callers[0], 2)  # it serves, but others have waited longer
        await turns()
        first, follows, second, third = callee.sent
        assert [type(first), type(second), type(third)] == [Connect] * 3
        assert follows == Relay(first.link, (9, b"follows"))
        take(links, Relay(third.link, (0,)), callee)
        assert callers[0].sent == [Relay(2, (0,))]

    in_loop(story())


def test_calls_of_a_worker_that_does_not_load_get_the_last_line_of_why() -> None:
    async def story() -> None:
        caller, worker = Child(), Worker()
        links = links_of(other=worker)
        connect(links, caller, 1)
        worker.fail("Traceback\n  ...\nNameError: name 'x' is not defined\n")
        await turns()
        text = "The Worker \"other\" failed to start: NameError: name 'x' is not defined"
        assert caller.sent == [Disconnect(1, text)]

    in_loop(story())


def test_who_gives_up_waiting_is_not_called_for() -> None:
    async def story() -> None:
        gives_up, dies, stays = Child(), Child(), Child()
        callee, worker = Child(), Worker()
        links = links_of(other=worker)
        for caller in (gives_up, dies, stays):
            connect(links, caller, 1)
        take(links, Disconnect(1, ""), gives_up)
        links.gone(dies)  # type: ignore[arg-type]
        worker.start(callee)
        await turns()
        assert len(callee.sent) == 1

    in_loop(story())


def test_the_end_of_a_child_ends_its_links() -> None:
    caller, callee = Child(), Child()
    links = links_of(other=Worker(callee))
    connect(links, caller, 1)
    links.gone(callee)  # type: ignore[arg-type]
    assert caller.sent == [Disconnect(1, LOST_TEXT)]
    connect(links, caller, 2)
    links.gone(caller)  # type: ignore[arg-type]
    assert callee.sent[-1] == Disconnect(callee.sent[-2].link, LOST_TEXT)


def test_a_socket_is_traced_through_the_children_it_only_passes() -> None:
    front, middle, back = (Child() for _ in range(3))
    links = links_of(middle=Worker(middle), back=Worker(back))
    connect(links, front, 1, "middle")
    connect(links, middle, 1, "back")
    to_middle, to_back = middle.sent[0].link, back.sent[0].link

    def source(socket: int) -> Any:
        return links.source(front, 1, socket)  # type: ignore[arg-type]

    assert source(2) == (End(middle, to_middle), 2)  # type: ignore[arg-type]
    take(links, Splice(to_middle, 2, 1, 4), middle)
    assert source(2) == (End(back, to_back), 4)  # type: ignore[arg-type]
    assert source(6) == (End(middle, to_middle), 6), "another one"  # type: ignore[arg-type]
    links.gone(back)  # type: ignore[arg-type]
    assert source(2) is None
    links.gone(front)  # type: ignore[arg-type]
    assert links._spliced == {}
