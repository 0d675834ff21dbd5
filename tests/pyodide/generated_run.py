"""Draw values anew and compare what both sides make of them.

`python tests/pyodide/generated_run.py <seed> <count> [version...]` prints the differences, each
with the smallest value that shows it.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))

import compare
import corpus
import emulator_run
import judge
from harness.shapes import is_sound, parts

MODULE = "generated"
#: Rounds of looking for smaller values, and values tried in each.
ROUNDS, TRIED = 6, 200


def differences(version, recipes):
    """What the sides say differently: number of the recipe -> differences."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "corpus.json"
        path.write_text(corpus.written(recipes), encoding="utf-8")
        real = judge.record(judge.GENERATIONS[version], MODULE, corpus=path)
        emulated = emulator_run.run(version, MODULE, corpus=path)
    found = {}
    for difference in compare.differences(MODULE, real[MODULE], emulated[MODULE]):
        number = difference.where.partition(": ")[2].partition(" ")[0]
        found.setdefault(int(number) if number.isdigit() else -1, []).append(difference)
    return found


def smallest(version, recipe, shown):
    """The smallest part of `recipe` that shows a difference too, and what it shows."""
    for _ in range(ROUNDS):
        smaller = list(unlike(shrunk(recipe)))[:TRIED]
        found = differences(version, smaller) if smaller else {}
        if not found:
            break
        number = min(found, key=lambda number: len(json.dumps(smaller[number])))
        recipe, shown = smaller[number], found[number]
    return recipe, shown


def shrunk(recipe):
    """Recipes of less: a part of the value, or the value without one of its parts."""
    yield from parts(recipe)
    kind, *content = recipe
    if kind not in SHRINKING:
        return
    (items,) = content
    for index, item in enumerate(items):
        yield [kind, items[:index] + items[index + 1 :]]
        for less in SHRINKING[kind](item):
            yield [kind, [*items[:index], less, *items[index + 1 :]]]


def shrunk_pairs(item):
    key, value = item
    yield from ([key, less] for less in shrunk(value))


#: Kind -> what is less than one of its items.
SHRINKING = dict.fromkeys(("list", "tuple", "set", "frozenset", "js.array", "js.set"), shrunk)
SHRINKING |= dict.fromkeys(("dict", "js.object", "js.map"), shrunk_pairs)


def unlike(recipes):
    seen = set()
    for recipe in recipes:
        text = json.dumps(recipe)
        if text not in seen and is_sound(recipe):
            seen.add(text)
            yield recipe


def report(version, recipes):
    """Lines that tell each kind of difference by its smallest value."""
    found = differences(version, recipes)
    if -1 in found:
        return [str(difference) for difference in found[-1]]
    if not found:
        return []
    first = min(found, key=lambda number: len(json.dumps(recipes[number])))
    recipe, shown = smallest(version, recipes[first], found[first])
    others = f"{len(found)} of {len(recipes)} values differ with Python {version}; the smallest is"
    return [f"{others} {json.dumps(recipe)}", *map(str, shown)]


def main():
    start, count, *versions = sys.argv[1:]
    recipes = corpus.drawn(int(start), int(count))
    for version in versions or judge.GENERATIONS:
        print("\n".join([f"Python {version}:", *report(version, recipes)]))


if __name__ == "__main__":
    main()
