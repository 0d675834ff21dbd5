"""Take out of a transcript what may differ between two runs of the same implementation.

Only this: memory addresses; the random part of a multipart boundary; the frames of tracebacks
(files, lines, source excerpts), of which the first line and the error itself stay; where a module
was loaded from; the source text of a JavaScript function; what a pending future waits for.
"""

from __future__ import annotations

import json
import re

ADDRESS = re.compile(r"0x[0-9a-f]{4,}")
MODULE_FILE = re.compile(r"(<module '\w+' from )'[^']+'")
BOUNDARY = re.compile(r"(?:--)?-{2,}formdata-undici-\d+|(?<=boundary=)[\w-]+")
FUNCTION = re.compile(
    r"(?:function )?\b(\w+)\((?:\w+(?: = \w+)?(?:, )?)*\) \{ (?:return |\[native)[^}]*\}"
)
FUTURE = re.compile(r"<PyodideFuture [^>]*>")
HEADER = "Traceback (most recent call last):"


def normalised(transcript):
    """The transcript of one module: scenario name -> entries."""
    return {
        name: [{key: clean(text) for key, text in entry.items()} for entry in entries]
        for name, entries in transcript.items()
    }


def clean(text):
    text = ADDRESS.sub("0x…", text)
    text = MODULE_FILE.sub(r"\1'…'", text)
    text = BOUNDARY.sub("…boundary…", text)
    text = FUNCTION.sub(r"function \1() {…}", text)
    text = FUTURE.sub("<PyodideFuture …>", text)
    if HEADER in text:
        # Inside a repr the line ends are escaped, once for each level of quoting.
        for line_end in ("\n", "\\\\n", "\\n"):
            text = without_frames(text, line_end)
    return text


def without_frames(text, line_end):
    lines = text.split(line_end)
    kept, inside, grouped = [], False, False
    for line in lines:
        if HEADER in line:
            inside = True
            grouped = grouped or "Exception Group" in line
            kept.append(line)
        elif inside and line.startswith("  ") and not is_group_error(line, grouped):
            continue
        else:
            kept.append(line)
    return line_end.join(kept)


def is_group_error(line, grouped):
    return grouped and re.match(r"\s*\| +\w*(Error|Exception|Group)\b", line) is not None


def dumped(transcript):
    """One entry on each line, so that a change reads well in a diff."""
    parts = []
    for name, entries in transcript.items():
        rows = ",\n".join(f"    {json.dumps(entry, ensure_ascii=True)}" for entry in entries)
        parts.append(f"  {json.dumps(name)}: [\n{rows}\n  ]")
    return "{\n" + ",\n".join(parts) + "\n}\n"
