"""``RegExp``, run by Python's ``re``: the syntax the two share, and what can be translated."""

from __future__ import annotations

import re
from typing import Any

from tsumugi_emulator.javascript.arrays import JsArray
from tsumugi_emulator.javascript.errors import JsException
from tsumugi_emulator.javascript.functions import js_class, js_method, js_property
from tsumugi_emulator.javascript.strings import to_string
from tsumugi_emulator.javascript.values import JsObject, JsProxy, jsnull

_FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}
_KNOWN_FLAGS = frozenset("dgimsuvy")
#: What JavaScript writes differently: named groups and references, ``$``, ``[^]``, ``\u{...}``.
_DIALECT = re.compile(
    r"\\u\{(?P<code>[0-9a-fA-F]+)\}|\\k<(?P<name>\w+)>|\\."
    r"|(?P<any>\[\^\])|(?P<class>\[(?:\\.|[^\]\\])*\])|(?P<group>\(\?<(?![=!]))|(?P<end>\$)",
    re.DOTALL,
)


@js_class("RegExp")
class RegExp(JsProxy):
    __slots__ = ("_pattern", "_source", "flags", "lastIndex")

    _source: str
    flags: str

    def __init__(self, source: Any = "", flags: Any = None) -> None:
        if isinstance(source, RegExp):
            flags = source.flags if flags is None else flags
            source = source._source
        self._source = to_string(source)
        self.flags = "".join(sorted("" if flags is None else to_string(flags)))
        self.lastIndex: Any = 0
        if not set(self.flags) <= _KNOWN_FLAGS or len(set(self.flags)) < len(self.flags):
            raise JsException(
                "SyntaxError", f"Invalid flags supplied to RegExp constructor '{flags}'"
            )
        self._pattern = _compiled(self._source, self.flags)

    @js_property
    def source(self) -> str:
        return re.sub(r"(\\.)|/", lambda m: m[1] or "\\/", self._source) or "(?:)"

    @js_property
    def global_(self) -> bool:
        return "g" in self.flags

    @js_method
    def test(self, text: Any = None) -> bool:
        return self._match(text) is not None

    @js_method
    def exec(self, text: Any = None) -> Any:
        found = self._match(text)
        if found is None:
            return jsnull
        result = MatchArray([found[0], *found.groups()])
        groups = found.groupdict()
        result._found = {
            "index": found.start(),
            "input": found.string,
            "groups": JsObject(groups) if groups else None,
        }
        return result

    @js_method
    def toString(self) -> str:
        return self._to_string()

    def _match(self, text: Any) -> re.Match[str] | None:
        source = to_string(text)
        if not set(self.flags) & {"g", "y"}:
            return self._pattern.search(source)
        find = self._pattern.match if "y" in self.flags else self._pattern.search
        found = find(source, self.lastIndex) if self.lastIndex <= len(source) else None
        self.lastIndex = 0 if found is None else found.end()
        return found

    def _to_string(self) -> str:
        return f"/{self.source}/{self.flags}"


class MatchArray(JsArray):
    """What ``exec`` finds: the groups, and where."""

    __slots__ = ("_found",)

    _found: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        if name in self._found:
            return self._found[name]
        return super().__getattr__(name)


def _compiled(source: str, flags: str) -> re.Pattern[str]:
    options = re.ASCII if "u" not in flags and "v" not in flags else 0
    for flag in flags:
        options |= _FLAGS.get(flag, 0)
    end = r"(?=\n|\Z)" if "m" in flags else r"\Z"

    def translated(found: re.Match[str]) -> str:
        match found.lastgroup:
            case "code":
                return re.escape(chr(int(found["code"], 16)))
            case "name":
                return f"(?P={found['name']})"
            case "any":
                return r"[\s\S]"
            case "class":
                return "[" + found[0][1:].replace("[", r"\[")
            case "group":
                return "(?P<"
            case "end":
                return end
        return "/" if found[0] == r"\/" else found[0]

    try:
        return re.compile(_DIALECT.sub(translated, source), options)
    except re.error as error:
        text = "Unterminated group" if "unterminated subpattern" in error.msg else error.msg
        text = "Nothing to repeat" if error.msg.startswith("nothing to repeat") else text
        raise JsException(
            "SyntaxError", f"Invalid regular expression: /{source}/{flags}: {text}"
        ) from None
