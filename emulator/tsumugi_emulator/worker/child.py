"""The worker child: a process that loads the boundary, becomes one Worker and runs its events.

Started as ``python -m tsumugi_emulator.worker.child CHANNEL LIFELINE``, two inherited descriptors.
It loads the boundary, waits for its options, loads the SDK, and waits for a Boot frame, so that a
start pays only for what depends on the configuration, and a reload only for the user's own imports.
"""

from __future__ import annotations

import asyncio
import contextvars
import gc
import os
import signal
import socket
import sys
import traceback
import warnings
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.modules import install
from tsumugi_emulator.javascript.stack import SwitchableCoroutine
from tsumugi_emulator.tracebacks import report, show_emulator
from tsumugi_emulator.worker import breakpoints, frames, output, recursion
from tsumugi_emulator.worker.channel import Channel
from tsumugi_emulator.worker.lifeline import Lifeline
from tsumugi_emulator.worker.loop import WorkerLoop
from tsumugi_emulator.worker.spawn import receive_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.worker.spawn import WarmOptions


class Child:
    def __init__(self, loop: WorkerLoop, env: Any) -> None:
        self._loop = loop
        self._env = env
        self._draining = False
        self._booting: asyncio.Task[None] | None = None
        self._events: Any = None
        self._objects: Any = None
        #: Where the Worker's code runs; None is this process.
        self._runtime: Any = None
        self._handlers: dict[type, Callable[[Any], None]] = {
            frames.Boot: self._boot,
            frames.Drain: self._drain,
            frames.Ping: lambda _frame: self._channel.send(frames.Pong()),
        }
        self._channel: Channel = None  # type: ignore[assignment]  # set by run()

    async def connect(self, sock: socket.socket) -> None:
        await self._open_channel(sock)
        # Everything Boot needs is imported before saying so: the next save waits for none of it.
        import workers  # noqa: F401

        from tsumugi_emulator.worker import boot, package_patches  # noqa: F401

        package_patches.apply()
        self._channel.send(frames.Warm())

    async def _open_channel(self, sock: socket.socket) -> None:
        self._channel = await Channel.open(
            sock, self._on_frame, self._on_close, at_turn_end=self._loop.at_turn_end
        )

    def _on_close(self) -> None:
        # The supervisor is gone: nothing this process does can be kept any more.
        os._exit(0)

    def _on_frame(self, frame: frames.Frame) -> None:
        handler = self._handlers.get(type(frame))
        if handler is None:
            raise frames.FrameError(f"a child does not take {type(frame).__name__} now")
        handler(frame)

    def _drain(self, _frame: frames.Drain) -> None:
        self._draining = True
        if self._objects is not None:
            self._objects.drain()
        self._stop_if_idle()

    def _boot(self, frame: frames.Boot) -> None:
        # Modules may wait while they are imported (``run_sync``), which takes a task.
        self._booting = asyncio.Task(
            SwitchableCoroutine(self._become_in_task(frame), self._loop.idle_greenlets),
            loop=self._loop,
            eager_start=True,
        )

    async def _become_in_task(self, frame: frames.Boot) -> None:
        self._become(frame)

    def _become(self, frame: frames.Boot) -> None:
        from tsumugi_emulator.worker import boot

        try:
            booted = boot.boot(
                frame.worker,
                self._env,
                self._loop,
                self._channel,
                self._stop_if_idle,
                self._runtime,
            )
        except boot.ProgramError as error:
            self._channel.send(frames.BootFailed(str(error)))
        except BaseException as error:
            self._channel.send(frames.BootFailed(report(error)))
        else:
            self._events = booted.events
            self._objects = booted.objects
            self._handlers |= booted.handlers
            program = booted.program
            # What was loaded stays: collections need not walk all of it again and again.
            gc.freeze()
            self._channel.send(
                frames.Ready(
                    program.handlers(),
                    program.warnings,
                    list(program.entrypoints()),
                    list(program.object_classes()),
                )
            )
        output.flush()

    def _stop_if_idle(self) -> None:
        output.flush()
        if self._draining and (self._events is None or not self._events.active):
            self._channel.flush()
            # In no event's name: from there the loop cannot be stopped.
            self._loop.call_soon(self._loop.stop, context=contextvars.Context())


def _child(loop: WorkerLoop, env: Any, options: WarmOptions) -> Child:
    if options.pyodide is None:
        return Child(loop, env)
    from tsumugi_emulator.pyodide_runtime.child import NodeChild

    return NodeChild(loop, env, options)


def main() -> None:
    descriptor, lifeline = int(sys.argv[1]), int(sys.argv[2])
    breakpoints.install(Lifeline(socket.socket(fileno=lifeline)))
    # Terminals and process managers signal the whole group: only the supervisor decides what ends.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    recursion.cap()
    os.environ["TZ"] = "UTC"  # Workers run in UTC; naive datetimes depend on it
    warnings.simplefilter("default", UserWarning)
    sock = socket.socket(fileno=descriptor)
    options = receive_options(sock)
    if options is None:
        os._exit(0)
    env = install(
        compatibility_flags=options.flags,
        python_version=options.python_version,
        strict=options.strict,
    )
    loop = WorkerLoop()
    child = _child(loop, env, options)
    try:
        loop.run_until_complete(child.connect(sock))
        loop.run_until_stopped()
    except Exception:
        show_emulator()
        traceback.print_exc()
        os._exit(70)
    child._channel.flush()
    sys.stdout.flush()
    os._exit(0)  # no atexit of user code: production has none


if __name__ == "__main__":
    main()
