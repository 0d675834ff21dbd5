"""Collects the faults of one file while it is read, each with its place. Decides nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.config.diagnostics import Diagnostic, Severity, has_errors

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tsumugi_emulator.config.document import Document, Position, ValuePath


class Report:
    """All faults of ``path`` so far, in the order they were found."""

    __slots__ = ("_document", "_path", "diagnostics", "section")

    def __init__(self, path: Path, document: Document | None = None) -> None:
        self.diagnostics: list[Diagnostic] = []
        #: Put on what is reported from now on; None at the top level.
        self.section: str | None = None
        self._path = path
        self._document = document

    @property
    def has_errors(self) -> bool:
        return has_errors(self.diagnostics)

    def error(self, message: str, at: ValuePath = ()) -> None:
        self._add(Severity.ERROR, message, self._value_position(at))

    def error_at_key(self, message: str, at: ValuePath) -> None:
        self._add(Severity.ERROR, message, self._key_position(at))

    def warning(self, message: str, at: ValuePath = (), *, code: str | None = None) -> None:
        self._add(Severity.WARNING, message, self._value_position(at), code)

    def warning_at_key(self, message: str, at: ValuePath) -> None:
        self._add(Severity.WARNING, message, self._key_position(at))

    def warning_at(self, message: str, position: Position | None) -> None:
        self._add(Severity.WARNING, message, position)

    def unexpected(
        self, container: str, at: ValuePath, *, given: Any, known: Iterable[str]
    ) -> None:
        """One warning that lists the keys of ``given`` which nothing reads."""
        known = frozenset(known)
        unknown = [key for key in given if key not in known]
        if not unknown:
            return
        listed = ",".join(quoted(key) for key in unknown)
        message = f"Unexpected fields found in {container} field: {listed}"
        self.warning_at_key(message + _suggestions(unknown, known), (*at, unknown[0]))

    def fork(self) -> Report:
        """An empty report about the same file."""
        return Report(self._path, self._document)

    def adopt_errors(self, other: Report) -> None:
        self.diagnostics += (
            diagnostic for diagnostic in other.diagnostics if diagnostic.severity is Severity.ERROR
        )

    def _value_position(self, at: ValuePath) -> Position | None:
        return self._document.value_position(at) if self._document else None

    def _key_position(self, at: ValuePath) -> Position | None:
        return self._document.key_position(at) if self._document else None

    def _add(
        self,
        severity: Severity,
        message: str,
        position: Position | None,
        code: str | None = None,
    ) -> None:
        self.diagnostics.append(
            Diagnostic(
                severity=severity,
                message=message,
                path=self._path,
                line=position.line if position else None,
                column=position.column if position else None,
                section=self.section,
                code=code,
            )
        )


def quoted(value: Any) -> str:
    """The value as JSON on one line, which is how wrangler quotes what it got."""
    import json  # only needed once something is wrong, and start-up is counted in milliseconds

    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, default=str)


def _suggestions(unknown: list[str], known: frozenset[str]) -> str:
    import difflib  # as above

    matches = {key: difflib.get_close_matches(key, known, n=1, cutoff=0.75) for key in unknown}
    return "".join(
        f'\nDid you mean "{found[0]}" instead of {quoted(key)}?'
        for key, found in matches.items()
        if found
    )
