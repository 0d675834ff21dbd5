"""Compare what the emulator said with what real Pyodide said, label by label."""

from __future__ import annotations

import re
from dataclasses import dataclass

# What newer Pythons and Pyodides say in other words than the Python 3.12 and the pyodide-py that
# the emulator runs on. Nothing of this is the boundary's doing.
WORDINGS = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\\?'(\w+)\\?' object can\\?'t be awaited", r"\1 is not awaitable"),
        (
            r"object (\w+) can\\?'t be used in \\?'await\\?' expression",
            r"\1 is not awaitable",
        ),
        (r"is not a container or iterable", "is not iterable"),
        (r"cannot use '([^']+)' as a dict key \(un[^)]*\)", r"unhashable type: '\1'"),
        (r"\bpathlib\._local\.", "pathlib."),
        (r"\bpyodide\.http\.(_exceptions|_pyfetch)\.", "pyodide.http."),
        (r" in JSON at position (\d+) \(line \d+ column \d+\)", r" in JSON at position \1"),
        (r"\b_pyodide\._core_docs\.JsNull\b", "pyodide.ffi.JsNull"),
    )
)


@dataclass(frozen=True, slots=True)
class Difference:
    where: str
    real: str
    emulated: str

    def __str__(self):
        return f"{self.where}\n    real:     {self.real}\n    emulated: {self.emulated}"


def reworded(text):
    for pattern, replacement in WORDINGS:
        text = pattern.sub(replacement, text)
    return text


def differences(module, real, emulated):
    """Everything said differently in the transcripts of one module."""
    found = []
    for scenario in dict.fromkeys([*real, *emulated]):
        said = said_by_label(real.get(scenario, []))
        echoed = said_by_label(emulated.get(scenario, []))
        for label in dict.fromkeys([*said, *echoed]):
            expected, got = said.get(label, "nothing"), echoed.get(label, "nothing")
            if reworded(expected) != reworded(got):
                found.append(Difference(f"{module}.{scenario}: {label}", expected, got))
    return found


def said_by_label(entries):
    """Label -> the host calls before it and what was recorded; repeated labels are numbered."""
    said, calls = {}, []
    for entry in entries:
        if "label" not in entry:
            calls.append(entry.get("host") or entry["note"])
            continue
        label, count = entry["label"], 1
        while label in said:
            count += 1
            label = f"{entry['label']} ({count})"
        said[label] = " | ".join([*calls, outcome(entry)])
        calls = []
    if calls:
        said["at the end"] = " | ".join(calls)
    return said


def outcome(entry):
    if "raises" in entry:
        return f"raises {entry['raises']}: {entry['text']}"
    return f"{entry['type']} {entry['repr']}"
