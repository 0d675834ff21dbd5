from __future__ import annotations

import textwrap

from checking import HEADER, MAIN, expect, expect_in_handler, expect_in_object


def test_a_call_that_a_queue_handler_does_not_await_is_lost() -> None:
    expect_in_handler("""
        self.env.JOBS.send(1)  #! TSU501
        self.env.KV.put("key", "value")  #! TSU501
        self.env.DB.prepare("?").bind(1).run()  #! TSU502
        self.env.OTHER.tell(1)  #! TSU502
        await self.env.JOBS.send(1)
        sending = self.env.JOBS.send(1)
        await asyncio.gather(self.env.JOBS.send(1), sending)
        self.ctx.waitUntil(self.env.JOBS.send(1))
    """)


def test_elsewhere_only_its_errors_are_lost() -> None:
    expect(
        f"""
        {HEADER}
        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                self.env.JOBS.send(1)  #! TSU502
                return Response("ok")

            async def tell(self, text):
                self.env.JOBS.send(text)  #! TSU502
                return self.env.JOBS.send(text)

            async def queue(self, batch, env=None, ctx=None):
                async def later():
                    self.env.JOBS.send(1)  #! TSU502

                await later()
        """,
        queues={
            "producers": [{"binding": "JOBS", "queue": "jobs"}],
            "consumers": [{"queue": "jobs"}],
        },
    )


def test_an_object_keeps_writes_that_nobody_awaits() -> None:
    expect_in_object("""
        self.ctx.storage.put("a", 1)
        self.ctx.storage.sql.exec("?", 1)
        self.env.ROOMS.getByName("a").tell(1)  #! TSU502
    """)


def test_a_job_that_nobody_awaits_to_be_enqueued_does_not_exist() -> None:
    expect(
        """
        from tsumugi import Entrypoint, JobContext, Performer
        from elsewhere import Mail, tsumugi

        class SendMail(Performer[Mail]):
            async def perform(self, mail, ctx: JobContext):
                ctx.log("sending")  #! TSU503
                ctx.heartbeat(0.5)  #! TSU503
                await ctx.heartbeat(1)
                tsumugi.enqueue(self.env, SendMail, mail)  #! TSU503
                return ctx.log("sent")

        class Other:
            def perform(self, payload, ctx):
                ctx.log("a log of its own")

        class Default(Entrypoint, app=tsumugi):
            async def fetch(self, request):
                tsumugi.enqueue_many(self.env, SendMail, [])  #! TSU503
                job_id = await tsumugi.enqueue(self.env, SendMail, 1)
                queue.enqueue(job_id)
                return await super().fetch(request)
        """
    )


def test_a_coroutine_of_ones_own_runs_only_when_awaited() -> None:
    expect_in_handler(
        """
        save(1)  #! TSU503
        asyncio.sleep(1)  #! TSU503
        fetch("https://other/")  #! TSU503
        await save(1)
        task = asyncio.create_task(save(1))
        await task
        plain(1)
        decorated(1)
        """,
        imports="""
        import asyncio

        async def save(value):
            pass

        def plain(value):
            pass

        @background
        async def decorated(value):
            pass
        """,
    )


def test_a_method_of_ones_own_runs_only_when_awaited() -> None:
    expect(
        f"""
        {HEADER}
        class Default(WorkerEntrypoint):
            async def note(self, text):
                pass

            def count(self):
                pass

            async def fetch(self, request):
                self.note("a")  #! TSU503
                self.count()
                self.other("a")
                await self.note("a")
                return Response("ok")
        """
    )


def test_a_method_that_is_replaced_may_be_anything() -> None:
    expect(
        f"""
        {HEADER}
        class Default(WorkerEntrypoint):
            def __init__(self, ctx, env):
                super().__init__(ctx, env)
                self.note = print

            async def note(self, text):
                pass

            async def fetch(self, request):
                self.note("a")
                return Response("ok")
        """
    )


def test_coroutines_of_other_files_are_known() -> None:
    expect(
        {
            MAIN: f"""
            {HEADER}
            import store
            from store import count, save

            class Default(WorkerEntrypoint):
                async def fetch(self, request):
                    save(1)  #! TSU503
                    store.save(1)  #! TSU503
                    count(1)
                    await save(1)
                    return Response("ok")
            """,
            "src/store.py": """
            async def save(value):
                pass

            def count(value):
                pass
            """,
        }
    )


