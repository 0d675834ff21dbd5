"""Where the emulator may differ from real Pyodide, and why. Keep it short.

A pattern is matched against `module.scenario: label`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

ALL = ("3.12", "3.13", "3.14")


@dataclass(frozen=True, slots=True)
class Explained:
    pattern: str
    reason: str
    versions: tuple[str, ...] = ALL


EXPLAINED = (
    Explained(
        r"\b(nullPrototype|thenable|iterable|generator|async generator|asyncGenerator|boxed)\b",
        "no part of the Workers platform gives Python such an object, so the emulator has none",
    ),
    Explained(
        r"^exceptions\.thrown_values: reject (?!an? )|^promises\.executor: \w+ with\b",
        "such a promise never settles for Python (set_exception refuses what is no exception, or "
        "the value is a dead proxy); the emulator gives the value instead of hanging",
    ),
    Explained(
        r"\bsymbol has$|^proxies\.awkward_names: getattr to_py$",
        "a detail of how Pyodide is built, visible to introspection only",
    ),
    Explained(
        r"^web\.response_reading: (again: \w+|clone after use|raise_for_status)$",
        "pyodide-py raises its own subclasses of the OSError that this Pyodide raised",
        ("3.12",),
    ),
    Explained(
        r": array q\b",
        "Pyodide 0.26 cannot read 64-bit arrays; a bug nobody can rely on",
        ("3.12",),
    ),
)


def explanation(where, version):
    for explained in EXPLAINED:
        if version in explained.versions and re.search(explained.pattern, where):
            return explained.reason
    return None
