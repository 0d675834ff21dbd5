from __future__ import annotations

import pytest
from checking import expect_in_handler, expect_in_object

OLD_PYTHON = "2025-09-01"


def test_tuples_do_not_cross_at_any_depth() -> None:
    expect_in_handler("""
        await self.env.JOBS.send((1, 2))  #! TSU401
        await self.env.JOBS.send({"a": [1, (2, 3)]})  #! TSU401
        await self.env.JOBS.sendBatch([{"body": (1, 2)}])  #! TSU401
        await self.env.JOBS.sendBatch([{"body": (job, 1)} for job in batch.messages])  #! TSU401
        await self.env.KV.put("key", bytearray(b"a"))  #! TSU401
        await self.env.DB.batch((one, two))  #! TSU401
        await self.env.OTHER.add((1, 2))  #! TSU401
        await self.env.JOBS.send([1, 2])
        await self.env.JOBS.send({"a": list((1, 2))})
        await self.env.JOBS.send(body)
    """)


def test_a_named_tuple_of_the_file_is_a_tuple() -> None:
    expect_in_handler(
        """
        await self.env.JOBS.send(Point(1, 2))  #! TSU401
        await self.env.JOBS.send(Point(1, 2)._asdict())
        """,
        imports="""
        from typing import NamedTuple

        class Point(NamedTuple):
            x: int
            y: int
        """,
    )


def test_json_loses_sets_bytes_and_objects() -> None:
    expect_in_handler(
        """
        await self.env.JOBS.send({1, 2})  #! TSU402
        await self.env.JOBS.send({"tags": {name for name in names}})  #! TSU402
        await self.env.JOBS.send(b"raw")  #! TSU402
        await self.env.JOBS.send({"at": date.today()})  #! TSU402
        await self.env.JOBS.send(Job(1))  #! TSU402
        await self.env.JOBS.sendBatch([{"body": Decimal("1")}])  #! TSU402
        await self.env.JOBS.send({1, 2}, contentType="v8")
        await self.env.JOBS.send(b"raw", contentType="bytes")
        await self.env.JOBS.sendBatch([{"body": b"raw", "contentType": "bytes"}])
        await self.env.JOBS.send(asdict(Job(1)))
        await self.env.JOBS.send(datetime.now())
        await self.env.JOBS.send({1, 2}, options)
        """,
        imports="""
        from dataclasses import asdict, dataclass
        from datetime import date, datetime
        from decimal import Decimal

        @dataclass
        class Job:
            number: int
        """,
    )


def test_storage_and_other_workers_refuse_objects() -> None:
    expect_in_object(
        """
        await self.ctx.storage.put("at", date.today())  #! TSU403
        await self.ctx.storage.put({"model": Model()})  #! TSU403
        self.ctx.storage.kv.put("id", uuid4())  #! TSU403
        await self.env.ROOMS.getByName("a").add(Decimal("1"))  #! TSU403
        await self.ctx.storage.put("tags", {1, 2})
        await self.ctx.storage.put("id", str(uuid4()))
        await self.ctx.storage.get(uuid4())
        await self.env.ROOMS.getByName("a").add("1")
        """,
        imports="""
        from datetime import date
        from decimal import Decimal
        from uuid import uuid4
        from pydantic import BaseModel

        class Model(BaseModel):
            pass
        """,
    )


def test_d1_has_no_type_for_dicts_and_datetimes() -> None:
    expect_in_handler(
        """
        await self.env.DB.prepare("?").bind({"a": 1}).run()  #! TSU403
        await self.env.DB.prepare("?").bind(datetime.now(UTC)).run()  #! TSU403
        statement = self.env.DB.prepare("?")
        await statement.bind(Decimal("1")).first()  #! TSU403
        await statement.bind(datetime.now(UTC).isoformat(), 1, None, True).run()
        """,
        imports="from datetime import UTC, datetime\nfrom decimal import Decimal",
    )


def test_integers_beyond_doubles_become_bigints() -> None:
    expect_in_handler("""
        await self.env.JOBS.send({"id": 9007199254740991})  #! TSU404
        await self.env.DB.prepare("?").bind(2, -9007199254740993).run()  #! TSU404
        await self.env.JOBS.send({"id": 9007199254740990})
        await self.env.JOBS.send(9007199254740993, contentType="v8")
    """)


