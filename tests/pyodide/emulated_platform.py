"""The emulator's twin of host/platform.mjs: its real objects, services and stores, in one process.

Everything is what a child has, except the supervisor at the other end of its channel.
"""

from __future__ import annotations

import itertools
import json
import tempfile
from pathlib import Path
from types import SimpleNamespace

WORKER = "judged"


class Platform:
    def __init__(self, loop, env, calls, made, log):
        from tsumugi_emulator.javascript.web.timers import CLOCK
        from tsumugi_emulator.worker.events import Events
        from tsumugi_emulator.worker.hibernation import Hibernation
        from tsumugi_emulator.worker.object_alarms import ObjectAlarms
        from tsumugi_emulator.worker.objects import Objects
        from tsumugi_emulator.worker.sockets import Sockets

        self._loop = loop
        self._env = env
        self._log = log
        self._numbers = itertools.count(1)
        self._waiting = {}
        self._folder = tempfile.TemporaryDirectory()
        directory = Path(self._folder.name)
        self._classes = {}
        self._entrypoints = {}
        self._keys = {}
        self._alarms = ObjectAlarms(directory, self, log)
        self._events = Events(loop, log, lambda: None)
        self._objects = Objects(
            directory,
            self._classes,
            env=env,
            events=self._events,
            channel=self,
            clock=CLOCK[0],
            alarms=self._alarms,
            warn=lambda text: log("warning", text),
        )
        Hibernation(self._objects, Sockets(self), self, log)
        self._bind_remote(calls, made)

    def close(self):
        self._objects.close()
        self._folder.cleanup()

    def send(self, frame):
        """The supervisor: every object is granted, every outcome is taken down."""
        from tsumugi_emulator.worker import frames

        if isinstance(frame, frames.AcquireObject):
            granted = frames.ObjectGranted(frame.key, False)
            self._loop.call_soon(self._objects.granted, granted)
        elif isinstance(frame, frames.OperationDone):
            self._waiting.pop(frame.id).set_result(frame)

    # -- What scenarios bind ----------------------------------------------------------------------

    def bindObject(self, name, cls, _run):
        from tsumugi_emulator.bindings.durable_object_namespace import DurableObjectNamespace
        from tsumugi_emulator.durable.ids import namespace_key
        from tsumugi_emulator.worker.object_class import ObjectClass
        from workers import python_from_rpc, python_to_rpc

        # A class that is bound again has new objects.
        key = self._keys[name] = namespace_key(WORKER, f"{name}-{next(self._numbers)}")
        self._classes[key] = ObjectClass(
            cls._unwrap(), has_sql=True, to_python=python_from_rpc, to_javascript=python_to_rpc
        )
        self._env._props[name] = DurableObjectNamespace(key, self._objects)

    def bindService(self, name, cls, _run):
        from tsumugi_emulator.bindings.service import ServiceBinding, ServiceTarget

        self._entrypoints[name] = cls._unwrap()
        services = self._services()
        self._env._props[name] = ServiceBinding(ServiceTarget(WORKER, name), services)

    def bindStores(self):
        from tsumugi_emulator.bindings.stored import stored_bindings

        message = {
            "state": str(Path(self._folder.name) / f"stores-{next(self._numbers)}"),
            "kv": [("KV", "kv")],
            "d1": [("DB", "db")],
            "r2": [("R2", "r2")],
            "analytics": [],
            "rate_limits": [("LIMIT", "1", 2, 60)],
            "version_metadata": None,
        }
        self._env._props.update(stored_bindings(message, self._objects.clock))

    def _services(self):
        from tsumugi_emulator.worker.entrypoints import Entrypoints
        from tsumugi_emulator.worker.services import Services

        entrypoints = dict(self._entrypoints)
        program = SimpleNamespace(entrypoints=lambda: entrypoints, functions={})
        return Services(
            WORKER,
            Entrypoints(WORKER, program, self._env, exports=None),
            events=self._events,
            channel=self,
            objects=lambda: self._objects,
        )

    def _bind_remote(self, calls, made):
        from emulated_remote import RemotePort
        from tsumugi_emulator.bindings.service import ServiceBinding, ServiceTarget

        port = RemotePort(calls, made)
        self._env._props["REMOTE"] = ServiceBinding(ServiceTarget("remote"), port)

    # -- What scenarios do from outside -----------------------------------------------------------

    def evict(self, name):
        for live in list(self._objects._live.values()):
            if live.address.namespace == self._keys[name]:
                live.evict()

    def records(self, name, object_name):
        from emulated_describe import describe
        from tsumugi_emulator.javascript.arrays import JsArray
        from tsumugi_emulator.javascript.clone import deserialize

        rows = self._objects.find(self._address(name, object_name)).file.list()
        return JsArray([f"{key} = {describe(deserialize(data))}" for key, data in rows])

    def runAlarm(self, name, object_name, retry_count):
        from tsumugi_emulator.javascript.promise import promise_of

        return promise_of(self._run_alarm(self._address(name, object_name), retry_count))

    async def _run_alarm(self, address, retry_count):
        from tsumugi_emulator.worker import frames

        live = self._objects.find(address)
        due_ms = live.file.recorded_alarm_ms
        failures = []
        self._alarms._log = lambda _level, text: failures.append(text)
        number = next(self._numbers)
        done = self._waiting[number] = self._loop.create_future()
        frame = frames.Alarm(number, address.namespace, address.object_id, due_ms or 0, retry_count)
        self._alarms.run(self._objects, frame)
        outcome = await done
        self._alarms._log = self._log
        return json.dumps({"ran": outcome.result, "failed": bool(failures)})

    def _address(self, name, object_name):
        from tsumugi_emulator.bindings.object_port import ObjectAddress
        from tsumugi_emulator.durable.ids import from_name

        key = self._keys[name]
        return ObjectAddress(key, from_name(key, object_name), object_name)


def platform_functions(platform):
    """The functions of a platform that scenarios may call, by name."""
    names = ("bindObject", "bindService", "bindStores", "evict", "records", "runAlarm")
    return {name: getattr(platform, name) for name in names}


__all__ = ["Platform", "platform_functions"]
