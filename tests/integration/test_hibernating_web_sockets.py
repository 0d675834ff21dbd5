"""WebSockets that hibernate with their object, over reloads and deaths of its process."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

from dev_session import needs_process_ids
from web_socket_session import asks, client, ends_with, hears, room, vanish

if TYPE_CHECKING:
    from dev_session import Dev

__all__ = ["client", "room"]


class TestAHibernatingRoom:
    def test_is_a_chat(self, room: Dev, client: Any) -> None:
        ann = client(room, "/ann")
        assert hears(ann) == "ann joined"
        bob = client(room, "/bob")
        assert (hears(ann), hears(bob)) == ("bob joined", "bob joined")
        ann.send("hi")
        assert (hears(ann), hears(bob)) == ("one ann 1: hi", "one ann 1: hi")
        bob.close(4002)
        assert hears(ann) == "bob left 4002 True"
        assert asks(ann, "ping") == "pong"

    def test_keeps_its_connections_over_a_reload(self, room: Dev, client: Any) -> None:
        ann = client(room, "/ann")
        assert hears(ann) == "ann joined"
        assert asks(ann, "x") == "one ann 1: x"
        room.project.replace("src/entry.py", 'VERSION = "one"', 'VERSION = "two"')
        room.wait_for("Reloaded in")
        assert asks(ann, "x") == "two ann 2: x"
        bob = client(room, "/bob")
        assert (hears(bob), hears(ann)) == ("bob joined", "bob joined")
        vanish(bob)
        assert hears(ann) == "bob left 1006 False"

    def test_loses_no_message_while_code_is_saved_again_and_again(
        self, room: Dev, client: Any
    ) -> None:
        ann = client(room, "/ann")
        assert hears(ann) == "ann joined"
        total, heard = 200, []
        for number in range(total):
            ann.send(str(number))
            if number % 50 == 25:
                with (room.project.directory / "src/entry.py").open("a") as entry:
                    entry.write(f"# save {number}\n")
        heard = [str(hears(ann)).partition(" ann ")[2] for _ in range(total)]
        assert heard == [f"{number + 1}: {number}" for number in range(total)]

    @needs_process_ids
    def test_keeps_its_connections_when_its_process_is_killed(self, room: Dev, client: Any) -> None:
        ann = client(room, "/ann")
        assert hears(ann) == "ann joined"
        assert asks(ann, "x") == "one ann 1: x"
        os.kill(int(room.get("/").text), signal.SIGKILL)
        room.wait_for("starting it again")
        assert asks(ann, "x") == "one ann 2: x"

    def test_loses_its_connections_when_a_handler_ends_its_process(
        self, room: Dev, client: Any
    ) -> None:
        ann = client(room, "/ann")
        assert hears(ann) == "ann joined"
        bob = client(room, "/bob")
        assert (hears(bob), hears(ann)) == ("bob joined", "bob joined")
        bob.send("die")
        room.wait_for("starting it again")
        assert (ends_with(bob)[0], ends_with(ann)[0]) == (1006, 1006)
        eve = client(room, "/eve")
        assert hears(eve) == "eve joined"
        assert asks(eve, "x") == "one eve 1: x"
