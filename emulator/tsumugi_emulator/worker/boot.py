"""Become a Worker: bindings, output, the user's module, the dispatcher. Once per child."""

from __future__ import annotations

import json
import logging
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsumugi_emulator import tracebacks
from tsumugi_emulator.bindings.queue_producer import WorkerQueue
from tsumugi_emulator.bindings.unsupported import UnsupportedBinding
from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.json_text import from_tree
from tsumugi_emulator.worker import (
    blocking,
    frames,
    output,
    program as programs,
    threads,
    unhandled,
)
from tsumugi_emulator.worker.dispatch import Dispatcher
from tsumugi_emulator.worker.events import Events
from tsumugi_emulator.worker.operations import Operations
from tsumugi_emulator.worker.program import ProgramError
from tsumugi_emulator.worker.service_boot import LazyServices, Surroundings, bind_services

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.javascript.values import JsObject
    from tsumugi_emulator.worker.channel import Channel
    from tsumugi_emulator.worker.entrypoints import Entrypoints
    from tsumugi_emulator.worker.loop import WorkerLoop
    from tsumugi_emulator.worker.object_class import ObjectClass
    from tsumugi_emulator.worker.objects import Objects
    from tsumugi_emulator.worker.program import Program


@dataclass(frozen=True, slots=True)
class Booted:
    events: Events
    #: Frame type -> who takes it from now on.
    handlers: dict[type, Callable[[Any], None]]
    program: Program
    #: Its Durable Objects, if it may have any.
    objects: Objects | None


class Runtime:
    """Where the Worker's code runs: here, in this process. The Pyodide runtime derives from it."""

    #: Makes the entrypoints that other Workers call; None for the usual ones.
    make_entrypoints: Callable[..., Entrypoints] | None = None

    def load(self, worker: dict[str, Any], env: JsObject) -> Program:
        """Import the user's module. Raises as :func:`boot` does."""
        with io_context.global_scope():
            return programs.load(Path(worker["main"]), Path(worker["project"]))

    def events(
        self, loop: WorkerLoop, log: Callable[[str, str], None], on_idle: Callable[[], None]
    ) -> Events:
        return Events(loop, log, on_idle)

    def dispatcher(self, *args: Any, **options: Any) -> Dispatcher:
        return Dispatcher(*args, **options)

    def make_class(self, program: Program) -> Callable[[str, bool], ObjectClass] | None:
        """Makes classes of Durable Objects; None for the usual ones."""
        return None

    def bound(self, env: JsObject) -> None:
        """``env`` holds everything from now on."""


def boot(
    worker: dict[str, Any],
    env: JsObject,
    loop: WorkerLoop,
    channel: Channel,
    on_idle: Callable[[], None],
    runtime: Runtime | None = None,
) -> Booted:
    """Load the Worker described by a Boot frame.

    Raises:
        ProgramError: the module is not a Worker.
        BaseException: what the user's module raised.
    """
    runtime = runtime or Runtime()
    _prepare(worker)
    operations = Operations(channel, loop.at_turn_end)
    _bind(env, worker, operations)
    loaded = runtime.load(worker, env)
    log = _logger(channel)
    events = runtime.events(loop, log, on_idle)
    loop.set_exception_handler(unhandled.reporter(log))
    around = Surroundings(worker["name"], loaded, env, events, channel)
    around.make_entrypoints = runtime.make_entrypoints
    services = LazyServices(around)
    bind_services(worker["elsewhere"], env, services)
    dispatcher = runtime.dispatcher(loaded, env, channel, events, exports=services.exports_of_ctx)
    dispatcher.sockets.take_over = services.take_over
    handlers = {
        frames.OperationDone: operations.done,
        **dispatcher.frame_handlers(),
        **services.frame_handlers(),
    }
    objects: Objects | None = None
    if worker["objects"]["classes"] or loaded.object_classes():
        make_class = runtime.make_class(loaded)
        objects, more = _bind_objects(
            worker["objects"], dispatcher, services, channel, log, make_class
        )
        handlers |= more
    runtime.bound(env)
    return Booted(events, handlers, loaded, objects)


def _logger(channel: Channel) -> Callable[[str, str], None]:
    """Writes a level and a text to the supervisor's terminal."""
    return lambda level, text: channel.send(frames.Log(level, text))


def _prepare(worker: dict[str, Any]) -> None:
    output.install(worker["name"], colour=worker["colour"])
    blocking.apply()
    threads.apply()
    tracebacks.leave_out_emulator()
    _route_console()
    _route_warnings()


def _bind_objects(
    settings: dict[str, Any],
    dispatcher: Dispatcher,
    services: LazyServices,
    channel: Channel,
    log: Callable[[str, str], None],
    make_class: Callable[[str, bool], ObjectClass] | None,
) -> tuple[Objects, dict[type, Callable[[Any], None]]]:
    # Only a Worker with Durable Objects pays for loading them.
    from tsumugi_emulator.worker.hibernation import Hibernation
    from tsumugi_emulator.worker.object_boot import bind_objects

    around = services.around
    bound = bind_objects(
        settings,
        around.program,
        around.env,
        events=around.events,
        channel=channel,
        log=log,
        make_class=make_class,
    )
    objects = around.objects = bound.objects
    objects.exports = services.exports_of_ctx
    channel.before_write = objects.write_all
    hibernation = Hibernation(objects, dispatcher.sockets, channel, log)
    return objects, {**hibernation.frame_handlers(), **bound.handlers}


def _bind(env: JsObject, worker: dict[str, Any], operations: Operations) -> None:
    props = env._props
    for name, text in worker["vars"].items():
        props[name] = from_tree(json.loads(text))
    for binding, queue in worker["producers"]:
        props[binding] = WorkerQueue(queue, operations)
    if stored := worker["stored"]:
        # Only a Worker that keeps something pays for loading it.
        from tsumugi_emulator.bindings.stored import stored_bindings
        from tsumugi_emulator.clock import SystemClock

        props.update(stored_bindings(stored, SystemClock()))
    if classes := worker["objects"]["classes"]:
        from tsumugi_emulator.bindings.durable_object_namespace import DurableObjectNamespace

        for binding, _class_name, key, _has_sql in classes:
            props[binding] = DurableObjectNamespace(key)  # code at import may make ids
    for binding, kind in worker["unsupported"]:
        props[binding] = UnsupportedBinding(binding, kind)


def _route_console() -> None:
    from tsumugi_emulator.javascript.web import console
    from tsumugi_emulator.javascript.web.unicode import utf8

    def write(level: str, text: str) -> None:
        stream = sys.stderr if level in ("warn", "error") else sys.stdout
        stream.write(utf8(text).decode() + "\n")

    console.SINK[:] = [write]


def _route_warnings() -> None:
    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: Any = None,
        line: str | None = None,
    ) -> None:
        sys.stderr.write(f"{tracebacks.warning_text(message, category, filename, lineno)}\n")

    warnings.showwarning = show
    logging.lastResort = logging.StreamHandler(sys.stderr)
    logging.lastResort.setLevel(logging.WARNING)


__all__ = ["Booted", "ProgramError", "Runtime", "boot"]
