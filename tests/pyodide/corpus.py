"""Recipes of values (harness/recipes.py), drawn by hypothesis.

`python tests/pyodide/corpus.py` draws the ones that are kept anew. They are kept because another
hypothesis draws others from the same seed.
"""

from __future__ import annotations

import datetime
import json
import random
import re
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))

from harness.shapes import is_sound, parts
from hypothesis import HealthCheck, Phase, given, seed, settings, strategies as st

KEPT = Path(__file__).parent / "corpus.json"
KEPT_SEED, KEPT_SIZE = 7, 120
#: Longer recipes only repeat what shorter ones say.
MIN_CHARS, MAX_CHARS = 20, 600
#: Hypothesis varies what it has just drawn: rounds are short, and of so many one is taken.
ROUND, DRAWN_FOR_ONE = 20, 3
MAX_ROUNDS = 10_000

PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
#: What an object's prototype has is not for recipes to set.
NAMES = st.text("ab1_é$-", min_size=1, max_size=3).filter(lambda name: name != "__proto__")
EDGES = [2**31 - 1, 2**31, 2**53 - 2, 2**53 - 1, 2**53, 2**53 + 1, 2**63, 2**64, 10**30]


def of(kind, content):
    return content.map(lambda value: [kind, value])


#: Which characters `repr` shows depends on how new the Python is.
TEXTS = st.text(st.characters(max_codepoint=0x17F), max_size=6) | st.text(
    st.sampled_from("a\0é\u2028\ud800\udfff\U0001f600"), max_size=4
).filter(lambda text: not PAIR.search(text))
NUMBERS = st.integers(-5, 5) | st.sampled_from([*EDGES, *(-edge for edge in EDGES)])
FLOATS = st.floats() | st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.1, 1e20, 2.0**53, 1e300, 5e-324])
BYTES = st.binary(max_size=5).map(bytes.hex)
TIMES = st.datetimes(
    min_value=datetime.datetime(1971, 1, 1), max_value=datetime.datetime(2999, 1, 1)
)

SHARED = st.one_of(
    st.just(["none"]),
    of("bool", st.booleans()),
    of("int", NUMBERS.map(str)),
    of("float", FLOATS.map(repr)),
    of("str", TEXTS),
)
PYTHON = st.one_of(
    of("bytes", BYTES),
    of("bytearray", BYTES),
    of("memoryview", BYTES),
    of("datetime", TIMES.map(lambda time: time.isoformat())),
    of("datetime", TIMES.map(lambda time: f"{time.isoformat()}+02:00")),
    of("date", st.dates().map(lambda date: date.isoformat())),
    of("decimal", st.sampled_from(["1.5", "NaN", "-0"])),
    st.just(["object"]),
    st.just(["function"]),
)
TYPED = {
    "Int8Array": st.integers(-128, 127), "Uint8Array": st.integers(0, 255),
    "Uint8ClampedArray": st.integers(0, 255), "Int16Array": st.integers(-(2**15), 2**15 - 1),
    "Uint32Array": st.integers(0, 2**32 - 1), "Float32Array": st.sampled_from([0, 0.5, -2]),
    "Float64Array": st.sampled_from([0, 0.1, -2]),
}  # fmt: skip
JAVASCRIPT = st.one_of(
    of("js.date", st.integers(-(10**12), 10**13)),
    st.sampled_from(sorted(TYPED)).flatmap(
        lambda kind: st.lists(TYPED[kind], max_size=3).map(lambda held: ["js.typed", kind, held])
    ),
    st.tuples(st.sampled_from(["Error", "TypeError", "RangeError"]), st.text("ab", max_size=3)).map(
        lambda error: ["js.error", *error]
    ),
    st.just(["js.null"]),
)
KEYS = st.one_of(
    of("str", NAMES), of("int", st.integers(-2, 9).map(str)), of("bool", st.booleans())
)
HASHABLE = SHARED | of("bytes", BYTES) | of("tuple", st.lists(SHARED, max_size=2))

#: Python's sets are in an order of their own, which depends on the machine.
UNORDERED = st.lists(HASHABLE, max_size=1) | st.lists(of("int", st.integers(0, 7).map(str)))


def javascript(leaves):
    """Objects of JavaScript: what they hold is JavaScript's too."""
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            of("js.object", st.lists(st.tuples(NAMES, inner).map(list), max_size=3)),
            of("js.array", st.lists(inner, max_size=3)),
            of("js.map", st.lists(st.tuples(SHARED, inner).map(list), max_size=2)),
            of("js.set", st.lists(SHARED, max_size=3)),
        ),
        max_leaves=6,
    )


def python(leaves):
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            of("list", st.lists(inner, max_size=3)),
            of("dict", st.lists(st.tuples(KEYS, inner).map(list), max_size=3)),
            of("tuple", st.lists(inner, max_size=2)),
            of("set", UNORDERED),
            of("frozenset", UNORDERED),
        ),
        max_leaves=8,
    )


def lists(leaves):
    """Containers that may contain themselves. Dicts that do are a case of their own (to_js.py)."""
    return st.recursive(
        leaves,
        lambda inner: of("list", st.lists(inner, max_size=3)),
        max_leaves=6,
    )


REFERENCES = of("ref", st.integers(0, 2))
JS_VALUES = javascript(SHARED | JAVASCRIPT)
RECIPES = st.one_of(
    python(SHARED),
    python(SHARED | PYTHON | JS_VALUES),
    python(PYTHON | KEYS),
    JS_VALUES,
    lists(SHARED | REFERENCES),
    javascript(SHARED | JAVASCRIPT | REFERENCES),
)


def drawn(start, count):
    """`count` different recipes, drawn from a seed."""
    found = {}
    for nth in range(MAX_ROUNDS):
        if len(found) >= DRAWN_FOR_ONE * count:
            break
        found |= {json.dumps(recipe): recipe for recipe in a_round(start * MAX_ROUNDS + nth)}
    mixed = random.Random(start).sample(list(found.values()), len(found))
    return varied(mixed)[:count]


def a_round(start):
    found = []

    @seed(start)
    @settings(
        max_examples=ROUND,
        database=None,
        derandomize=False,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(RECIPES)
    def draw(recipe):
        if MIN_CHARS <= len(json.dumps(recipe)) <= MAX_CHARS and is_sound(recipe):
            found.append(recipe)

    draw()
    return found


def varied(recipes):
    """The same recipes: first those that have a kind of value none before them has."""
    seen, first, later = set(), [], []
    for recipe in recipes:
        new = kinds(recipe) - seen
        seen |= new
        (first if new else later).append(recipe)
    return first + later


def kinds(recipe):
    return {recipe[0]}.union(*map(kinds, parts(recipe)))


def kept():
    return json.loads(KEPT.read_text(encoding="utf-8"))


def written(recipes):
    """One recipe on each line."""
    rows = ",\n".join(json.dumps(recipe, separators=(",", ":")) for recipe in recipes)
    return f"[\n{rows}\n]\n"


if __name__ == "__main__":
    KEPT.write_text(written(drawn(KEPT_SEED, KEPT_SIZE)), encoding="utf-8")
