"""What a checking process is asked and what it answers. Plain values, sent pickled (ADR-0204)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tsumugi_emulator.check.findings import Finding
    from tsumugi_emulator.config.model import WorkerConfig


class Request(NamedTuple):
    """Check Workers that belong together."""

    configs: tuple[WorkerConfig, ...]
    #: What the last answer brought along; None at first.
    memory: bytes | None


class Answer(NamedTuple):
    findings: tuple[Finding, ...]
    #: Facts of the files that were read, for the next request. Only the checker looks inside.
    memory: bytes
    #: How many files were parsed.
    examined: int
