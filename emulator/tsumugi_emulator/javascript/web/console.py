"""``console``: formatted lines for whoever listens to :data:`SINK`."""

from __future__ import annotations

import sys
import time
import traceback
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.arrays import JsArray
from tsumugi_emulator.javascript.buffers import TypedArray
from tsumugi_emulator.javascript.standard import namespace
from tsumugi_emulator.javascript.strings import number_to_string, to_number, to_string, truthy
from tsumugi_emulator.javascript.values import JsObject, JsProxy, JsSymbol
from tsumugi_emulator.javascript.web.inspect import inspect

if TYPE_CHECKING:
    from collections.abc import Callable


def _to_standard_streams(level: str, text: str) -> None:
    stream = sys.stderr if level in ("warn", "error") else sys.stdout
    print(text, file=stream)


#: One function of (level, text). Levels: log, info, debug, warn, error.
SINK: list[Callable[[str, str], None]] = [_to_standard_streams]

_timers: dict[str, float] = {}
_counts: dict[str, int] = {}
_indent = [""]


def emit(level: str, text: str) -> None:
    indent = _indent[0]
    SINK[0](level, text.replace("\n", f"\n{indent}").join((indent, "")) if indent else text)


def format_arguments(args: tuple[Any, ...]) -> str:
    """The line for ``console.log(*args)``, with printf-style directives in a first string."""
    rest = list(args)
    parts = []
    if len(rest) > 1 and isinstance(rest[0], str) and "%" in rest[0]:
        parts.append(_substitute(rest.pop(0), rest))
    parts += [arg if isinstance(arg, str) else inspect(arg) for arg in rest]
    return " ".join(parts)


def _substitute(template: str, args: list[Any]) -> str:
    """Replace directives, taking what they use off ``args``."""
    out = []
    index = 0
    while index < len(template):
        directive = template[index : index + 2]
        if directive == "%%":
            out.append("%")
            index += 2
        elif directive in _DIRECTIVES and args:
            out.append(_DIRECTIVES[directive](args.pop(0)))
            index += 2
        else:
            out.append(template[index])
            index += 1
    return "".join(out)


def _integer(value: Any) -> str:
    number = NAN if isinstance(value, JsProxy | JsSymbol) else to_number(value)
    return str(int(number)) if abs(number) < float("inf") else "NaN"


def _number(value: Any) -> str:
    number = NAN if isinstance(value, JsProxy | JsSymbol) else to_number(value)
    return number_to_string(number)


def _json(value: Any) -> str:
    from tsumugi_emulator.javascript.json_text import stringify

    return to_string(stringify(value))


NAN = float("nan")

_DIRECTIVES: dict[str, Callable[[Any], str]] = {
    "%s": lambda value: inspect(value) if isinstance(value, JsProxy) else to_string(value),
    "%d": _number,
    "%i": _integer,
    "%f": _number,
    "%j": _json,
    "%o": inspect,
    "%O": inspect,
    "%c": lambda _style: "",
}


def _logger(level: str) -> Callable[..., None]:
    return lambda *args: emit(level, format_arguments(args))


def _trace(*args: Any) -> None:
    stack = "".join(traceback.format_stack(limit=10)[:-3]).rstrip()
    emit("log", f"Trace: {format_arguments(args)}\n{stack}")


def _assert(condition: Any = None, *args: Any) -> None:
    if not truthy(condition):
        text = format_arguments(args)
        emit("error", f"Assertion failed: {text}" if text else "Assertion failed")


def _label(value: Any) -> str:
    return "default" if value is None else to_string(value)


def _time(label: Any = None) -> None:
    _timers[_label(label)] = time.perf_counter()


def _time_log(label: Any = None, *args: Any) -> None:
    name = _label(label)
    started = _timers.get(name)
    if started is None:
        emit("warn", f"Warning: No such label '{name}' for console.timeLog()")
        return
    elapsed = f"{name}: {(time.perf_counter() - started) * 1000:.3f}ms"
    emit("log", f"{elapsed} {format_arguments(args)}" if args else elapsed)


def _time_end(label: Any = None) -> None:
    _time_log(label)
    _timers.pop(_label(label), None)


def _count(label: Any = None) -> None:
    name = _label(label)
    _counts[name] = _counts.get(name, 0) + 1
    emit("log", f"{name}: {_counts[name]}")


def _group(*args: Any) -> None:
    if args:
        emit("log", format_arguments(args))
    _indent[0] += "  "


def _group_end() -> None:
    _indent[0] = _indent[0][:-2]


def _table(data: Any = None, *_rest: Any) -> None:
    if not isinstance(data, JsArray | JsObject):
        emit("log", format_arguments((data,)))
        return
    columns = ["(index)"]
    rows = []
    for index, row in data._entries().items():
        cells = {"(index)": index}
        if isinstance(row, JsObject | JsArray | TypedArray):
            cells |= {key: inspect(value) for key, value in row._entries().items()}
        else:
            cells["Values"] = inspect(row)
        columns += [key for key in cells if key not in columns]
        rows.append(cells)
    emit("log", _draw(columns, rows))


def _draw(columns: list[str], rows: list[dict[str, str]]) -> str:
    widths = [max(len(row.get(name, "")) for row in [*rows, {name: name}]) + 2 for name in columns]

    def line(left: str, middle: str, right: str) -> str:
        return left + middle.join("─" * width for width in widths) + right

    def cells(row: dict[str, str]) -> str:
        shown = (
            f" {row.get(name, '')}".ljust(width)
            for name, width in zip(columns, widths, strict=True)
        )
        return "│" + "│".join(shown) + "│"

    head = cells({name: name for name in columns})
    body = [cells(row) for row in rows]
    return "\n".join([line("┌", "┬", "┐"), head, line("├", "┼", "┤"), *body, line("└", "┴", "┘")])


console = namespace(
    "console",
    {
        **{level: _logger(level) for level in ("log", "info", "debug", "warn", "error")},
        "assert": _assert,
        "clear": lambda: None,
        "count": _count,
        "countReset": lambda label=None: _counts.pop(_label(label), None) and None,
        "dir": lambda value=None, *_options: emit("log", inspect(value)),
        "group": _group,
        "groupCollapsed": _group,
        "groupEnd": _group_end,
        "table": _table,
        "time": _time,
        "timeEnd": _time_end,
        "timeLog": _time_log,
        "trace": _trace,
    },
)
