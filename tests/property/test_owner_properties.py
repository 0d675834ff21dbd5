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


class Model:
    """Who holds what and who waits, kept apart from the code under test."""

    def __init__(self) -> None:
        self.owners: Owners[str] = Owners()
        self.held: dict[str, str] = {}
        self.waiting: dict[str, list[str]] = {"k": [], "l": []}

    def granted(self, granted: Granted[str] | None) -> None:
        if granted is not None:
            assert granted.key not in self.held
            assert self.waiting[granted.key].pop(0) == granted.child
            self.held[granted.key] = granted.child

    def acquire(self, child: str, key: str) -> None:
        if self.held.get(key) == child or child in self.waiting[key]:
            return  # a child asks once
        self.waiting[key].append(child)
        answer = self.owners.acquire(child, key)
        if isinstance(answer, Granted):
            self.granted(answer)

    def release(self, child: str, key: str) -> None:
        if self.held.get(key) == child:
            del self.held[key]
            self.granted(self.owners.release(child, key))

    def gone(self, child: str, _key: str) -> None:
        self.held = {key: owner for key, owner in self.held.items() if owner != child}
        for line in self.waiting.values():
            if child in line:
                line.remove(child)
        for granted in self.owners.gone(child):
            self.granted(granted)


@given(STEPS)
def test_an_object_has_one_owner_and_nobody_waits_for_a_free_one(
    steps: list[tuple[str, str, str]],
) -> None:
    model = Model()
    for step, child, key in steps:
        getattr(model, step)(child, key)
        for name in ("k", "l"):
            assert model.owners.owner(name) == model.held.get(name)
            assert not model.waiting[name] or name in model.held
