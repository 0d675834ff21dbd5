from __future__ import annotations

from tsumugi_emulator.durable.owners import Granted, Owners, Waits


def test_the_first_who_asks_owns_and_the_next_waits() -> None:
    owners: Owners[str] = Owners()
    assert owners.acquire("old", "k") == Granted("old", "k", contended=False)
    assert owners.acquire("new", "k") == Waits("old", "k")
    assert owners.release("old", "k") == Granted("new", "k", contended=False)
    assert owners.release("new", "k") is None
    assert owners.owner("k") is None


def test_those_who_wait_are_served_in_order_and_told_of_each_other() -> None:
    owners: Owners[str] = Owners()
    for child in ("a", "b", "c"):
        owners.acquire(child, "k")
    assert owners.release("a", "k") == Granted("b", "k", contended=True)
    assert owners.release("b", "k") == Granted("c", "k", contended=False)


def test_a_process_that_ends_frees_what_it_held_and_waits_for_nothing() -> None:
    owners: Owners[str] = Owners()
    owners.acquire("old", "held")
    owners.acquire("new", "held")
    owners.acquire("new", "other")
    owners.acquire("old", "other")
    owners.acquire("old", "alone")
    assert owners.gone("old") == [Granted("new", "held", contended=False)]
    assert owners.release("new", "other") is None
    assert owners.owner("alone") is None


def test_objects_are_independent_of_each_other() -> None:
    owners: Owners[str] = Owners()
    owners.acquire("a", "k")
    assert owners.acquire("b", "l") == Granted("b", "l", contended=False)