def test_a_task_nobody_waits_for_is_dropped() -> None:
    body = """
        asyncio.create_task(later()){mark}
        asyncio.ensure_future(later()){mark}
        asyncio.get_running_loop().create_task(later()){mark}
        task = asyncio.create_task(later())
        await task
        self.ctx.waitUntil(asyncio.create_task(later()))
        group.create_task(later())
    """
    imports = "import asyncio\nasync def later(): pass"
    expect_in_handler(body.format(mark="  #! TSU504"), imports=imports)
    # In a Durable Object it does finish; its waitUntil is another matter.
    in_object = body.format(mark="").replace("self.ctx.waitUntil", "print")
    expect_in_object(in_object, imports=imports)


def test_a_coroutine_is_not_its_result() -> None:
    expect_in_handler(
        """
        if self.env.KV.get("key"):  #! TSU505
            pass
        self.env.KV.get("key").upper()  #! TSU505
        self.env.DB.prepare("?").all()["results"]  #! TSU505
        if self.env.KV.get("key") is None:  #! TSU505
            pass
        if not self.env.KV.get("key"):  #! TSU505
            pass
        Response(self.env.KV.get("key"))  #! TSU505
        json.dumps({"k": self.env.KV.get("key")})
        json.dumps(self.env.KV.get("key"))  #! TSU505
        (await self.env.KV.get("key")).upper()
        if await self.env.KV.get("key"):
            pass
        wanted = self.env.KV.get("key")
        asyncio.create_task(self.env.KV.get("key")).cancel()
    """,
        imports="import asyncio, json",
    )


def test_a_requests_body_is_awaited_where_the_runtime_gives_the_request() -> None:
    body = """
            async def fetch(self, request):
                body = request.json()
                print(body["id"]){mark}
                return Response(request.text()){mark}
    """
    handlers = f"{HEADER}class Default(WorkerEntrypoint):{body}"
    expect(textwrap.dedent(handlers.format(mark="  #! TSU505")))
    client = f"{HEADER}class Client:{body}".format(mark="")
    expect(f"{client}\nclass Default(WorkerEntrypoint):\n    def queue(self, *_): pass\n")


def test_a_requests_json_raises_pythons_own_errors() -> None:
    expect(
        f"""
        {HEADER}
        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                try:
                    body = await request.json()
                except ValueError:
                    return Response("no JSON", status=400)
                return Response(body["text"])
        """
    )


def test_a_method_that_is_only_named_does_nothing() -> None:
    expect_in_handler("""
        for message in batch.messages:
            message.ack  #! TSU509
            message.retry  #! TSU509
            message.body
            message.ack()
        batch.ackAll  #! TSU509
        self.env.JOBS.send  #! TSU509
        send = self.env.JOBS.send
        await send(1)
    """)


def test_what_returns_at_once_is_not_awaited() -> None:
    expect_in_handler("""
        for message in batch.messages:
            await message.ack()  #! TSU506
            await message.retry()  #! TSU506
        await batch.ackAll()  #! TSU506
        await self.env.DB.prepare("?")  #! TSU506
    """)
    expect_in_object("""
        await self.ctx.storage.sql.exec("?")  #! TSU506
        await self.env.ROOMS.getByName("a")  #! TSU506
        await self.ctx.storage.kv.get("a")  #! TSU506
        await self.env.ROOMS.getByName("a").read()
        await self.ctx.storage.get("a")
    """)


def test_a_bindings_errors_are_no_python_errors() -> None:
    expect_in_handler(
        """
        try:
            await self.env.JOBS.send(body)
        except TypeError:  #! TSU507
            pass
        try:
            found = await self.env.KV.get("key")
        except (TypeError, ValueError):  #! TSU507
            pass
        try:
            await self.env.JOBS.send(body)
        except JsException:
            pass
        try:
            await self.env.JOBS.send(body)
        except Exception:
            pass
        try:
            found = json.loads(await self.env.KV.get("key"))
        except ValueError:
            pass
        try:
            await self.env.JOBS.send(int(text))
        except ValueError:
            pass
        """,
        imports="import json\nfrom pyodide.ffi import JsException",
    )


def test_sleeping_lets_other_events_into_an_object() -> None:
    expect_in_object("time.sleep(1)  #! TSU508", imports="import time")
    expect_in_handler("time.sleep(1)", imports="import time")
