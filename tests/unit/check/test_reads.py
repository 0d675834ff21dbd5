"""What is read from JavaScript's own objects: items, null, and what is read once."""

from __future__ import annotations

import pytest
from checking import expect, expect_in_handler, expect_in_object


def test_what_cloudflare_knows_about_a_request_has_attributes() -> None:
    expect(
        """
        from workers import Response, WorkerEntrypoint

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                cf = request.cf
                print(request.cf["country"])  #! TSU431
                print(cf.get("colo"))  #! TSU431
                print(cf.colo, request.headers["cf-ray"])
                return Response("")

        class Client:
            def fetch(self, request, cf):
                return cf["country"], request["cf"]
        """
    )


def test_what_a_transaction_reads_is_not_converted() -> None:
    expect_in_object(
        """
        async def move(txn):
            order = await txn.get("order")
            print(order["id"])  #! TSU431
            print((await txn.get("order"))["id"], order.id)  #! TSU431
            parts = (await txn.get("parts")).to_py()
            print(parts["a"], [order][0])
            again = await txn.get("again")
            again = again.to_py()
            print(again["a"])
        await self.ctx.storage.transaction(move)
        """
    )


@pytest.mark.parametrize(
    ("date", "mark"), [("2025-09-28", ""), ("2025-09-29", "#! TSU440"), ("2026-11-01", "#! TSU440")]
)
def test_null_of_javascripts_own_objects_is_not_none(date: str, mark: str) -> None:
    expect_in_object(
        f"""
        for ws in self.ctx.getWebSockets():
            kept = ws.deserializeAttachment()
            if kept is None:  {mark}
                continue
            if ws.deserializeAttachment() != None:  {mark}
                continue
            if kept == 5:
                continue
            both = ws.deserializeAttachment()
            if both is None or not both:
                continue
            if not (at_once := ws.deserializeAttachment()) or at_once is None:
                continue
        print(self.env.LIMITS.daily is None, await self.env.KV.get("k") is None)  {mark}
        """,
        compatibility_date=date,
    )


def test_attributes_are_read_once() -> None:
    expect_in_object(
        """
        sql = self.ctx.storage.sql
        if sql.databaseSize > 1_000_000:  #! TSU441
            print(sql["databaseSize"])
        cursor = sql.exec("SELECT 1")
        before = cursor.rowsRead
        rows = cursor.toArray()
        print(cursor.rowsRead - before, cursor["rowsRead"], cursor.rowsWritten)  #! TSU441
        other = sql.exec("SELECT 2")
        print(other.toArray(), other.rowsRead, other.rowsWritten)
        """
    )


def test_a_coroutine_kept_in_a_variable_is_no_result() -> None:
    expect_in_handler(
        """
        value = self.env.KV.get("k")
        print(value.upper())  #! TSU505
        rows = self.env.DB.prepare("SELECT 1").all()
        for row in rows.results:  #! TSU505
            print(row)
        found = self.env.KV.get("k")
        if found:  #! TSU505
            print("there")
        shown = self.env.KV.get("k")
        print(f"{shown}")  #! TSU505
        answered = self.env.KV.get("k")
        print(json.dumps({"found": [answered]}))  #! TSU505
        job = app.enqueue(self.env, "Work", 1)
        print(json.dumps({"id": job}))  #! TSU505
        gathered = self.env.KV.get("k")
        waits = [gathered]
        await asyncio.gather(*waits)
        job_id = await app.enqueue(self.env, "Work", 1)
        print(json.dumps({"id": job_id}))
        later = self.env.KV.get("k")
        print(await later)
        both = self.env.KV.get("a")
        other = self.env.KV.get("b")
        a, b = await asyncio.gather(both, other)
        kept = self.env.KV.get("k")
        kept = await kept
        print(kept.upper())
        """,
        imports="import asyncio, json\napp = None",
    )


def test_what_a_name_stands_for_is_what_is_given() -> None:
    expect_in_handler(
        """
        order = Order(1)
        await self.env.JOBS.send(order)  #! TSU402
        await self.env.JOBS.send({"order": order})  #! TSU402
        pair = (1, 2)
        await self.env.JOBS.send(pair)  #! TSU401
        await self.env.DB.prepare("").bind(order).run()  #! TSU403
        now = time.time_ns()
        await self.env.JOBS.send({"at": now})  #! TSU404
        await self.env.JOBS.send([2**53, 1 << 60, 2**52, now // 10**6])  #! TSU404
        maybe = (1, 2)
        if batch:
            maybe = list(maybe)
        await self.env.JOBS.send(maybe)
        plain = Order(2)
        plain = {"id": plain.id}
        await self.env.JOBS.send(plain)
        """,
        imports="""
        import time
        from dataclasses import dataclass

        @dataclass
        class Order:
            id: int
        """,
    )


def test_a_listener_of_the_global_scope_is_kept_too() -> None:
    expect_in_handler(
        """
        addEventListener("x", lambda event: None)  #! TSU435
        js.addEventListener("x", lambda event: None)  #! TSU435
        addEventListener("x", create_proxy(print))
        """,
        imports="import js\nfrom js import addEventListener\nfrom pyodide.ffi import create_proxy",
    )


@pytest.mark.parametrize(
    "flag",
    [
        'IN_WORKER = sys.platform == "emscripten"',
        'IN_WORKER = "pyodide" in sys.modules or sys.platform == "wasi"',
        "try:\n    import js\n    IN_WORKER = True\nexcept ImportError:\n    IN_WORKER = False",
        'EMSCRIPTEN = sys.platform == "emscripten"\nIN_WORKER = EMSCRIPTEN',
    ],
)
def test_a_name_may_tell_the_platform(flag: str) -> None:
    worker = """
from workers import Response, WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return Response("")
"""
    expect(
        f"import subprocess, sys\n{flag}\nif not IN_WORKER:\n    subprocess.run(['git'])\n{worker}"
    )
    expect(
        "import subprocess\nIN_WORKER = len('a') == 1\nif not IN_WORKER:\n"
        f"    subprocess.run(['git'])  #! TSU702\n{worker}"
    )


def test_a_member_named_like_a_method_of_dicts_is_an_item() -> None:
    expect_in_handler("""
        for message in batch.messages:
            for item in message.body.items:  #! TSU442
                print(item)
            for key, item in message.body.items():
                print(key, item["keys"])
        listed = await self.env.KV.list()
        names = [key.name for key in listed.keys]  #! TSU442
        print(listed.values[0], len(listed.keys))  #! TSU442 TSU442
        print(list(map(listed.get, ["a"])), listed.list_complete)
    """)


def test_an_attachment_is_not_converted() -> None:
    expect_in_object(
        """
        server.serializeAttachment({"name": name})  #! TSU403
        server.serializeAttachment([name])  #! TSU403
        server.serializeAttachment(name)
        server.serializeAttachment(json.dumps({"name": name}))
        """,
        imports="import json\nfrom js import WebSocketPair\nserver = None",
    )
