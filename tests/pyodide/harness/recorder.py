"""Write down what a scenario saw, in a form that two implementations can be compared by."""

from __future__ import annotations

import inspect
import json

#: A machine may be busy. Modules in which promises never settle say `DEADLINE_S` themselves.
DEADLINE_S = 2.0


def kind(value):
    # The class of a class says how a proxy is built, not what it is.
    return "type" if isinstance(value, type) else qualified(type(value))


def qualified(cls):
    return f"{cls.__module__}.{cls.__qualname__}".removeprefix("builtins.")


def shown(value):
    if isinstance(value, memoryview):
        return f"memoryview {value.format} {'ro' if value.readonly else 'rw'} {value.tolist()}"
    if isinstance(value, set):
        return f"{{{', '.join(sorted(map(repr, value)))}}}"
    return repr(value)


class Recorder:
    """Called with a label and a value; `outcome` and `settled` also take what may raise."""

    def __init__(self, take_calls, deadline_s=DEADLINE_S):
        self._take_calls = take_calls
        self._deadline_s = deadline_s
        self.entries = []

    def __call__(self, label, value):
        try:
            entry = {"label": label, "type": kind(value), "repr": shown(value)}
        except Exception as error:
            entry = {"label": label, "type": kind(value), "repr": f"! {error!r}"}
        self._add(entry)

    def outcome(self, label, action):
        """Record what `action()` returns or raises."""
        try:
            value = action()
        except BaseException as error:
            self._raised(label, error)
        else:
            self(label, value)

    async def settled(self, label, action):
        """Record what awaiting `action` (or what `action()` returns) gives or raises."""
        import asyncio

        try:
            if not inspect.isawaitable(action) and callable(action):
                action = action()
            async with asyncio.timeout(self._deadline_s):
                value = await action
        except BaseException as error:
            self._raised(label, error)
        else:
            self(label, value)

    def note(self, text):
        self._add({"note": text})

    def finish(self):
        self._drain()
        return self.entries

    def _raised(self, label, error):
        try:
            text = str(error)
        except Exception as failure:
            text = f"! {failure!r}"
        self._add({"label": label, "raises": qualified(type(error)), "text": text})

    def _add(self, entry):
        self._drain()
        self.entries.append(entry)

    def _drain(self):
        self.entries.extend({"host": call} for call in json.loads(self._take_calls()))
