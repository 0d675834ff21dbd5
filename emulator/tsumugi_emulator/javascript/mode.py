"""Which generation of the Python runtime the boundary imitates. Chosen once, before user code.

Pyodide changed what crosses between 3.12, 3.13 and 3.14; Cloudflare picks one by compatibility
date. Not here: which flag means which version (that is ``config.compatibility``).
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Mode:
    """Process-wide switches, written by :func:`tsumugi_emulator.javascript.install` only."""

    python_version: str = "3.14"
    compatibility_flags: frozenset[str] = field(default_factory=frozenset)
    #: Raise production's error where the emulator could go on (``tsumugi dev --strict``).
    strict: bool = False

    @property
    def null_is_none(self) -> bool:
        """On 3.12 JavaScript's null reads as None and None crosses as undefined."""
        return self.python_version == "3.12"

    @property
    def has_bigint_type(self) -> bool:
        """From 3.14 a BigInt reads as ``pyodide.ffi.JsBigInt`` instead of a plain int."""
        return self.python_version not in ("3.12", "3.13")

    def flag(self, name: str) -> bool:
        return name in self.compatibility_flags


MODE = Mode()
