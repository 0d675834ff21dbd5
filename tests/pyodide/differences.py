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
        r"\b(nullPrototype|thenable|iterable|generator|async generator|asyncGenerator|boxed)\b"
        r"|^proxies\.iteration_and_length: at the end$|^exceptions\.call_errors: repeat$"
        r"|^(from_js\.to_py|rpc\.python_from_rpc): getter$|^proxies\.items: hole$",
        "no part of the Workers platform gives Python such an object (or an array with holes, or a "
        "plain object with accessors), so the emulator has none",
    ),
    Explained(
        r"^exceptions\.thrown_values: reject (?!an? )|^promises\.executor: \w+ with\b",
        "such a promise never settles for Python (set_exception refuses what is no exception, or "
        "the value is a dead proxy); the emulator gives the value instead of hanging",
    ),
    Explained(
        r"^proxies\.comparison: (same object is|subclass)$|^proxies\.calls: apply$"
        r"|^proxies\.methods_python_adds: (object|frozen|method) has$",
        "an object and its proxy are one Python object of the emulator's own class (ADR-0001): it "
        "is itself, its class has a __len__ for those with a length, its functions are bound",
    ),
    Explained(
        r"^proxies\.iteration_and_length: list\(promise\)$",
        "a promise that is settled is a future that is done, which saves a turn of the event loop",
    ),
    Explained(
        r"^(rpc\.round_trip|to_js\.round_trips): surrogate pair in two$",
        "two code units become one character when they leave the process, not at every call",
    ),
    Explained(
        r"^producer\.send_options: delaySeconds=inf$",
        "the judge's stand-in for the queue takes infinity for 0; the runtime's C++ int does not",
    ),
    Explained(
        r"^exceptions\.call_errors: (not a function|calling null|calling an object)$",
        "CPython calls the attribute itself; Pyodide's shortcut for methods has another TypeError",
        ("3.13", "3.14"),
    ),
    Explained(
        r"^callbacks\.proxies_of_objects: (item|item after destroy|get)$",
        "the proxy of a dict reads as an array there; nobody can want that",
        ("3.14",),
    ),
    Explained(
        r"^callbacks\.proxies_of_objects: repr after destroy$",
        "the text for what is destroyed came with a later Pyodide",
        ("3.12",),
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
