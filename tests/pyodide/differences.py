"""Where the emulator may differ from production, and why. Keep it short.

`EXPLAINED` is plain data, of which documentation can be made: each entry says in `title` what it
is about, in `production` and `emulator` what each does, and in `reason` why that is so. `places`
are patterns of `module.scenario: label`, all of whose differences the entry explains.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

ALL = ("3.12", "3.13", "3.14")


@dataclass(frozen=True, slots=True)
class Explained:
    title: str
    production: str
    emulator: str
    reason: str
    places: tuple[str, ...]
    versions: tuple[str, ...] = ALL

    def explains(self, where, version):
        return version in self.versions and any(re.search(place, where) for place in self.places)


EXPLAINED = (
    Explained(
        title="JavaScript objects that no part of the platform makes",
        production="hands over boxed primitives, generators, thenables, iterables, arrays with "
        "holes, objects without a prototype or with accessors, if JavaScript code makes them",
        emulator="has no such objects",
        reason="There is no JavaScript code in a Python Worker, and no part of the Workers "
        "platform gives Python one of these.",
        places=(
            r"\b(nullPrototype|thenable|iterable|generator|async generator|asyncGenerator|boxed)\b",
            r"^proxies\.iteration_and_length: at the end$",
            r"^exceptions\.call_errors: repeat$",
            r"^(from_js\.to_py|rpc\.python_from_rpc): getter$",
            r"^proxies\.items: hole$",
        ),
    ),
    Explained(
        title="Promises that never settle for Python",
        production="leaves an await hanging when a promise is rejected with a value that is no "
        "error, or resolved with a proxy that is dead",
        emulator="gives the value, or raises it",
        reason="Hanging helps nobody: Python's set_exception refuses what is no exception.",
        places=(r"^exceptions\.thrown_values: reject (?!an? )", r"^promises\.executor: \w+ with\b"),
    ),
    Explained(
        title="An object and its proxy are one",
        production="makes a new JsProxy each time an object crosses",
        emulator="has one Python object for a JavaScript object: `is` holds, its class has a "
        "`__len__` if it has a length, its functions are bound",
        reason="One object instead of two makes everything faster and leaks nothing (ADR-0001).",
        places=(
            r"^proxies\.comparison: (same object is|subclass)$",
            r"^proxies\.calls: apply$",
            r"^proxies\.methods_python_adds: (object|frozen|method) has$",
        ),
    ),
    Explained(
        title="A settled promise is a future that is done",
        production="settles the future of a promise one turn of the event loop later",
        emulator="has it done at once",
        reason="It saves a turn of the event loop.",
        places=(r"^proxies\.iteration_and_length: list\(promise\)$",),
    ),
    Explained(
        title="Two halves of a character in a str",
        production="joins two surrogates that form a character at every crossing to JavaScript",
        emulator="joins them when they leave the process: in storage, in messages, on the network",
        reason="Looking at every text of every call would cost more than it is worth.",
        places=(
            r"^(rpc\.round_trip|to_js\.round_trips): surrogate pair in two$",
            r"^durable_objects\.\w+: (argument|inside|result) surrogate pair in two$",
            r"^services\.arguments_of_javascript: echo surrogate pair in two$",
        ),
    ),
    Explained(
        title="Dicts that contain themselves in to_js()",
        production="moves entries that lead back to the dict to its end, and leaves a marker of "
        "its own in lists on the way there",
        emulator="keeps every entry where it is",
        reason="The marker is a bug of Pyodide; neither can be wanted.",
        places=(r"^to_js\.cycles_and_sharing: (keys after itself|in a list of its own)",),
    ),
    Explained(
        title="Dunder names of stubs",
        production="takes any attribute of a stub for a method, `__private__` too",
        emulator="has no attributes with two underscores on both sides",
        reason="They are Python's own, and Python asks for them without anybody's doing.",
        places=(r"^durable_objects\.stubs: dunder name$",),
    ),
    Explained(
        title="The line in which D1's exec() failed",
        production="says locally that line 1 failed, whichever it was",
        emulator="names the line that failed, with its text",
        reason="It is of no use otherwise (ADR-0062).",
        places=(r"^d1\.batches_and_sessions: exec of a bad line$",),
    ),
    Explained(
        title="Jurisdictions of Durable Objects",
        production="has them, deployed; its local runtime, over which the scenarios run, does not",
        emulator="has them too",
        reason="Code that names a jurisdiction runs here as it does deployed (ADR-0307).",
        places=(r"^durable_objects\.namespaces_and_ids: (unique of a jurisdiction|jurisdiction)$",),
    ),
    Explained(
        title="Calling an attribute that is no function",
        production="says so in words of Pyodide's, which calls methods by a shortcut",
        emulator="says so in CPython's",
        reason="CPython calls the attribute itself. Both raise TypeError.",
        places=(r"^exceptions\.call_errors: (not a function|calling null|calling an object)$",),
        versions=("3.13", "3.14"),
    ),
    Explained(
        title="Items of the proxy of a dict",
        production="reads the JavaScript proxy of a Python dict as if it were an array",
        emulator="reads its items",
        reason="Nobody can want that.",
        places=(r"^callbacks\.proxies_of_objects: (item|item after destroy|get)$",),
        versions=("3.14",),
    ),
    Explained(
        title="The text of a proxy that is destroyed",
        production="has an older text on Python 3.12",
        emulator="has the newer text",
        reason="The text came with a later Pyodide.",
        places=(r"^callbacks\.proxies_of_objects: repr after destroy$",),
        versions=("3.12",),
    ),
    Explained(
        title="How Pyodide is built",
        production="shows attributes of JsProxy that are there for Pyodide itself",
        emulator="does not have them",
        reason="They are visible to introspection only.",
        places=(r"\bsymbol has$", r"^proxies\.awkward_names: getattr to_py$"),
    ),
    Explained(
        title="Exceptions of pyodide.http on Python 3.12",
        production="raises OSError",
        emulator="raises subclasses of OSError, as later versions do",
        reason="They are pyodide-py's own.",
        places=(
            r"^web\.response_reading: (again: \w+|clone after use|raise_for_status)$",
        ),
        versions=("3.12",),
    ),
    Explained(
        title="Arrays of 64-bit integers on Python 3.12",
        production="cannot read them and damages its memory when it tries",
        emulator="reads them",
        reason="It is a bug of Pyodide 0.26 that nobody can rely on.",
        places=(r": array q\b",),
        versions=("3.12",),
    ),
)  # fmt: skip


def explanation(where, version):
    """The entry that explains a difference at `where`, or None."""
    return next((entry for entry in EXPLAINED if entry.explains(where, version)), None)
