"""Whatever is projected, replayed and cleaned up: rows and counts are what they must be."""

from __future__ import annotations

import asyncio
from collections import Counter

from hypothesis import given, settings, strategies as st
from local_d1 import LocalD1
from snapshot_builder import T0, snapshot
from tsumugi.jobs.core.states import TERMINAL, JobState
from tsumugi.jobs.read_model import cleanup, project
from tsumugi.jobs.read_model.queries import counts

CLEAN = "clean"
#: A job, a version and the state it then was in; or the age from which on jobs are forgotten.
TOLD = st.tuples(st.integers(0, 5), st.integers(1, 8), st.sampled_from(list(JobState)))
BINDINGS = ("A", "B")


def binding_of(number: int) -> str:
    return BINDINGS[number % 2]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(TOLD, max_size=8) | st.integers(0, 8).map(lambda age: (CLEAN, age))))
def test_the_newest_snapshot_of_each_job_stays_and_counts_agree(
    steps: list[list[tuple[int, int, JobState]] | tuple[str, int]],
) -> None:
    model: dict[int, tuple[int, JobState]] = {}
    database = LocalD1()
    for step in steps:
        if isinstance(step, tuple):
            _, age = step
            asyncio.run(cleanup(database, now_ms=T0 + age, retention_ms=0, rows=2))
            for number, (version, state) in list(model.items()):
                if state in TERMINAL and version < age:
                    del model[number]
        else:
            told = [
                snapshot(
                    number, state, version, binding=binding_of(number), updated_at=T0 + version
                )
                for number, version, state in _coherent(step)
            ]
            asyncio.run(project(database, told))
            for number, version, state in _coherent(step):
                if version > model.get(number, (0, state))[0]:
                    model[number] = (version, state)
    rows = database.rows("SELECT id, version, state FROM tsumugi_jobs")
    assert {int(row[0].rpartition(":")[2], 16): row[1:] for row in rows} == model
    expected = Counter((binding_of(number), state) for number, (_, state) in model.items())
    found = asyncio.run(counts(database)).by_binding
    assert {
        (binding, state): jobs for binding, of_it in found.items() for state, jobs in of_it.items()
    } == expected
    database.store.close()


def _coherent(step: list[tuple[int, int, JobState]]) -> list[tuple[int, int, JobState]]:
    """One state for each version of a job: a shard tells no two stories."""
    seen: dict[tuple[int, int], JobState] = {}
    for number, version, state in step:
        seen.setdefault((number, version), state)
    return [(number, version, state) for (number, version), state in seen.items()]