def test_kv_stores_text_and_bytes() -> None:
    expect_in_handler(
        """
        await self.env.KV.put("key", {"a": 1})  #! TSU405
        await self.env.KV.put("key", [1])  #! TSU405
        await self.env.KV.put("key", datetime.now())  #! TSU405
        await self.env.KV.put("key", json.dumps({"a": 1}), metadata={"a": 1})
        await self.env.KV.put("key", 1)
        await self.env.KV.put("key", value)
        """,
        imports="import json\nfrom datetime import datetime",
    )


def test_sql_storage_stores_some_values_as_text() -> None:
    expect_in_object(
        """
        self.ctx.storage.sql.exec("?", True)  #! TSU406
        self.ctx.storage.sql.exec("?", {"a": 1})  #! TSU406
        self.ctx.storage.sql.exec("?", [1, 2])  #! TSU406
        self.ctx.storage.sql.exec("?", datetime.now())  #! TSU406
        self.ctx.storage.sql.exec("?", 1, "a", None, name)
        """,
        imports="from datetime import datetime",
    )


def test_a_transaction_does_not_convert() -> None:
    expect_in_object("""
        async def move(txn):
            await txn.put("a", {"b": 1})  #! TSU407
            await txn.put("a", None)  #! TSU407
            await txn.put("a", 1)
            await other.put("a", {"b": 1})

        await self.ctx.storage.transaction(move)
    """)


def test_alarms_are_set_in_milliseconds() -> None:
    expect_in_object(
        """
        await self.ctx.storage.setAlarm(time.time() + 60)  #! TSU408
        await self.ctx.storage.setAlarm(int(time.time()) + delay)  #! TSU408
        await self.ctx.storage.setAlarm("2026-01-01")  #! TSU408
        await self.ctx.storage.setAlarm(timedelta(seconds=1))  #! TSU408
        await self.ctx.storage.setAlarm(int(time.time() * 1000) + 60_000)
        await self.ctx.storage.setAlarm((time.time() + 60) * 1000)
        await self.ctx.storage.setAlarm(datetime.now() + timedelta(seconds=1))
        await self.ctx.storage.setAlarm(at)
        """,
        imports="import time\nfrom datetime import datetime, timedelta",
    )


def test_an_array_buffer_is_a_memoryview() -> None:
    expect_in_handler(
        """
        data = await self.env.KV.get("key", "arrayBuffer")
        data.decode()  #! TSU409
        json.loads(data)  #! TSU409
        bytes(data).decode()
        text = await self.env.KV.get("key")
        text.split()
        """,
        imports="import json",
    )


def test_timestamps_of_messages_are_naive() -> None:
    expect_in_handler(
        """
        for message in batch.messages:
            age = datetime.now(UTC) - message.timestamp  #! TSU410
            if message.timestamp < datetime.now(tz=UTC):  #! TSU410
                pass
            age = datetime.now() - message.timestamp
            age = datetime.now(UTC) - message.timestamp.replace(tzinfo=UTC)
        """,
        imports="from datetime import UTC, datetime",
    )


@pytest.mark.parametrize(
    "source",
    [
        "queue = self.env.JOBS",
        "queue = getattr(self.env, 'JOBS')",
        "queue = getattr(self.env, 'JOBS', None)",
        "environment = self.env\nqueue = environment.JOBS",
        "queue = self.env.JOBS if batch else None",
    ],
)
def test_a_binding_is_known_through_names(source: str) -> None:
    expect_in_handler(f"{source}\nawait queue.send((1, 2))  #! TSU401")


def test_a_name_that_is_something_else_by_then_is_not_a_binding() -> None:
    expect_in_handler("""
        queue = self.env.JOBS
        queue = wrapped(queue)
        await queue.send((1, 2))
        for target in (self.env.JOBS, socket):
            await target.send((1, 2))
        chosen = self.env.JOBS if batch else socket
        await chosen.send((1, 2))
    """)


def test_what_a_class_keeps_is_known_in_its_methods() -> None:
    expect_in_object(
        "pass",
        imports="""
        class Keeper:
            def __init__(self, env, ctx):
                self.queue = env.JOBS
                self.storage = ctx.storage

            async def keep(self):
                await self.queue.send((1, 2))  #! TSU401
                await self.storage.put("a", (1, 2))  #! TSU401

        class Maybe:
            def __init__(self, env):
                self.queue = env.JOBS
                self.queue = None

            async def keep(self):
                await self.queue.send((1, 2))
        """,
    )
