"""Read TOML with the standard library, and find where its keys and values stand.

tomllib gives values without places, so a second pass over the text, which tomllib has already
accepted, notes the offsets. Where that pass loses its way, a place nearby is reported instead.
"""

from __future__ import annotations

from tsumugi_emulator.config.document import Document, LineIndex, TextError, ValuePath
from tsumugi_emulator.config.jsonc import MAX_DEPTH

_SPACE = " \t"
_BLANK = " \t\n"
_DELIMITERS = " \t\n#,]}="


class TomlError(TextError):
    """The text is not TOML."""


def parse_toml(text: str) -> Document:
    """The table in ``text`` and where everything stands; raises only TomlError."""
    import tomllib  # costs milliseconds, and most configurations are JSON

    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    try:
        value = tomllib.loads(text)
    except RecursionError as exc:
        raise TomlError("nested too deeply", line=None, column=None) from exc
    except ValueError as exc:
        raise _located(str(exc), text) from exc
    places = _Places(text)
    try:
        places.scan()
    except RecursionError as exc:
        raise TomlError("nested too deeply", line=None, column=None) from exc
    return Document(text, value, key_offsets=places.keys, value_offsets=places.values)


def _at(text: str, offset: int, message: str) -> TomlError:
    place = LineIndex(text).position(offset)
    return TomlError(message, line=place.line, column=place.column)


def _located(message: str, text: str) -> TomlError:
    """tomllib ends its messages with "(at line 3, column 7)" or "(at end of document)"."""
    fault, _, place = message.rpartition(" (at ")
    numbers = [int(word) for word in place.rstrip(")").replace(",", "").split() if word.isdigit()]
    if fault and len(numbers) == 2:
        return TomlError(fault, line=numbers[0], column=numbers[1])
    if fault:
        last = text.split("\n")
        return TomlError(f"{fault} at the end", line=len(last), column=len(last[-1]) + 1)
    return TomlError(message, line=None, column=None)


class _Places:
    """One pass over valid TOML. At worst it knows fewer places; raises only for depth."""

    __slots__ = ("keys", "lists", "offset", "table", "text", "values")

    def __init__(self, text: str) -> None:
        self.text = text
        self.offset = 0
        self.table: ValuePath = ()
        #: How many tables each [[list]] has so far.
        self.lists: dict[ValuePath, int] = {}
        self.keys: dict[ValuePath, int] = {}
        self.values: dict[ValuePath, int] = {(): 0}

    def scan(self) -> None:
        while self.offset < len(self.text):
            character = self.peek(_BLANK)
            if character == "[":
                self.header()
            elif character == "#":
                self.to_line_end()
            elif character:
                before = self.offset
                self.assignment(self.table)
                self.to_line_end()
                self.offset = max(self.offset, before + 1)

    def peek(self, skip: str) -> str:
        while (character := self.text[self.offset : self.offset + 1]) and character in skip:
            self.offset += 1
        return character

    def to_line_end(self) -> None:
        end = self.text.find("\n", self.offset)
        self.offset = len(self.text) if end < 0 else end

    def header(self) -> None:
        start = self.offset
        is_list = self.text.startswith("[[", start)
        self.offset += 2 if is_list else 1
        parts = self.key_parts()
        path: ValuePath = ()
        for part in parts[:-1]:
            path = self.into_list((*path, part))
        if parts:
            path = (*path, parts[-1])
            self.note(path, start)
            if is_list:
                self.lists[path] = self.lists.get(path, 0) + 1
                path = self.into_list(path)
                self.note(path, start)
        self.table = path
        self.to_line_end()

    def into_list(self, path: ValuePath) -> ValuePath:
        count = self.lists.get(path, 0)
        return (*path, count - 1) if count else path

    def note(self, path: ValuePath, offset: int) -> None:
        self.check_depth(path, offset)
        self.keys.setdefault(path, offset)
        self.values.setdefault(path, offset)

    def check_depth(self, path: ValuePath, offset: int) -> None:
        if len(path) > MAX_DEPTH:
            raise _at(self.text, offset, f"nested more than {MAX_DEPTH} levels deep")

    def assignment(self, base: ValuePath) -> None:
        self.peek(_SPACE)
        start = self.offset
        parts = self.key_parts()
        path = base
        for part in parts:
            path = (*path, part)
            self.keys.setdefault(path, start)
        self.check_depth(path, start)
        if self.peek(_SPACE) == "=":
            self.offset += 1
            self.peek(_SPACE)
            self.value(path)

    def key_parts(self) -> list[str]:
        parts: list[str] = []
        while True:
            character = self.peek(_SPACE)
            if character and character in "\"'":
                start = self.offset
                self.string()
                parts.append(self.text[start + 1 : self.offset - 1])
            else:
                start = self.offset
                self.bare(f"{_DELIMITERS}.")
                parts.append(self.text[start : self.offset])
            if self.peek(_SPACE) != ".":
                return parts
            self.offset += 1

    def value(self, path: ValuePath) -> None:
        self.check_depth(path, self.offset)
        self.values.setdefault(path, self.offset)
        character = self.text[self.offset : self.offset + 1]
        if character == "[":
            self.array(path)
        elif character == "{":
            self.inline_table(path)
        elif character and character in "\"'":
            self.string()
        else:
            self.bare(_DELIMITERS)

    def array(self, path: ValuePath) -> None:
        self.offset += 1
        index = 0
        while (character := self.skip_comments()) and character != "]":
            before = self.offset
            if character == ",":
                self.offset += 1
                continue
            self.value((*path, index))
            index += 1
            self.offset = max(self.offset, before + 1)
        self.offset += 1

    def inline_table(self, path: ValuePath) -> None:
        self.offset += 1
        while (character := self.peek(_BLANK)) and character != "}":
            before = self.offset
            if character == ",":
                self.offset += 1
                continue
            self.assignment(path)
            self.offset = max(self.offset, before + 1)
        self.offset += 1

    def skip_comments(self) -> str:
        while (character := self.peek(_BLANK)) == "#":
            self.to_line_end()
        return character

    def bare(self, stops: str) -> None:
        while (character := self.text[self.offset : self.offset + 1]) and character not in stops:
            self.offset += 1

    def string(self) -> None:
        quote = self.text[self.offset]
        fence = quote * 3 if self.text.startswith(quote * 3, self.offset) else quote
        offset = self.offset + len(fence)
        while offset < len(self.text) and not self.text.startswith(fence, offset):
            offset += 2 if quote == '"' and self.text[offset] == "\\" else 1
        offset += len(fence)
        # Up to two quotes may stand before the closing three.
        while len(fence) == 3 and self.text.startswith(quote, offset):
            offset += 1
        self.offset = offset
