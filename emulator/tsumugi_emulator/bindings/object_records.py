"""The records of an object under JavaScript keys and values: what storage and transactions share.

Texts and rules: python-workers-verified 3.2. The bytes are in ``durable``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.bindings.object_arguments import (
    check_count,
    check_key,
    check_value,
    is_key_list,
    keys_of,
    list_options,
    pairs_of,
    wrong_type,
)
from tsumugi_emulator.javascript.clone import deserialize
from tsumugi_emulator.javascript.date import JsDate
from tsumugi_emulator.javascript.errors import type_error
from tsumugi_emulator.javascript.maps import JsMap
from tsumugi_emulator.javascript.strings import to_string

if TYPE_CHECKING:
    from tsumugi_emulator.durable.object_file import ObjectFile

#: The runtime keeps times as nanoseconds in 64 bits; its texts name other years.
MAX_DATE_MS = 2**63 / 1e6


class Records:
    """``owner`` is the class whose methods the refusals name."""

    __slots__ = ("_file", "_has_sql", "_owner")

    def __init__(self, file: ObjectFile, owner: str, *, has_sql: bool) -> None:
        self._file = file
        self._owner = owner
        self._has_sql = has_sql

    def get(self, key: Any) -> Any:
        file = self._file
        if is_key_list(key):
            keys = keys_of(key)
            check_count(keys, "keys")
            found = ((name, file.get(check_key(name))) for name in sorted(set(keys)))
            return JsMap((name, deserialize(data)) for name, data in found if data is not None)
        data = file.get(check_key(self._one_key(key, "get")))
        return None if data is None else deserialize(data)

    def put(self, key: Any, values: tuple[Any, ...]) -> None:
        pairs = pairs_of(key, values, owner=self._owner)
        check_count(pairs, "pairs")
        has_sql = self._has_sql
        encoded = [
            (check_key(name), check_value(name, value, has_sql=has_sql)) for name, value in pairs
        ]
        for name, data in encoded:
            self._file.put(name, data)

    def delete(self, key: Any) -> Any:
        if is_key_list(key):
            keys = keys_of(key)
            check_count(keys, "keys")
            return sum(self._file.delete(check_key(name)) for name in keys)
        return self._file.delete(check_key(self._one_key(key, "delete")))

    def list(self, options: Any) -> JsMap:
        rows = self._file.list(**list_options(options, owner=self._owner))
        return JsMap((key, deserialize(data)) for key, data in rows)

    def alarm_time_ms(self, value: Any, *, now_ms: int) -> int:
        """When an alarm set to ``value`` is due: a time that has passed means now.

        Raises:
            JsException: it is no time.
        """
        if isinstance(value, JsDate):
            moment: float = value._ms
        elif isinstance(value, int | float) and type(value) in (int, float):
            moment = value
        else:
            raise wrong_type("setAlarm", self._owner, "date")
        if math.isnan(moment) or math.isinf(moment):
            raise type_error("The value cannot be converted because it is not a valid Date.")
        if abs(moment) >= MAX_DATE_MS:
            side = "after 2189" if moment > 0 else "before 1687"
            raise type_error(f"This API doesn't support dates {side}.")
        if moment <= 0:
            raise type_error("setAlarm() cannot be called with an alarm time <= 0")
        return max(int(moment), now_ms)

    def _one_key(self, value: Any, method: str) -> str:
        if value is None:
            raise wrong_type(method, self._owner, "string or Array")
        return to_string(value)
