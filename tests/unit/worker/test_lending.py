"""One terminal for many debuggers: one at a time, in order, and never lost with a process."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from tsumugi_emulator.worker.lending import TerminalLender

if TYPE_CHECKING:
    from tsumugi_emulator.worker.process import WorkerProcess


class Child:
    def __init__(self, name: str, log: list[str]) -> None:
        self._name = name
        self._log = log

    def grant_terminal(self) -> None:
        self._log.append(f"{self._name} has it")


def lender_and_children(*names: str) -> tuple[TerminalLender, list[str], list[WorkerProcess]]:
    log: list[str] = []
    lender = TerminalLender(lambda lent: log.append("keys released" if lent else "keys taken"))
    return lender, log, [cast("WorkerProcess", Child(name, log)) for name in names]


def test_the_keys_are_released_before_a_child_is_told() -> None:
    lender, log, (child,) = lender_and_children("one")
    lender.borrow(child)
    assert log == ["keys released", "one has it"]
    assert lender.lent


def test_a_second_child_waits_for_the_first() -> None:
    lender, log, (one, two) = lender_and_children("one", "two")
    lender.borrow(one)
    lender.borrow(two)
    assert log == ["keys released", "one has it"]
    lender.give_back(one)
    assert log[2:] == ["two has it"]
    lender.give_back(two)
    assert log[3:] == ["keys taken"]
    assert not lender.lent


def test_a_child_that_dies_waiting_is_passed_over() -> None:
    lender, log, (one, two, three) = lender_and_children("one", "two", "three")
    for child in (one, two, three):
        lender.borrow(child)
    lender.give_back(two)
    lender.give_back(one)
    assert log[2:] == ["three has it"]


def test_giving_back_what_one_does_not_have_changes_nothing() -> None:
    lender, log, (one, two) = lender_and_children("one", "two")
    lender.give_back(one)
    lender.borrow(two)
    lender.give_back(one)
    assert log == ["keys released", "two has it"]
