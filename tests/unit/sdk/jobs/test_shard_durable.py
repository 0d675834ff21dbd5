"""The shard as a Durable Object of the local runtime: through the real SDK, on a real file."""

from __future__ import annotations

import ast
import asyncio
import json
import textwrap
from typing import TYPE_CHECKING, Any

import pytest
from local_d1 import LocalD1
from object_harness import ObjectsUnderTest, objects_child
from snapshot_builder import finished
from tsumugi import Tsumugi
from tsumugi.jobs.read_model import MissingMigrations
from tsumugi.jobs.settings import Binding, EnvNames, Settings
from tsumugi.jobs.shard.durable import JobShardBehaviour, ObjectPlatform, identity_of
from tsumugi.jobs.stubs import MissingBinding

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tsumugi.jobs.shard.measuring import Point

PROGRAM = """
import json
from tsumugi import EnvNames, JobShard, Performer, Tsumugi

class Mail(Performer):
    def perform(self, payload, ctx):
        pass

tsumugi = Tsumugi(performers=[Mail], env=EnvNames(queue="QUEUE"))

class Shard(JobShard, app=tsumugi):
    pass

async def call(env, method, request=None, name="Mail#0"):
    texts = () if request is None else (json.dumps(request),)
    return json.loads(await getattr(env.SHARD.getByName(name), method)(*texts))

async def main(env):
{code}
"""


@pytest.fixture
def child(tmp_path: Path) -> Callable[..., Any]:
    """Runs code with ``env`` and ``call`` in a Worker; all of them use the same objects on disk.

    What it returns is JSON text. ``check`` looks at the Worker before it ends.
    """

    def run(code: str, check: Callable[[ObjectsUnderTest], None] = lambda child: None) -> Any:
        body = textwrap.indent(textwrap.dedent(code), "    ")
        with objects_child(PROGRAM.replace("{code}", body), tmp_path) as child:
            text = ast.literal_eval(child.text())
            check(child)
        return json.loads(text)

    return run


ENQUEUE = 'await call(env, "enqueue", {"jobs": [{"payload": {"a": 1}}, {"payload": 2}]})'


def bodies(child: ObjectsUnderTest) -> list[Any]:
    return [json.loads(body) for body in child.messages_sent]


def test_jobs_that_are_enqueued_leave_as_text_messages(child: Callable[..., Any]) -> None:
    sent: list[Any] = []

    def check(under_test: ObjectsUnderTest) -> None:
        under_test.settle()
        sent.extend(bodies(under_test))

    stats = child(f'{ENQUEUE}\nreturn json.dumps(await call(env, "stats"))', check)
    assert stats["counts"]["SCHEDULED"] + stats["counts"]["QUEUED"] == 2
    assert [each["payload"] for each in sent] == [{"a": 1}, 2]


def test_the_alarm_goes_on_where_it_is_due(child: Callable[..., Any]) -> None:
    code = """
    await call(env, "enqueue", {"jobs": [{"payload": 1, "delay_ms": 60_000}]})
    return json.dumps(await call(env, "diagnostics"))
    """
    sent: list[Any] = []

    def check(under_test: ObjectsUnderTest) -> None:
        under_test.run_alarm("Shard", "Mail#0")
        under_test.settle()
        sent.extend(bodies(under_test))

    told = child(code, check)
    assert told["alarm_at"] - told["at"] <= 500
    assert sent == []  # the object's clock is the machine's: nothing is due


def test_what_was_written_is_there_for_the_next_child(child: Callable[..., Any]) -> None:
    child(f"{ENQUEUE}\nreturn json.dumps(1)")
    told = child('return json.dumps(await call(env, "diagnostics"))')
    assert sum(told["counts"].values()) == 2
    assert told["binding"] == "Mail"


def test_a_whole_life_over_rpc(child: Callable[..., Any]) -> None:
    code = """
    import asyncio
    once = {"payload": 1, "guarantee": "at-most-once"}
    ids = (await call(env, "enqueue", {"jobs": [once]}))["ids"]
    await asyncio.sleep(0.01)
    job = {"id": ids[0].rpartition(":")[2], "epoch": 1}
    begun = await call(env, "begin", {"jobs": [{**job, "claim": True, "payload": True}]})
    job |= {"outcome": "succeeded", "started_ms": 1, "finished_ms": 2, "result": {"x": None}}
    stale = await call(env, "settle", {"reports": [job]})
    shown = await call(env, "show", {"ids": [job["id"]]})
    return json.dumps([begun, stale, shown["jobs"][0]["state"], shown["jobs"][0]["result"]])
    """
    assert child(code) == [
        {"jobs": [{"refused": None, "payload": 1}]},
        {"stale": []},
        "COMPLETED",
        {"x": None},
    ]


