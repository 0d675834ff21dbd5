"""At any time one child owns an object, and whoever asked is served."""

from __future__ import annotations

from hypothesis import given, strategies as st
from tsumugi_emulator.durable.owners import Granted, Owners

CHILDREN = ("a", "b", "c")
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["acquire", "release", "gone"]),
        st.sampled_from(CHILDREN),
        st.sampled_from(["k", "l"]),
    ),
    max_size=60,
)


@given(STEPS)
def test_an_object_has_one_owner_and_nobody_waits_for_a_free_one(
    steps: list[tuple[str, str, str]],
) -> None:
    owners: Owners[str] = Owners()
    held: dict[str, str] = {}
    waiting: dict[str, list[str]] = {"k": [], "l": []}

    def grant(granted: Granted[str] | None) -> None:
        if granted is not None:
            assert granted.key not in held
            assert waiting[granted.key].pop(0) == granted.child
            held[granted.key] = granted.child

    for step, child, key in steps:
        if step == "acquire":
            if held.get(key) == child or child in waiting[key]:
                continue  # a child asks once
            waiting[key].append(child)
            answer = owners.acquire(child, key)
            if isinstance(answer, Granted):
                grant(answer)
        elif step == "release":
            if held.get(key) == child:
                del held[key]
                grant(owners.release(child, key))
        else:
            for owned in [k for k, owner in held.items() if owner == child]:
                del held[owned]
            for line in waiting.values():
                if child in line:
                    line.remove(child)
            for granted in owners.gone(child):
                grant(granted)
        for name in ("k", "l"):
            assert owners.owner(name) == held.get(name)
            assert not waiting[name] or name in held
