"""A Worker with jobs has the bindings that keep, carry and list them."""

from __future__ import annotations

from typing import Any

import pytest
from checking import CONFIGURATION, MAIN, Workers, configuration, expect
from tsumugi import EnvNames
from tsumugi_emulator.check.rules import jobs

WORKER = """\
from tsumugi import Entrypoint, JobShard, Performer, Tsumugi

class Send(Performer[str]):
    async def perform(self, payload, ctx): ...

tsumugi = Tsumugi(performers=[Send])

class Jobs(JobShard, app=tsumugi): ...

class Default(Entrypoint, app=tsumugi): ...
"""
COMPLETE: dict[str, Any] = {
    "durable_objects": {"bindings": [{"name": "TSUMUGI_SHARD", "class_name": "Jobs"}]},
    "migrations": [{"tag": "v1", "new_sqlite_classes": ["Jobs"]}],
    "queues": {
        "producers": [{"binding": "TSUMUGI_QUEUE", "queue": "work"}],
        "consumers": [{"queue": "work"}],
    },
    "d1_databases": [{"binding": "TSUMUGI_DB", "database_name": "lists"}],
}


def told(text: str = WORKER, **changed: Any) -> list[tuple[str, str, str]]:
    """Code, message and next step of what is said of jobs."""
    fields = {name: value for name, value in {**COMPLETE, **changed}.items() if value is not None}
    files = {MAIN: text, CONFIGURATION: configuration(**fields)}
    return [
        (one.code, one.message, one.next_step)
        for one in Workers(files).findings()
        if one.code in ("TSU608", "TSU609", "TSU610")
    ]


def test_a_performer_has_the_env_and_the_loop_of_its_worker() -> None:
    head, _, tail = WORKER.partition("async def perform(self, payload, ctx): ...")
    body = """async def perform(self, payload, ctx):
        self.env["KV"]  #! TSU430
        asyncio.create_task(ctx.log("x"))  #! TSU504
        await asyncio.create_task(ctx.log("x"))

class Own:
    async def perform(self, payload, ctx):
        self.env["KV"]
"""
    expect(f"import asyncio\n{head}{body}{tail}", **COMPLETE)


def test_the_names_are_those_of_the_sdk() -> None:
    names = EnvNames()
    assert (names.shard, names.queue, names.database) == (jobs.SHARD, jobs.QUEUE, jobs.DATABASE)


def test_complete_jobs_have_no_fault() -> None:
    expect(WORKER, **COMPLETE)


def test_a_shard_without_its_binding_is_told_the_entry_to_add() -> None:
    other = {"bindings": [{"name": "SHARD", "class_name": "Jobs"}]}
    for objects in (None, other):
        [(code, message, step)] = told(durable_objects=objects)
        assert (code, message.split(",")[0]) == ("TSU608", "Jobs keeps jobs")
        assert '{ "name": "TSUMUGI_SHARD", "class_name": "Jobs" }' in step


def test_a_shard_needs_sqlite() -> None:
    [(code, _, step)] = told(migrations=[{"tag": "v1", "new_classes": ["Jobs"]}])
    assert (code, step) == ("TSU608", 'Write "new_sqlite_classes": ["Jobs"] in the migration.')


@pytest.mark.parametrize(
    ("queues", "said"),
    [
        (None, "env.TSUMUGI_QUEUE"),
        ({"producers": COMPLETE["queues"]["producers"]}, '"work", which this Worker does not'),
    ],
)
def test_jobs_need_a_queue_that_the_worker_consumes(queues: Any, said: str) -> None:
    [(code, message, _)] = told(queues=queues)
    assert code == "TSU608"
    assert said in message


def test_jobs_without_a_database_run_but_are_not_listed() -> None:
    [(code, _, step)] = told(d1_databases=None)
    assert code == "TSU609"
    assert "tsumugi jobs migrations" in step


MORE_QUEUES: dict[str, Any] = {
    "producers": [*COMPLETE["queues"]["producers"], {"binding": "MAIL", "queue": "mail"}],
    "consumers": [
        {"queue": "work", "dead_letter_queue": "worn"},
        {"queue": "worn"},
        {"queue": "mail"},
    ],
}


def test_a_queue_beside_that_of_jobs_needs_a_handler() -> None:
    [(code, message, step)] = told(queues=MORE_QUEUES)
    assert (code, message.split(" go to ")[0]) == ("TSU610", 'Messages of "mail"')
    assert "queue(self, batch, env=None, ctx=None)" in step  # as it has to be written (TSU101)
    assert "super().queue(batch)" in step


@pytest.mark.parametrize(
    "body",
    [
        "async def queue(self, batch): ...",
        "queue = something",
    ],
)
def test_a_handler_of_its_own_may_tell_queues_apart(body: str) -> None:
    own = WORKER.replace(
        "class Default(Entrypoint, app=tsumugi): ...",
        f"class Default(Entrypoint, app=tsumugi):\n    {body}\n",
    )
    assert told(own, queues=MORE_QUEUES) == []


@pytest.mark.parametrize(
    "text",
    [
        WORKER.replace("import Entrypoint", "import EnvNames, Entrypoint"),
        f"import tsumugi as jobs\n{WORKER}",
        # It performs for another Worker, which keeps the jobs.
        WORKER.replace("class Jobs(JobShard, app=tsumugi): ...", ""),
    ],
)
def test_bindings_that_may_be_called_otherwise_or_are_not_needed_are_not_missed(text: str) -> None:
    assert told(text, durable_objects=None, queues=None, d1_databases=None) == []
