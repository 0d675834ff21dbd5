"""The boundary beneath the real workers-runtime-sdk: ``js``, ``pyodide.ffi`` and helpers.

``install`` registers the modules; importing this package does nothing else.
"""

from __future__ import annotations

from tsumugi_emulator.javascript.modules import install

__all__ = ["install"]
