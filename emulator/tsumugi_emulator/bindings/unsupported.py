"""Bindings that are configured but not emulated: they exist, and using one says so."""

from __future__ import annotations

from typing import Any

from tsumugi_emulator.javascript.errors import js_error
from tsumugi_emulator.javascript.functions import js_class
from tsumugi_emulator.javascript.values import JsProxy


@js_class("Object", constructible=False)
class UnsupportedBinding(JsProxy):
    __slots__ = ("_binding", "_kind")
    #: For those who show its members: any name is one, until it is used.
    _has_every_name = True

    def __init__(self, binding: str, kind: str) -> None:
        self._binding = binding
        self._kind = kind

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("then", "js_object"):
            raise AttributeError(name)
        raise js_error(
            "Error",
            f"env.{self._binding}.{name}: {self._kind} bindings are not emulated by tsumugi yet; "
            "it works when deployed",
        )
