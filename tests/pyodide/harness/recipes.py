"""Values out of recipes: JSON that says how a value is made, on either side of the comparison.

A recipe is a list of a kind and its content. `["ref", n]` is the nth container of the whole recipe,
counted as they open: inside of it, the value contains itself.
"""

from __future__ import annotations

import datetime
import decimal

import js


class Plain:
    """An object nobody knows how to convert."""


def function(*args):
    return len(args)


class Builder:
    def __init__(self):
        self._containers = []

    def build(self, recipe):
        kind, *content = recipe
        return getattr(self, f"_{kind.replace('.', '_')}")(*content)

    def _kept(self, container):
        self._containers.append(container)
        return container

    def _ref(self, number):
        return self._containers[number]

    # -- Python -----------------------------------------------------------------------------------

    def _none(self):
        return None

    def _bool(self, value):
        return value

    def _int(self, text):
        return int(text)

    def _float(self, text):
        return float(text)

    def _str(self, text):
        return text

    def _bytes(self, text):
        return bytes.fromhex(text)

    def _bytearray(self, text):
        return bytearray.fromhex(text)

    def _memoryview(self, text):
        return memoryview(bytes.fromhex(text))

    def _datetime(self, text):
        return datetime.datetime.fromisoformat(text)

    def _date(self, text):
        return datetime.date.fromisoformat(text)

    def _decimal(self, text):
        return decimal.Decimal(text)

    def _object(self):
        return Plain()

    def _function(self):
        return function

    def _list(self, items):
        made = self._kept([])
        made.extend(map(self.build, items))
        return made

    def _tuple(self, items):
        return tuple(map(self.build, items))

    def _set(self, items):
        return set(map(self.build, items))

    def _frozenset(self, items):
        return frozenset(map(self.build, items))

    def _dict(self, pairs):
        made = self._kept({})
        for key, value in pairs:
            made[self.build(key)] = self.build(value)
        return made

    # -- JavaScript -------------------------------------------------------------------------------

    def _js_object(self, pairs):
        made = self._kept(js.Object.new())
        for name, value in pairs:
            js.Reflect.set(made, name, self.build(value))
        return made

    def _js_array(self, items):
        made = self._kept(js.Array.new())
        for item in items:
            made.push(self.build(item))
        return made

    def _js_map(self, pairs):
        made = self._kept(js.Map.new())
        for key, value in pairs:
            made.set(self.build(key), self.build(value))
        return made

    def _js_set(self, items):
        made = self._kept(js.Set.new())
        for item in items:
            made.add(self.build(item))
        return made

    def _js_date(self, ms):
        return js.Date.new(ms)

    def _js_typed(self, kind, numbers):
        made = getattr(js, kind).new(len(numbers))
        for index, number in enumerate(numbers):
            made[index] = number
        return made

    def _js_error(self, kind, message):
        return getattr(js, kind).new(message)

    def _js_null(self):
        return js.JSON.parse("null")


def build(recipe):
    return Builder().build(recipe)
