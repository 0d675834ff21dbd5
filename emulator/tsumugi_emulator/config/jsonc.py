"""Read JSON with comments and trailing commas, token by token. Pure: text in, document out.

Accepts what wrangler accepts in wrangler.json and wrangler.jsonc: ``//`` and ``/* */`` comments, a
comma after the last element, a byte order mark, any line ending. Strings are never searched for
comments, because they are read as tokens. Knows nothing about Workers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsumugi_emulator.config.document import Document, LineIndex, TextError, ValuePath

if TYPE_CHECKING:
    from tsumugi_emulator.config.model import JsonValue

#: Deeper than any configuration, shallower than Python's stack.
MAX_DEPTH = 200

_ESCAPES = {
    '"': '"',
    "\\": "\\",
    "/": "/",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
}
_WORDS: dict[str, JsonValue] = {"true": True, "false": False, "null": None}
_WHITESPACE = " \t\n\r"
_DIGITS = "0123456789"
_HEX_DIGITS = "0123456789abcdefABCDEF"


class JsoncError(TextError):
    """The text is not JSON with comments. Its line and column are always known."""

    line: int
    column: int


def parse_jsonc(text: str) -> Document:
    """The value in ``text`` and where everything stands; raises only JsoncError.

    A key given twice keeps its last value, as in JavaScript, and is listed in ``duplicates``.
    """
    # Columns count from the first visible character, so the mark goes before positions exist.
    return _Reader(text.removeprefix("\ufeff")).document()


class _Reader:
    __slots__ = ("duplicates", "keys", "offset", "path", "text", "values")

    def __init__(self, text: str) -> None:
        self.text = text
        self.offset = 0
        self.path: list[str | int] = []
        self.keys: dict[ValuePath, int] = {}
        self.values: dict[ValuePath, int] = {}
        self.duplicates: list[tuple[ValuePath, int]] = []

    def document(self) -> Document:
        value = self.value()
        if self.peek():
            raise self.error("EndOfFileExpected: nothing may follow the configuration")
        return Document(
            self.text,
            value,
            key_offsets=self.keys,
            value_offsets=self.values,
            duplicates=tuple(self.duplicates),
        )

    def error(self, message: str, offset: int | None = None) -> JsoncError:
        place = LineIndex(self.text).position(self.offset if offset is None else offset)
        return JsoncError(message, line=place.line, column=place.column)

    def peek(self) -> str:
        """The next character after space and comments; empty at the end of the text."""
        text = self.text
        while True:
            while (character := text[self.offset : self.offset + 1]) and character in _WHITESPACE:
                self.offset += 1
            if character != "/":
                return character
            self.skip_comment()

    def skip_comment(self) -> None:
        start = self.offset
        opening = self.text[start : start + 2]
        if opening == "//":
            ends = [self.text.find(mark, start) for mark in "\r\n"]
            self.offset = min((end for end in ends if end >= 0), default=len(self.text))
        elif opening == "/*":
            end = self.text.find("*/", start + 2)
            if end < 0:
                raise self.error("UnexpectedEndOfComment: this comment is never closed with */")
            self.offset = end + 2
        else:
            raise self.error("InvalidSymbol: a comment starts with // or /*")

    def value(self) -> JsonValue:
        character = self.peek()
        self.values[tuple(self.path)] = self.offset
        if character == "{":
            return self.object()
        if character == "[":
            return self.array()
        if character == '"':
            return self.string()
        if character == "-" or (character and character in _DIGITS):
            return self.number()
        return self.word()

    def descend(self) -> None:
        if len(self.path) >= MAX_DEPTH:
            raise self.error(f"nested more than {MAX_DEPTH} levels deep")
        self.offset += 1

    def object(self) -> JsonValue:
        self.descend()
        members: dict[str, JsonValue] = {}
        while self.peek() != "}":
            key = self.key(members)
            self.path.append(key)
            members[key] = self.value()
            self.path.pop()
            if not self.comma("}"):
                break
        self.offset += 1
        return members

    def key(self, members: dict[str, JsonValue]) -> str:
        start = self.offset
        if self.peek() != '"':
            raise self.error('PropertyNameExpected: a key in double quotes, like "name"')
        key = self.string()
        path = (*self.path, key)
        if key in members:
            self.duplicates.append((path, start))
            self.forget(path)
        self.keys[path] = start
        if self.peek() != ":":
            raise self.error(f'ColonExpected: the key "{key}" needs a ":" and a value')
        self.offset += 1
        return key

    def forget(self, path: ValuePath) -> None:
        """Drop the places inside a value that a later duplicate replaces."""
        depth = len(path)
        for places in (self.keys, self.values):
            for stale in [known for known in places if known[:depth] == path]:
                del places[stale]

    def array(self) -> JsonValue:
        self.descend()
        items: list[JsonValue] = []
        while self.peek() != "]":
            self.path.append(len(items))
            items.append(self.value())
            self.path.pop()
            if not self.comma("]"):
                break
        self.offset += 1
        return items

    def comma(self, closing: str) -> bool:
        """Whether another element may follow; otherwise the closing bracket is next."""
        character = self.peek()
        if character == ",":
            self.offset += 1
            return True
        if character == closing:
            return False
        if not character:
            name = "CloseBraceExpected" if closing == "}" else "CloseBracketExpected"
            raise self.error(f'{name}: the file ends before the closing "{closing}"')
        raise self.error(f'CommaExpected: a "," or "{closing}" is missing before this')

    def string(self) -> str:
        text, start = self.text, self.offset
        chunks: list[str] = []
        run = offset = start + 1
        while (character := text[offset : offset + 1]) != '"':
            if character == "\\":
                chunks.append(text[run:offset])
                self.offset = offset
                chunks.append(self.escape())
                run = offset = self.offset
            elif not character or character in "\r\n":
                raise self.error("UnexpectedEndOfString: this string is never closed", start)
            elif character < " ":
                code = f"\\u{ord(character):04x}"
                raise self.error(f"InvalidCharacter: write {code} for this character", offset)
            else:
                offset += 1
        chunks.append(text[run:offset])
        self.offset = offset + 1
        return "".join(chunks)

    def escape(self) -> str:
        kind = self.text[self.offset + 1 : self.offset + 2]
        if kind in _ESCAPES:
            self.offset += 2
            return _ESCAPES[kind]
        if kind != "u":
            raise self.error(f'InvalidEscapeCharacter: "\\{kind}" is not an escape; write "\\\\"')
        unit = self.code_unit()
        if 0xD800 <= unit < 0xDC00 and self.text.startswith("\\u", self.offset):
            back = self.offset
            low = self.code_unit()
            if 0xDC00 <= low < 0xE000:
                return chr(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))
            self.offset = back
        # Half a pair is no character and UTF-8 cannot carry it: it becomes what encoders write.
        return "\ufffd" if 0xD800 <= unit < 0xE000 else chr(unit)

    def code_unit(self) -> int:
        digits = self.text[self.offset + 2 : self.offset + 6]
        if len(digits) != 4 or any(digit not in _HEX_DIGITS for digit in digits):
            raise self.error("InvalidUnicode: \\u needs four hexadecimal digits")
        self.offset += 6
        return int(digits, 16)

    def digits(self) -> int:
        start = self.offset
        while (character := self.text[self.offset : self.offset + 1]) and character in _DIGITS:
            self.offset += 1
        return self.offset - start

    def number(self) -> JsonValue:
        text, start = self.text, self.offset
        if text[self.offset] == "-":
            self.offset += 1
        first = text[self.offset : self.offset + 1]
        valid = self.digits() == 1 or first != "0"
        valid = valid and first != "" and first in _DIGITS
        whole = self.offset
        if text[self.offset : self.offset + 1] == ".":
            self.offset += 1
            valid = self.digits() > 0 and valid
        if text[self.offset : self.offset + 1] in ("e", "E"):
            self.offset += 2 if text[self.offset + 1 : self.offset + 2] in ("+", "-") else 1
            valid = self.digits() > 0 and valid
        literal = text[start : self.offset]
        if not valid:
            raise self.error(f"InvalidNumberFormat: {literal} is not a number in JSON", start)
        number = float(literal)
        if number in (float("inf"), float("-inf")):
            raise self.error("InvalidNumberFormat: this number is too large", start)
        return int(literal) if self.offset == whole else number

    def word(self) -> JsonValue:
        start = end = self.offset
        while (character := self.text[end : end + 1]) and (
            character.isalnum() or character in "_$.'"
        ):
            end += 1
        word = self.text[start:end]
        if word in _WORDS:
            self.offset = end
            return _WORDS[word]
        if start == len(self.text):
            raise self.error("ValueExpected: the file ends where a value should be")
        if word:
            raise self.error(f"InvalidSymbol: {word} is not a value; strings need double quotes")
        raise self.error(f'ValueExpected: "{self.text[start]}" cannot start a value')
