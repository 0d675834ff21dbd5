"""Give a Worker its services: bindings in ``env``, ``ctx.exports``, and frames of other Workers.

What a call needs is imported when the first one is made; ``bind_services`` itself must stay cheap.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.mode import MODE
from tsumugi_emulator.worker.link_frames import Connect, Disconnect, Relay

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.assets.site import Site
    from tsumugi_emulator.bindings.service import ServiceTarget
    from tsumugi_emulator.javascript.futures import PyodideFuture
    from tsumugi_emulator.javascript.values import JsObject
    from tsumugi_emulator.javascript.web.request import Request
    from tsumugi_emulator.worker.entrypoints import Entrypoints
    from tsumugi_emulator.worker.events import Events
    from tsumugi_emulator.worker.links import Sender
    from tsumugi_emulator.worker.objects import Objects
    from tsumugi_emulator.worker.program import Program
    from tsumugi_emulator.worker.services import Services
    from tsumugi_emulator.worker.sockets import Wire


@dataclass(slots=True)
class Surroundings:
    """What services run in. ``objects`` is set once the Worker's objects are bound."""

    worker: str
    program: Program
    env: JsObject
    events: Events
    channel: Sender
    objects: Objects | None = None
    #: Makes the entrypoints where their code is not in this process.
    make_entrypoints: Callable[..., Entrypoints] | None = None


class LazyServices:
    """A ``ServicePort`` that is made on first use, and the frames that need it."""

    def __init__(self, around: Surroundings) -> None:
        self.around = around
        self._made: Services | None = None
        self._exported: JsObject | None = None
        #: Static assets in front of the Worker.
        self.site: Site | None = None

    def frame_handlers(self) -> dict[type, Callable[[Any], None]]:
        return {
            Connect: lambda frame: self.made.connected(frame),
            Relay: lambda frame: self.made.links.relayed(frame),
            Disconnect: lambda frame: self.made.links.disconnected(frame),
        }

    @property
    def made(self) -> Services:
        if self._made is None:
            from tsumugi_emulator.worker.entrypoints import Entrypoints
            from tsumugi_emulator.worker.services import Services

            around = self.around
            make = around.make_entrypoints or Entrypoints
            self._made = Services(
                around.worker,
                make(
                    around.worker,
                    around.program,
                    around.env,
                    exports=self.exports_of_ctx,
                    site=self.site,
                ),
                events=around.events,
                channel=around.channel,
                objects=lambda: around.objects,
            )
        return self._made

    def take_over(self, link: int, socket: int) -> Wire | None:
        """A WebSocket that came over a link, whose client this child has from now on."""
        return self.made.links.take_over(link, socket)

    # -- ServicePort ----------------------------------------------------------------------------

    def call(self, target: ServiceTarget, method: str, args: list[Any] | None) -> PyodideFuture:
        return self.made.call(target, method, args)

    def fetch(self, target: ServiceTarget, request: Request) -> PyodideFuture:
        return self.made.fetch(target, request)

    # -- ctx.exports ----------------------------------------------------------------------------

    @property
    def exports_of_ctx(self) -> Callable[[], JsObject] | None:
        """What makes ``ctx.exports``; None where there is none."""
        return self._exports if MODE.flag("enable_ctx_exports") else None

    def _exports(self) -> JsObject:
        if self._exported is None:
            from tsumugi_emulator.bindings.service import (
                LoopbackNamespace,
                LoopbackService,
                ServiceTarget,
            )
            from tsumugi_emulator.javascript.values import JsObject

            around = self.around
            props: dict[str, Any] = {
                name: LoopbackService(ServiceTarget(around.worker, name), self)
                for name in around.program.entrypoints()
            }
            if around.objects is not None:
                for name, key in around.objects.namespaces():
                    props[name] = LoopbackNamespace(key, around.objects)
            self._exported = JsObject(props)
        return self._exported


def bind_services(settings: dict[str, Any], env: JsObject, services: LazyServices) -> None:
    """Add bindings to ``env``: ``settings`` is of ``services_message``."""
    if settings["assets"]:
        _bind_assets(dict(settings["assets"]), env, services)
    if not settings["services"] and not settings["objects"]:
        return
    from tsumugi_emulator.bindings.durable_object_namespace import DurableObjectNamespace
    from tsumugi_emulator.bindings.service import ServiceBinding, ServiceTarget
    from tsumugi_emulator.javascript.clone import serialize
    from tsumugi_emulator.javascript.json_text import from_tree

    for binding, worker, entrypoint, props in settings["services"]:
        packed = serialize(from_tree(json.loads(props))) if props else b""
        target = ServiceTarget(worker, entrypoint, packed)
        env._props[binding] = ServiceBinding(target, services)
    for binding, worker, key in settings["objects"]:
        env._props[binding] = DurableObjectNamespace(key, services.made.port_of(worker))


def _bind_assets(settings: dict[str, Any], env: JsObject, services: LazyServices) -> None:
    from tsumugi_emulator.assets.site import Site, SiteRules
    from tsumugi_emulator.bindings.assets import AssetsBinding

    binding, directory = settings.pop("binding"), settings.pop("directory")
    services.site = Site(Path(directory), SiteRules(**settings))
    if binding is not None:
        env._props[binding] = AssetsBinding(services.site)
