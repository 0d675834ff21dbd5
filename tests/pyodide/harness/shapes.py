"""What recipes are made of (recipes.py builds them). Pure: runs anywhere."""

from __future__ import annotations

CONTAINERS = ("list", "dict", "js.object", "js.array", "js.map", "js.set")


def has_cycle(recipe):
    """Whether the value contains itself."""
    return _cycles(recipe, [0], set())


def _cycles(recipe, opened, inside):
    kind, *content = recipe
    if kind == "ref":
        return content[0] in inside
    if kind in CONTAINERS:
        number, opened[0] = opened[0], opened[0] + 1
        inside = inside | {number}
    return any(_cycles(part, opened, inside) for part in parts(recipe))


def parts(recipe):
    """The recipes of what the value directly consists of."""
    kind, *content = recipe
    if kind in ("list", "tuple", "set", "frozenset", "js.array", "js.set"):
        return content[0]
    if kind in ("dict", "js.map"):
        return [part for pair in content[0] for part in pair]
    return [value for _, value in content[0]] if kind == "js.object" else []


def is_sound(recipe):
    """Whether every reference is to a container that has opened before."""
    return _sound(recipe, [0])


def _sound(recipe, opened):
    kind, *content = recipe
    if kind == "ref":
        return content[0] < opened[0]
    opened[0] += kind in CONTAINERS
    return all(_sound(part, opened) for part in parts(recipe))
