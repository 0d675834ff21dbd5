"""A channel of frames over a real socket pair."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

from tsumugi_emulator.worker import frames
from tsumugi_emulator.worker.channel import Channel


def test_a_frame_that_cannot_be_handled_costs_no_other_frame() -> None:
    taken: list[Any] = []
    told: list[dict[str, Any]] = []

    def on_frame(frame: Any) -> None:
        if isinstance(frame, frames.StreamAbort):
            raise ValueError("a sink's own fault")
        taken.append(frame)
        if len(taken) == 2:
            asyncio.get_running_loop().stop()

    async def open_both() -> tuple[Channel, Channel]:
        left, right = socket.socketpair()
        return await Channel.open(left, on_frame), await Channel.open(right, on_frame)

    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda _loop, details: told.append(details))
    here, there = loop.run_until_complete(open_both())
    for frame in (frames.Ping(), frames.StreamAbort(1, "gone"), frames.Pong()):
        there.send(frame)
    loop.run_forever()
    assert taken == [frames.Ping(), frames.Pong()]
    (details,) = told
    assert details["message"].startswith("A frame of type StreamAbort failed: ValueError")
    here.close()
    there.close()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
