"""The importable modules of the boundary: ``js``, ``pyodide.ffi``, and the runtime's helpers."""

from __future__ import annotations

import importlib
import sys
import types
from typing import Any

from tsumugi_emulator.javascript import ffi
from tsumugi_emulator.javascript.crossing import python_to_js
from tsumugi_emulator.javascript.mode import MODE
from tsumugi_emulator.javascript.standard import ecmascript_globals
from tsumugi_emulator.javascript.values import JsObject, js_to_python
from tsumugi_emulator.javascript.web import NOT_EMULATED, WEB_GLOBALS
from tsumugi_emulator.javascript.web.pyfetch import replace_pyfetch


class JsModule(types.ModuleType):
    """``js``: the global scope. Web classes load on first use; unknown names say so."""

    def __init__(self) -> None:
        super().__init__("js", "JavaScript's global scope.")
        self.__dict__.update(
            {name: js_to_python(value) for name, value in ecmascript_globals().items()}
        )
        self.__path__: list[str] = []  # importable as a package: ``import js.x`` fails by name

    def __getattr__(self, name: str) -> Any:
        if name in ("self", "globalThis"):
            return self
        source = WEB_GLOBALS.get(name)
        if source is not None:
            module, _, attribute = source.partition(":")
            value = getattr(importlib.import_module(module), attribute)
            self.__dict__[name] = value
            return value
        if name in NOT_EMULATED:
            raise AttributeError(
                f"js.{name} exists in production but is not emulated by tsumugi yet"
            )
        raise AttributeError(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("__"):
            value = js_to_python(python_to_js(value))
        super().__setattr__(name, value)


class EntrypointHelper(types.ModuleType):
    """``_pyodide_entrypoint_helper``: what the runtime hands to the SDK."""

    def __init__(self, env: JsObject) -> None:
        super().__init__("_pyodide_entrypoint_helper")
        from tsumugi_emulator.javascript.wait_until import global_wait_until, patch_wait_until

        self.cloudflareWorkersModule = JsObject({"env": env, "waitUntil": global_wait_until})
        self.cloudflareSocketsModule = JsObject({})
        self.patchWaitUntil = patch_wait_until

    def doAnImport(self, name: str) -> Any:
        from tsumugi_emulator.javascript.errors import js_error
        from tsumugi_emulator.javascript.promise import rejected

        return rejected(js_error("Error", f'No such module "{name}".'))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


class CompatFlags(types.ModuleType):
    """``_cloudflare_compat_flags``: every flag is an attribute, false when not enabled."""

    def __getattr__(self, name: str) -> bool:
        if name.startswith("__"):
            raise AttributeError(name)
        return MODE.flag(name)


class _Ffi(types.ModuleType):
    """``pyodide.ffi``, with the names of the generation imitated."""

    def __getattr__(self, name: str) -> Any:
        # The installed pyodide-py may be of another one, and asks where it is by the name it knows.
        if name in ("IN_BROWSER", "IN_PYODIDE"):
            asking = sys._getframe(1).f_globals.get("__name__", "")
            if asking.startswith("pyodide."):
                return True
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")


class _PyodideJs(types.ModuleType):
    """``pyodide_js``: only what pyodide-py itself imports."""


def install(
    *,
    compatibility_flags: frozenset[str] = frozenset(),
    python_version: str = "3.14",
    strict: bool = False,
    env: JsObject | None = None,
) -> JsObject:
    """Register the boundary's modules, so that ``import workers`` finds production's surface.

    Args:
        compatibility_flags: every flag in force, dates already applied.
        python_version: ``"3.12"``, ``"3.13"`` or ``"3.14"``: the generation imitated.
        strict: raise production's error where the emulator would warn and go on.
        env: the bindings ``from workers import env`` sees.

    Returns:
        The ``env`` object, to which bindings may be added.
    """
    MODE.compatibility_flags = compatibility_flags
    MODE.python_version = python_version
    MODE.strict = strict
    env = env if env is not None else JsObject()
    ffi.pose_as_pyodide()
    pyodide_js = _PyodideJs("pyodide_js")
    api = types.ModuleType("pyodide_js._api")
    api.abortSignalAny = _abort_signal_any  # type: ignore[attr-defined]
    pyodide_js._api = api  # type: ignore[attr-defined]
    sys.modules.update(
        {
            **_pyodide_modules(python_version),
            "js": JsModule(),
            "pyodide_js": pyodide_js,
            "pyodide_js._api": api,
            "_pyodide_entrypoint_helper": EntrypointHelper(env),
            "_cloudflare_compat_flags": CompatFlags("_cloudflare_compat_flags"),
        }
    )
    if python_version != "3.12":
        # Production's Pyodide is newer than the package this Python can install.
        replace_pyfetch()
    return env


def _pyodide_modules(python_version: str) -> dict[str, types.ModuleType]:
    """``pyodide``, over the pure Python modules of the installed pyodide-py, and its ``ffi``."""
    pyodide = types.ModuleType("pyodide")
    pyodide.__path__ = [_pyodide_directory()]
    pyodide.__version__ = {"3.12": "0.26.0a2", "3.13": "0.28.2"}.get(python_version, "314.0.5")  # type: ignore[attr-defined]
    pyodide.__all__ = ["__version__", "code", "ffi", "http"]  # type: ignore[attr-defined]
    module_ffi = _Ffi("pyodide.ffi")
    found = ffi.names()
    module_ffi.__dict__.update(found, __all__=ffi.listed(found))
    pyodide.ffi = module_ffi  # type: ignore[attr-defined]
    return {"pyodide": pyodide, "pyodide.ffi": module_ffi}


def _abort_signal_any(signals: Any) -> Any:
    from tsumugi_emulator.javascript.web.abort import abort_signal_any

    return abort_signal_any(signals)


def _pyodide_directory() -> str:
    """Where the installed pyodide-py keeps its pure Python modules (``pyodide.http``)."""
    from importlib.machinery import PathFinder

    spec = PathFinder.find_spec("pyodide")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("pyodide-py is not installed; reinstall tsumugi-workers")
    return next(iter(spec.submodule_search_locations))
