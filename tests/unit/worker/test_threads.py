"""Threads that a Worker starts: they run, and are told; with --strict they are refused."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from child_harness import child
from tsumugi_emulator.worker import threads

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE = """
import asyncio, threading
from concurrent.futures import ThreadPoolExecutor
from workers import Response, WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return Response(str({expression}))
"""
STARTS = [
    "[threading.Thread(target=print, args=('',)).start() for _ in range(2)]",
    "list(ThreadPoolExecutor(1).map(abs, [-1]))",
]


@pytest.fixture(autouse=True)
def watched() -> Iterator[None]:
    start = threading.Thread.start
    threads._told.clear()
    threads.apply()
    yield
    threading.Thread.start = start  # type: ignore[method-assign]


@pytest.mark.parametrize("expression", STARTS)
def test_a_thread_runs_and_its_place_is_told_once(expression: str) -> None:
    with child(SOURCE.format(expression=expression)) as it:
        assert it.fetch().status == 200
        assert it.fetch().status == 200
    (told,) = it.warnings
    assert told == f"{it.program.file}:8: {threads.TEXT}"


@pytest.mark.parametrize("expression", STARTS)
def test_a_strict_run_refuses_threads(expression: str) -> None:
    with child(SOURCE.format(expression=expression), strict=True) as it:
        assert it.fetch().summary == "RuntimeError: can't start new thread"


def test_functions_that_run_at_once_are_no_threads() -> None:
    with child(SOURCE.format(expression="await asyncio.to_thread(abs, -1)")) as it:
        assert it.fetch().body == b"1"
    assert it.warnings == []


def test_threads_of_the_emulator_are_its_own() -> None:
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()
    assert threads._told == set()
