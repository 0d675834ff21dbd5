"""Rows of SQLite as the records the SDK makes of JavaScript objects. No statement, no binding."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.storage.engine import Row

#: Functions kept, one for each list of columns.
MAX_MAKERS = 512


@lru_cache(MAX_MAKERS)
def record_maker(
    columns: tuple[str, ...], read: Callable[[Any], Any]
) -> Callable[[Row], dict[str, Any]]:
    """Makes the SDK's ``JsDict`` of a row; ``read`` converts the less common values.

    It is compiled for the columns: with each item set by name and the commonest conversions in
    place it takes half the time of any loop over names and values. Of columns with one name the
    last counts; names that are numbers come first, as in a JavaScript object.
    """
    from workers.rpc import JsDict

    numbers = {name: int(name) for name in columns if name.isdecimal() and str(int(name)) == name}
    order = sorted(range(len(columns)), key=lambda index: numbers.get(columns[index], math.inf))
    values = "".join(f"value{index}, " for index in range(len(columns)))
    items = "".join(f"    made[{columns[index]!r}] = {_READ.format(index)}\n" for index in order)
    source = f"def make(row):\n    [{values}] = row\n    made = record()\n{items}    return made\n"
    scope: dict[str, Any] = {"record": JsDict, "read": read}
    exec(source, scope)
    made: Callable[[Row], dict[str, Any]] = scope["make"]
    return made


#: A value as Python sees it, for ``format``.
_READ = (
    "value{0} if (kind := type(value{0})) is str"
    " or (kind is int and -1_000_000_000 < value{0} < 1_000_000_000)"
    " else int(value{0}) if kind is float and value{0}.is_integer() and -9e15 < value{0} < 9e15"
    " else read(value{0})"
)
