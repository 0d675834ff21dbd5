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

    It is compiled for the columns: a dictionary display with the commonest conversions in place
    takes half the time of any loop over names and values. Of columns with one name the last counts;
    names that are numbers come first, as in a JavaScript object.
    """
    from workers.rpc import JsDict

    numbers = {name: int(name) for name in columns if name.isdecimal() and str(int(name)) == name}
    order = sorted(range(len(columns)), key=lambda index: numbers.get(columns[index], math.inf))
    items = ", ".join(
        f"{columns[index]!r}: value if (kind := type(value := row[{index}])) is str"
        " or (kind is int and -1_000_000_000 < value < 1_000_000_000)"
        " else int(value) if kind is float and value.is_integer() and -9e15 < value < 9e15"
        " else read(value)"
        for index in order
    )
    made: Callable[[Row], dict[str, Any]] = eval(
        f"lambda row: record({{{items}}})", {"record": JsDict, "read": read}
    )
    return made
