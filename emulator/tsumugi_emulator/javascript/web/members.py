"""Reading a member of an options object, whichever side of the boundary it comes from."""

from __future__ import annotations

from typing import Any

from tsumugi_emulator.javascript.values import JsObject, JsProxy, PyProxy


def member(options: Any, name: str) -> Any:
    """``options[name]`` as JavaScript reads it: undefined where there is nothing to read."""
    if type(options) is JsObject:
        return options._props.get(name)
    if isinstance(options, JsProxy):
        return options._get(name)
    if isinstance(options, PyProxy):
        from tsumugi_emulator.javascript.crossing import python_to_js

        return python_to_js(getattr(options._unwrap(), name, None))
    return None
