from __future__ import annotations

from checking import MAIN, expect, expect_in_handler, expect_in_object


def test_env_is_no_dict() -> None:
    expect_in_handler("""
        self.env["JOBS"]  #! TSU430
        "JOBS" in self.env  #! TSU430
        bindings = self.env
        bindings["JOBS"]  #! TSU430
        hasattr(self.env, "JOBS")
        self.other["JOBS"]
    """)


def test_an_env_of_something_else_may_be_one() -> None:
    expect_in_handler(
        "pass",
        imports="""
        class Model(models.Model):
            def partner(self):
                return self.env["res.partner"]

        def read(env):
            return env["HOME"]
        """,
    )


def test_unconverted_objects_are_no_dicts() -> None:
    expect(
        {
            MAIN: """
            from workers import WorkerEntrypoint

            class Default(WorkerEntrypoint):
                async def scheduled(self, controller, env=None, ctx=None):
                    controller["cron"]  #! TSU431
                    controller.get("cron")  #! TSU431
                    controller.no_retry()  #! TSU431
                    self.env.LIMITS["daily"]  #! TSU431
                    controller.cron
                    self.env.LIMITS.daily
                    self.env.LIMITS.to_py()["daily"]
            """
        },
        vars={"LIMITS": {"daily": 1}},
    )


def test_an_alarms_info_is_not_converted() -> None:
    expect(
        """
        from workers import DurableObject, WorkerEntrypoint

        class Room(DurableObject):
            async def alarm(self, info):
                info["isRetry"]  #! TSU431
                info.isRetry

        class Default(WorkerEntrypoint):
            pass
        """,
        durable_objects={"bindings": [{"name": "ROOMS", "class_name": "Room"}]},
        migrations=[{"tag": "v1", "new_sqlite_classes": ["Room"]}],
    )


def test_top_level_handlers_get_unconverted_messages() -> None:
    expect(
        """
        async def on_fetch(request, env):
            pass

        async def on_queue(batch, env):
            for message in batch.messages:
                message.body["a"]  #! TSU431
                message.body.get("a")  #! TSU431
                message.body.to_py()["a"]
                message.body.a
        """,
        compatibility_date="2025-08-01",
    )


def test_converted_values_need_no_to_py() -> None:
    expect_in_handler("""
        for message in batch.messages:
            message.body.to_py()  #! TSU432
            message.body.to_py() if hasattr(message.body, "to_py") else message.body
            if hasattr(message.body, "to_py"):
                message.body.to_py()
            try:
                message.body.to_py()
            except AttributeError:
                pass
        row = await self.env.DB.prepare("?").first()
        row = row.to_py() if row else None  #! TSU432
        found = await self.env.DB.prepare("?").all()
        for one in found.results:
            one.to_py()  #! TSU432
        answer = await self.env.OTHER.ask()
        answer.to_py()  #! TSU432
        response = await self.env.OTHER.fetch("https://other/")
        response.to_py()
    """)


def test_with_an_older_sdk_to_py_is_needed() -> None:
    body = """
        for message in batch.messages:
            message.body.to_py()
    """
    expect_in_handler(body, compatibility_date="2026-04-20")


def test_a_response_takes_text_and_bytes() -> None:
    expect_in_handler("""
        Response({"a": 1})  #! TSU433
        Response([1])  #! TSU433
        Response(1)  #! TSU433
        Response((1, 2))  #! TSU433
        Response("a")
        Response(f"{batch}")
        Response(b"a")
        Response(None, status=204)
        Response(body)
        Response.from_json({"a": 1})
    """)


def test_other_responses_have_other_rules() -> None:
    expect_in_handler(
        """
        Response({"a": 1})
        JsResponse.new("a")
        """,
        imports="from fastapi import Response\nfrom js import Response as JsResponse",
    )


def test_the_sdks_classes_have_no_new() -> None:
    expect_in_handler("""
        Response.new("a")  #! TSU434
        Request.new("https://a/")  #! TSU434
    """)


def test_javascript_must_not_keep_plain_functions() -> None:
    expect_in_handler(
        """
        setTimeout(lambda: print("late"), 10)  #! TSU435
        setTimeout(later, 10)  #! TSU435
        socket.addEventListener("message", lambda event: None)  #! TSU435
        socket.addEventListener("message", self.on_message)
        setTimeout(create_proxy(later), 10)
        setTimeout(create_once_callable(later), 10)
        socket.addEventListener("message", create_proxy(later))
        """,
        imports="""
        from js import setTimeout
        from pyodide.ffi import create_once_callable, create_proxy

        def later():
            pass
        """,
    )


def test_wait_until_keeps_coroutines_only_on_a_workers_ctx() -> None:
    expect_in_handler(
        """
        self.ctx.waitUntil(later())
        waitUntil(later())  #! TSU436
        waitUntil(create_proxy(asyncio.ensure_future(later())))
        """,
        imports="""
        import asyncio
        from pyodide.ffi import create_proxy
        from workers import waitUntil

        async def later():
            pass
        """,
    )
    expect_in_object(
        """
        self.ctx.waitUntil(later())  #! TSU436
        self.ctx.waitUntil(self.ctx.storage.put("a", 1))  #! TSU436
        self.ctx.waitUntil(promise)
        """,
        imports="async def later(): pass",
    )


def test_a_dict_becomes_a_map_before_python_3_14() -> None:
    body = """
        to_js({"a": 1})  #! TSU437
        to_js({"a": 1}, dict_converter=Object.fromEntries)
        Object.fromEntries(to_js({"a": 1}))
        to_js([1])
        to_js(value)
    """
    imports = "from js import Object\nfrom pyodide.ffi import to_js"
    expect_in_handler(body, imports=imports, compatibility_date="2026-05-01")
    now = body.replace("  #! TSU437", "")
    expect_in_handler(now, imports=imports, compatibility_date="2026-09-08")


def test_a_users_own_to_js_is_not_pyodides() -> None:
    expect_in_handler(
        'to_js({"a": 1})',
        imports="""
        from js import Object
        from pyodide.ffi import to_js as _to_js

        def to_js(value):
            return _to_js(value, dict_converter=Object.fromEntries)
        """,
        compatibility_date="2026-05-01",
    )


def test_no_javascript_is_made_from_text() -> None:
    expect_in_handler(
        """
        js.eval("1")  #! TSU438
        run_js("1")  #! TSU438
        eval("1")
        """,
        imports="import js\nfrom pyodide.code import run_js",
    )


def test_a_batch_is_not_its_messages() -> None:
    expect_in_handler("""
        for message in batch:  #! TSU439
            message.ack()
        bodies = [message.body for message in batch]  #! TSU439
        len(batch)  #! TSU439
        len(batch.messages)
        for message in batch.messages:
            message.ack()
    """)
