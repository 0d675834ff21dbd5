"""Messages whose consumer runs in another emulator: passed on in order, kept while it is down."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

from api_harness import Api, letters, with_api
from tsumugi_emulator.forwarding import Forwarder, Refused
from tsumugi_emulator.neighbours import Neighbours, directory
from tsumugi_emulator.queues import QueueSettings
from tsumugi_emulator.queues.outbox import Outbox, Waiting
from tsumugi_emulator.running import Running

if TYPE_CHECKING:
    import pytest


class Wire:
    """The other side: what arrived, and how it behaves."""

    def __init__(self) -> None:
        self.arrived: list[tuple[str, bool]] = []
        self.batches: list[int] = []
        self.fault: Exception | None = None

    async def carry(self, to: Running, queue: str, messages: list[Waiting]) -> None:
        if self.fault is not None:
            raise self.fault
        self.batches.append(len(messages))
        self.arrived += [(w.message.body.decode(), w.was_delayed) for w in messages]

    @property
    def letters(self) -> str:
        return "".join(letter for letter, _ in self.arrived)


class Sender:
    """An emulator whose Worker only produces, with its forwarder."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.wire = Wire()
        self.said: list[str] = []
        self.where = api.directory / "neighbours"
        self.other = Neighbours(self.where, Running(os.getpid(), "http://other", "t", "/other"))
        api.broker.configure(queues=[QueueSettings("q")], producers={"q": ["web"]})
        self.outbox = Outbox(api.store, api.broker)
        own = Neighbours(self.where, Running(os.getpid(), "http://own", "t", "/own"))
        self.forwarder = Forwarder(
            self.outbox, own, self.wire, lambda _level, text: self.said.append(text)
        )
        api.broker.on_unconsumed = self.forwarder.wake
        self.task = asyncio.ensure_future(self.forwarder.run())

    async def send(self, text: str, **options: int) -> None:
        queue = self.api.store.queue("q").queue_id
        for letter in text:
            body = {"body": letter, "content_type": "text", **options}
            await self.api.http.post(f"/{queue}/messages", json=body)
        await self.look()

    async def look(self) -> None:
        self.forwarder.wake()
        await self.api.clock.settle()

    async def stop(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)

    @property
    def waiting(self) -> str:
        return "".join(w.message.body.decode() for w in self.outbox.head("q"))


@with_api
async def test_what_is_sent_goes_to_the_emulator_that_consumes_it(api: Api) -> None:
    it = Sender(api)
    it.other.publish(["q"])
    await it.send("abc")
    assert (it.wire.letters, it.waiting) == ("abc", "")
    assert it.said == ['Messages of queue "q" go to the emulator of /other.']
    await it.stop()


@with_api
async def test_messages_wait_in_order_while_it_is_down_and_that_is_said_once(api: Api) -> None:
    it = Sender(api)
    await it.send("ab")
    await it.send("c")
    assert (it.wire.letters, it.waiting) == ("", "abc")
    assert len(it.said) == 1
    it.other.publish(["q"])
    it.wire.fault = ConnectionRefusedError("nobody listens")
    await it.send("d")
    await it.look()
    assert (it.waiting, len(it.said)) == ("abcd", 2)
    it.wire.fault = None
    await it.look()
    assert (it.wire.letters, it.waiting) == ("abcd", "")
    it.other.withdraw()
    await it.send("e")
    assert len(it.said) == 4
    await it.stop()


@with_api
async def test_what_the_other_side_refuses_is_kept(api: Api) -> None:
    it = Sender(api)
    it.other.publish(["q"])
    it.wire.fault = Refused("has a pull consumer, who cannot read v8")
    await it.send("a")
    await it.look()
    assert it.waiting == "a"
    assert it.said == ['Messages of queue "q" wait: /other has a pull consumer, who cannot read v8']
    await it.stop()


@with_api
async def test_a_delay_passes_here_and_does_not_begin_again_there(api: Api) -> None:
    it = Sender(api)
    it.other.publish(["q"])
    await it.send("a", delay_seconds=60)
    await it.send("b")
    assert it.wire.arrived == [("b", False)]
    await api.clock.advance(60_000)
    await it.look()
    assert it.wire.arrived == [("b", False), ("a", True)]
    await it.stop()


@with_api
async def test_a_long_backlog_goes_in_batches_that_a_queue_accepts(api: Api) -> None:
    it = Sender(api)
    queue = api.store.queue("q").queue_id
    for _ in range(3):
        await api.send(queue, "x" * 100)
    big = [{"body": "y" * 100_000, "content_type": "text"}] * 2
    for _ in range(2):
        await api.http.post(f"/{queue}/messages/batch", json={"messages": big})
    it.other.publish(["q"])
    await it.look()
    assert it.wire.batches == [100, 100, 100, 2, 2]
    await it.stop()


@with_api
async def test_messages_arrive_exactly_as_they_were_stored(api: Api) -> None:
    queue = await api.pulled_queue()
    sent = {"body": "eyJuIjogMS4wMH0=", "content_type": "json"}
    answer = await api.post(f"/{queue}/messages/forward", messages=[sent])
    assert answer == {"forwarded": 1}
    [message] = await api.pull(queue)
    assert message.body == "eyJuIjogMS4wMH0="
    assert letters(await api.pull(queue)) == ""


def test_what_another_user_says_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = Neighbours(tmp_path, Running(os.getpid(), "a", "t", "/own"))
    Neighbours(tmp_path, Running(os.getpid(), "b", "t", "/other")).publish(["q"])
    assert own.consuming("q") is not None
    nobody = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: nobody)
    assert own.consuming("q") is None


def test_emulators_that_are_gone_and_files_that_say_nothing_are_not_found(tmp_path: Path) -> None:
    own = Neighbours(tmp_path, Running(os.getpid(), "a", "t", "/own"))
    own.publish(["mine"])
    gone = Neighbours(tmp_path, Running(2**22 + 1, "b", "t", "/gone"))
    gone.publish(["q"])
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "odd.json").write_text("[1]")
    assert own.consuming("q") is None
    assert own.consuming("mine") is None, "not itself"
    assert len(list(tmp_path.glob("*.json"))) == 3
    assert all(path.stat().st_mode & 0o077 == 0 for path in tmp_path.glob("?" * 16 + ".json"))


def test_the_files_are_in_the_users_runtime_or_state_directory() -> None:
    runtime = {"XDG_RUNTIME_DIR": "/run/user/1", "XDG_STATE_HOME": "/s"}
    assert directory(runtime) == Path("/run/user/1/tsumugi")
    assert directory({"XDG_STATE_HOME": "/s"}) == Path("/s/tsumugi/running")
    assert directory({}) == Path("~/.local/state/tsumugi/running").expanduser()