def test_what_a_call_lacks_reaches_the_caller(child: Callable[..., Any]) -> None:
    code = """
    from pyodide.ffi import JsException
    try:
        await call(env, "enqueue", {"jobs": [{}]})
    except JsException as error:
        return json.dumps(error.message.strip().splitlines()[-1])
    """
    assert "the request of enqueue() is malformed: KeyError: 'payload'" in child(code)


def test_an_object_that_is_no_shard_says_how_to_address_one(child: Callable[..., Any]) -> None:
    code = """
    from pyodide.ffi import JsException
    try:
        return json.dumps(await call(env, "stats", name="mail"))
    except JsException as error:
        return json.dumps(error.message.strip().splitlines()[-1])
    """
    assert "'mail', which is no shard" in child(code)


class TestIdentity:
    SETTINGS = Settings(bindings={"Mail": Binding(shards=4)}, env=EnvNames())

    def test_the_name_of_the_object_says_which_shard_it_is(self) -> None:
        identity = identity_of("Mail#3", self.SETTINGS)
        assert (identity.binding, identity.shard, identity.name) == ("Mail", 3, "Mail#3")

    @pytest.mark.parametrize("name", [None, "", "Mail", "Mail#", "Mail#x", "#1"])
    def test_any_other_name_is_refused(self, name: str | None) -> None:
        with pytest.raises(ValueError, match="no shard"):
            identity_of(name, self.SETTINGS)

    def test_a_binding_that_left_the_code_keeps_its_jobs(self) -> None:
        assert identity_of("Old#0", self.SETTINGS).binding == "Old"


class Held:
    """Whatever is asked of it; calls are noted."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)
        self.calls: list[Any] = []

    async def sendBatch(self, messages: list[Any]) -> None:
        self.calls.append(messages)

    def writeDataPoint(self, point: Any) -> None:
        self.calls.append(point)


class TestBindings:
    def platform(self, **env: Any) -> ObjectPlatform:
        storage = Held(sql=Held(exec=None), transactionSync=None)
        return ObjectPlatform(Held(storage=storage), Held(**env), Settings(bindings={}))

    def test_a_batch_is_sent_as_texts(self) -> None:
        queue = Held()
        asyncio.run(self.platform(TSUMUGI_QUEUE=queue).send(["a", "b"]))
        expected = [{"body": "a", "contentType": "text"}, {"body": "b", "contentType": "text"}]
        assert queue.calls == [expected]

    def test_what_is_missing_is_named_with_the_entry_to_add(self) -> None:
        platform = self.platform()
        with pytest.raises(MissingBinding, match="TSUMUGI_QUEUE is missing"):
            asyncio.run(platform.send(["a"]))
        with pytest.raises(MissingBinding, match="TSUMUGI_DB is missing"):
            asyncio.run(platform.project([]))

    def test_a_database_without_its_tables_is_told_with_what_to_run(self) -> None:
        database = LocalD1(migrated=False)
        step = r"lacks the migrations 0001_tsumugi_jobs\.sql\..*d1 migrations apply TSUMUGI_DB"
        with pytest.raises(MissingMigrations, match=step):
            asyncio.run(self.platform(TSUMUGI_DB=database).project([finished(1)]))

    def test_metrics_are_written_where_there_is_a_dataset(self) -> None:
        point: Point = {"indexes": ["Mail"], "blobs": [], "doubles": [1]}
        self.platform().measure([point])
        dataset = Held()
        self.platform(TSUMUGI_METRICS=dataset).measure([point, point])
        assert dataset.calls == [point, point]

    def test_metrics_that_cannot_be_written_are_told_and_forgotten(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        self.platform(TSUMUGI_METRICS=object()).measure(
            [{"indexes": [], "blobs": [], "doubles": []}]
        )
        assert "writeDataPoint" in caplog.text


def test_without_a_runtime_the_class_can_be_made_all_the_same() -> None:
    made = Tsumugi(performers=[]).JobShard
    assert made.__name__ == "JobShard"
    methods = {name for name in vars(JobShardBehaviour) if name[0] != "_"}
    assert methods == {"alarm", "begin", "control", "enqueue", "set_policy", "settle"} | TELLING


TELLING = {"diagnostics", "stats", "show"}
