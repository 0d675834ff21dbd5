"""What V8 says about text that is not JSON, and about an object that contains itself."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from tsumugi_emulator.javascript.values import JsProxy

#: V8 quotes at most this many characters either side of the place.
CONTEXT_CHARACTERS = 10
_SPECIAL = frozenset({"NaN", "Infinity", "undefined", "[object Object]"})
_ESCAPES = frozenset('"\\/bfnrt')


class _Fault(Exception):
    def __init__(self, text: str) -> None:
        self.text = text


def parse_failure(source: str) -> str:
    """The text of the SyntaxError that ``JSON.parse(source)`` throws."""
    try:
        _Reader(source).document()
    except _Fault as fault:
        return fault.text
    except RecursionError:
        pass
    return "Unexpected end of JSON input"


class _Reader:
    """Reads JSON up to its first fault."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._at = 0

    def document(self) -> None:
        self._value()
        if self._peek():
            raise self._fault("Unexpected non-whitespace character after JSON")

    def _fault(self, what: str) -> _Fault:
        before = self._source[: self._at]
        line = before.count("\n") + 1
        column = self._at - (before.rfind("\n") + 1) + 1
        return _Fault(f"{what} at position {self._at} (line {line} column {column})")

    def _peek(self) -> str:
        """The next character that is no white space, "" at the end."""
        while self._char() and self._char() in " \t\n\r":
            self._at += 1
        return self._char()

    def _char(self) -> str:
        return self._source[self._at : self._at + 1]

    def _unexpected(self) -> _Fault:
        char, source, at = self._char(), self._source, self._at
        if not char:
            return _Fault("Unexpected end of JSON input")
        if char == '"':
            return self._fault("Unexpected string in JSON")
        if char == "-" or char.isdigit():
            return self._fault("Unexpected number in JSON")
        if source in _SPECIAL:
            return _Fault(f'"{source}" is not valid JSON')
        first, last = max(0, at - CONTEXT_CHARACTERS), at + CONTEXT_CHARACTERS
        if len(source) <= 2 * CONTEXT_CHARACTERS:
            quoted = f'"{source}"'
        elif at < CONTEXT_CHARACTERS:
            quoted = f'"{source[:last]}"...'
        elif last < len(source):
            quoted = f'..."{source[first:last]}"...'
        else:
            quoted = f'..."{source[first:]}"'
        return _Fault(f"Unexpected token '{char}', {quoted} is not valid JSON")

    def _value(self) -> None:
        char = self._peek()
        if char == "{":
            self._object()
        elif char == "[":
            self._array()
        elif char == '"':
            self._string()
        elif char == "-" or char.isdigit():
            self._number()
        else:
            self._word()

    def _word(self) -> None:
        for word in ("true", "false", "null"):
            if self._char() == word[0]:
                for expected in word:
                    if self._char() != expected:
                        raise self._unexpected()
                    self._at += 1
                return
        raise self._unexpected()

    def _object(self) -> None:
        self._at += 1
        if self._peek() == "}":
            self._at += 1
            return
        expected = "Expected property name or '}' in JSON"
        while True:
            if self._peek() != '"':
                raise self._fault(expected)
            self._string()
            if self._peek() != ":":
                raise self._fault("Expected ':' after property name in JSON")
            self._at += 1
            self._value()
            if self._ends("}", "Expected ',' or '}' after property value in JSON"):
                return
            expected = "Expected double-quoted property name in JSON"

    def _array(self) -> None:
        self._at += 1
        if self._peek() == "]":
            self._at += 1
            return
        while True:
            self._value()
            if self._ends("]", "Expected ',' or ']' after array element in JSON"):
                return

    def _ends(self, bracket: str, otherwise: str) -> bool:
        char = self._peek()
        if char not in (",", bracket):
            raise self._fault(otherwise)
        self._at += 1
        return char == bracket

    def _string(self) -> None:
        self._at += 1
        while (char := self._char()) != '"':
            if not char:
                raise self._fault("Unterminated string in JSON")
            if char < " ":
                raise self._fault("Bad control character in string literal in JSON")
            self._at += 1
            if char == "\\":
                self._escape()
        self._at += 1

    def _escape(self) -> None:
        char = self._char()
        if char == "u":
            for _ in range(4):
                self._at += 1
                if self._char() not in set("0123456789abcdefABCDEF"):
                    raise self._fault("Bad Unicode escape in JSON")
        elif char and char not in _ESCAPES:
            raise self._fault("Bad escaped character in JSON")
        self._at += 1

    def _number(self) -> None:
        if self._char() == "-":
            self._at += 1
            self._digits("No number after minus sign in JSON")
        elif self._char() == "0":
            self._at += 1
            if self._char().isdigit():
                raise self._fault("Unexpected number in JSON")
        else:
            self._digits("")
        if self._char() == ".":
            self._at += 1
            self._digits("Unterminated fractional number in JSON")
        if self._char() in ("e", "E"):
            self._at += 1
            if self._char() in ("+", "-"):
                self._at += 1
            self._digits("Exponent part is missing a number in JSON")

    def _digits(self, otherwise: str) -> None:
        found = re.compile("[0-9]+").match(self._source, self._at)
        if found is None:
            raise self._fault(otherwise)
        self._at = found.end()


def circular_structure(value: Any) -> str:
    """The text of the TypeError for an object that contains itself."""
    text = "Converting circular structure to JSON"
    path = _cycle(value, [], set())
    if not path:
        return text
    lines = [f"    --> starting at object with constructor {_constructor(path[0][0])}"]
    steps = [
        f"    |     {_step(key)} -> object with constructor {_constructor(inner)}"
        for (_, key), (inner, _) in pairwise(path)
    ]
    if len(steps) > 2:
        steps[1:-1] = ["    |     ..."]
    lines += steps
    lines.append(f"    --- {_step(path[-1][1])} closes the circle")
    return "\n".join([text, *lines])


#: An object and the key of the next one inside it.
_Path = list[tuple[JsProxy, str]]


def _cycle(value: Any, above: _Path, clean: set[int]) -> _Path:
    """The objects of the first cycle below ``value``."""
    if not isinstance(value, JsProxy) or value.js_id in clean:
        return []
    for index, (parent, _) in enumerate(above):
        if parent is value:
            return above[index:]
    for key, item in value._entries().items():
        found = _cycle(item, [*above, (value, key)], clean)
        if found:
            return found
    clean.add(value.js_id)
    return []


def _constructor(value: JsProxy) -> str:
    return f"'{value._class_name()}'"


def _step(key: str) -> str:
    return f"index {key}" if key.isdecimal() else f"property '{key}'"
