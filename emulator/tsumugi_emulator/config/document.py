"""A parsed configuration text and where each of its values stands. Knows no field names."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, NamedTuple

#: The way to a value from the root: ``("queues", "consumers", 0, "queue")``.
type ValuePath = tuple[str | int, ...]


class Position(NamedTuple):
    """Line and column, both counted from 1; columns count characters."""

    line: int
    column: int


class TextError(ValueError):
    """The text is not in its language; says where, if that is known."""

    def __init__(self, message: str, *, line: int | None, column: int | None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


class LineIndex:
    """Turns offsets into positions. Lines end at LF, CRLF or a lone CR, as editors count them."""

    __slots__ = ("_starts",)

    def __init__(self, text: str) -> None:
        starts = [0]
        end = -1
        for index, character in enumerate(text):
            if character == "\n":
                # CRLF is one break: its CR has already opened the line that starts after it.
                if end == index:
                    starts.pop()
                starts.append(index + 1)
            elif character == "\r":
                end = index + 1
                starts.append(end)
        self._starts = starts

    def position(self, offset: int) -> Position:
        line = bisect_right(self._starts, offset)
        return Position(line, offset - self._starts[line - 1] + 1)


class Document:
    """A value with the offsets of its keys and values, each under its path."""

    __slots__ = ("_key_offsets", "_lines", "_text", "_value_offsets", "duplicates", "value")

    def __init__(
        self,
        text: str,
        value: Any,
        *,
        key_offsets: dict[ValuePath, int],
        value_offsets: dict[ValuePath, int],
        duplicates: tuple[tuple[ValuePath, int], ...] = (),
    ) -> None:
        self.value = value
        #: Keys given more than once in one object, each with the offset of the later one.
        self.duplicates = duplicates
        self._text = text
        self._key_offsets = key_offsets
        self._value_offsets = value_offsets
        self._lines: LineIndex | None = None

    def at_offset(self, offset: int) -> Position:
        if self._lines is None:
            self._lines = LineIndex(self._text)
        return self._lines.position(offset)

    def value_position(self, path: ValuePath) -> Position | None:
        """Where the value starts, or the nearest enclosing value whose place is known."""
        return self._nearest(path, self._value_offsets)

    def key_position(self, path: ValuePath) -> Position | None:
        """Where the key of this value starts, or the nearest place that is known."""
        if path in self._key_offsets:
            return self.at_offset(self._key_offsets[path])
        return self.value_position(path)

    def _nearest(self, path: ValuePath, offsets: dict[ValuePath, int]) -> Position | None:
        for length in range(len(path), -1, -1):
            offset = offsets.get(path[:length])
            if offset is not None:
                return self.at_offset(offset)
        return None
