"""The README's list of known differences, made of the explained ones: ``python readme.py``."""

from __future__ import annotations

import re
from pathlib import Path

from differences import ALL, EXPLAINED

README = Path(__file__).parents[2] / "README.md"
_BLOCK = re.compile(r"(<!-- differences -->\n).*?(<!-- end of differences -->)", re.DOTALL)


def listed() -> str:
    """The list in Markdown, one line for each difference."""
    return "".join(f"- {_line(entry)}\n" for entry in EXPLAINED)


def _line(entry) -> str:
    versions = "" if entry.versions == ALL else f" (Python {', '.join(entry.versions)})"
    return (
        f"**{entry.title}**{versions}: production {entry.production}; here it "
        f"{entry.emulator}. {entry.reason}"
    )


def rewritten(text: str) -> str:
    """The README with the list as it should be; raises ``ValueError`` if its place is missing."""
    if not _BLOCK.search(text):
        raise ValueError(f"{README.name} has no place for the differences")
    return _BLOCK.sub(lambda block: block[1] + listed() + block[2], text)


if __name__ == "__main__":
    README.write_text(rewritten(README.read_text(encoding="utf-8")), encoding="utf-8")
