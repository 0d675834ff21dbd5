"""Code that raises the limit of recursion cannot turn endless recursion into endless memory."""

from __future__ import annotations

import sys

import pytest
from tsumugi_emulator.worker import recursion


@pytest.fixture
def set_limits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The limits that took effect."""
    limits: list[int] = []
    monkeypatch.setattr(sys, "setrecursionlimit", limits.append)
    recursion.cap()
    return limits


@pytest.mark.parametrize(("wanted", "set_limit"), [(5000, 5000), (10**9, recursion.MAX_RECURSION)])
def test_a_limit_is_set_unless_it_is_too_high(
    set_limits: list[int], wanted: int, set_limit: int
) -> None:
    sys.setrecursionlimit(wanted)
    assert set_limits == [set_limit]
