from __future__ import annotations

from typing import Any

import pytest
from checking import BINDINGS, MAIN, OBJECTS, expect

CONSUMES: dict[str, Any] = {
    "queues": {
        "producers": [{"binding": "JOBS", "queue": "jobs"}],
        "consumers": [{"queue": "jobs"}],
    }
}
DB: dict[str, Any] = {"d1_databases": BINDINGS["d1_databases"]}


@pytest.mark.parametrize(
    "parameters",
    ["self, batch", "self", "self, batch, env", "self, batch, *, env=None", "self, batch, **rest"],
)
@pytest.mark.parametrize("handler", ["queue", "scheduled"])
def test_a_handler_takes_three_arguments(handler: str, parameters: str) -> None:
    expect(
        f"""
        from workers import WorkerEntrypoint

        class Default(WorkerEntrypoint):
            async def {handler}({parameters}):  #! TSU101
                pass
        """
    )


@pytest.mark.parametrize(
    "parameters",
    [
        "self, batch, env, ctx",
        "self, batch, env=None, ctx=None",
        "self, batch, *rest",
        "self, batch, a, b, /",
        "self, batch, a, b, c=None",
        "*everything",
    ],
)
def test_there_are_many_ways_to_take_them(parameters: str) -> None:
    expect(
        f"""
        from workers import WorkerEntrypoint

        class Default(WorkerEntrypoint):
            def queue({parameters}):
                pass
        """
    )


def test_a_handler_with_more_to_give_than_it_gets_fails() -> None:
    expect(
        """
        from workers import WorkerEntrypoint

        class Default(WorkerEntrypoint):
            async def queue(self, batch, env, ctx, more):  #! TSU101
                pass

            async def scheduled(self, controller, env, ctx, *, more):  #! TSU101
                pass
        """
    )


def test_fetch_takes_what_it_likes() -> None:
    expect(
        """
        from workers import Response, WorkerEntrypoint

        class Default(WorkerEntrypoint):
            async def fetch(self):
                return Response("ok")
        """
    )


def test_a_decorator_may_take_other_arguments() -> None:
    expect(
        """
        from workers import WorkerEntrypoint

        class Default(WorkerEntrypoint):
            @logged
            async def queue(self, batch):
                pass
        """
    )


def test_a_static_handler_gets_one_argument_more() -> None:
    expect(
        """
        from workers import WorkerEntrypoint

        class Default(WorkerEntrypoint):
            @staticmethod
            async def queue(batch, env, ctx):  #! TSU101
                pass
        """
    )


def test_a_handler_may_be_inherited_from_another_file() -> None:
    expect(
        {
            MAIN: """
            from base import Consumer

            class Default(Consumer):
                pass
            """,
            "src/base.py": """
            from mixin import Mixin
            from workers import WorkerEntrypoint

            class Consumer(Mixin, WorkerEntrypoint):
                pass
            """,
            "src/mixin.py": """
            class Mixin:
                async def queue(self, batch):  #! TSU101
                    pass
            """,
        },
        **CONSUMES,
    )


def test_parameters_named_env_and_ctx_are_none() -> None:
    expect(
        """
        from workers import Response, WorkerEntrypoint

        class Default(WorkerEntrypoint):
            async def queue(self, batch, env, ctx):
                await env.DB.prepare("?").run()  #! TSU102
                ctx.waitUntil(1)  #! TSU102
                await handle(batch, env)  #! TSU103
                await handle(batch, context=ctx)  #! TSU103
                for message in batch.messages:
                    handle(lambda: env.KV)  #! TSU102

            async def scheduled(self, controller, bindings, context):
                bindings["DB"]  #! TSU102

            async def fetch(self, request, env, ctx):
                return Response(env.NAME)  #! TSU102
        """,
        **DB,
    )


def test_a_handler_that_knows_they_are_none_is_fine() -> None:
    expect(
        """
        from workers import Response, WorkerEntrypoint

        class Default(WorkerEntrypoint):
            async def queue(self, batch, env, ctx):
                env = self.env
                ctx = ctx or self.ctx
                await env.DB.prepare("?").run()
                ctx.waitUntil(1)

            async def scheduled(self, controller, env, ctx):
                bindings = env if env is not None else self.env
                bindings.DB
                env.DB
                await super().scheduled(controller, env, ctx)

            async def fetch(self, request, env=None, ctx=None):
                def inner(env):
                    return env.DB
                return Response(inner(self.env))
        """,
        **DB,
    )


def test_the_parameters_of_other_methods_are_real() -> None:
    expect(
        """
        from workers import DurableObject, Response, WorkerEntrypoint

        class Room(DurableObject):
            def __init__(self, ctx, env):
                super().__init__(ctx, env)
                self.db = env.DB

            async def fetch(self, request):
                return Response("ok")

        class Default(WorkerEntrypoint):
            async def save(self, value, env):
                env.DB.prepare("?")
        """,
        **OBJECTS,
        **DB,
    )


def test_a_generator_is_no_handler() -> None:
    expect(
        """
        from workers import WorkerEntrypoint

        class Default(WorkerEntrypoint):
            async def queue(self, batch, env=None, ctx=None):  #! TSU104
                yield batch

            async def rows(self):
                yield 1
        """
    )


def test_names_almost_like_handlers_are_never_called() -> None:
    expect(
        """
        from workers import DurableObject, WorkerEntrypoint

        class Default(WorkerEntrypoint):
            async def on_fetch(self, request):  #! TSU109
                pass

            async def schedule(self):
                pass

            async def scheduled(self, controller, env=None, ctx=None):
                await self.schedule()

        class Room(DurableObject):
            async def websocket_message(self, socket, message):  #! TSU109
                pass

            async def on_alarm(self):
                pass

            async def alarm(self):
                await self.on_alarm()
        """,
        **OBJECTS,
    )


def test_an_alarm_is_given_one_argument() -> None:
    expect(
        """
        from workers import DurableObject, WorkerEntrypoint

        class Default(WorkerEntrypoint):
            pass

        class Room(DurableObject):
            async def alarm(self, info, more):  #! TSU111
                pass
        """,
        **OBJECTS,
    )


def test_the_base_class_sets_env_and_ctx() -> None:
    expect(
        """
        from workers import DurableObject, WorkerEntrypoint

        class Default(WorkerEntrypoint):
            def __init__(self, ctx, env):  #! TSU112
                self.ready = True

            async def save(self):
                await self.env.DB.prepare("?").run()

        class Room(DurableObject):
            def __init__(self, ctx, env):
                self.ctx = ctx
                self.env = env

            async def read(self):
                return self.env.NAME

        class Other(WorkerEntrypoint):
            def __init__(self, ctx, env):
                super().__init__(ctx, env)

            async def read(self):
                return self.env.NAME

        class Unused(WorkerEntrypoint):
            def __init__(self, ctx, env):
                self.ready = True
        """,
        **OBJECTS,
        **DB,
    )


def test_fetch_returns_a_response() -> None:
    expect(
        """
        from workers import Response, WorkerEntrypoint

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                if request.method == "GET":
                    return {"a": 1}  #! TSU113
                if request.method == "PUT":
                    return "text"  #! TSU113
                if request.method == "HEAD":
                    return  #! TSU113
                def inner():
                    return "text"
                if request.method == "POST":
                    return inner()
                return Response("ok")
        """
    )


@pytest.mark.parametrize(
    ("last", "is_found"),
    [
        ('Response("no return before it")', True),
        ('await self.env.KV.put("a", "b")', True),
        ("self.count = 1", True),
        ("raise NotImplementedError", False),
        ("self.refuse()", False),
        ("...", False),
    ],
)
def test_a_fetch_that_only_ends_returns_nothing(last: str, is_found: bool) -> None:
    expect(
        f"""
        from workers import Response, WorkerEntrypoint

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                {last}{"  #! TSU113" if is_found else ""}
        """,
        kv_namespaces=[{"binding": "KV", "id": "kv"}],
    )


def test_tuples_are_not_returned_to_the_outside() -> None:
    expect(
        """
        from workers import DurableObject, WorkerEntrypoint

        class Default(WorkerEntrypoint):
            async def queue(self, batch, env=None, ctx=None):
                return 1, 2  #! TSU114

        class Room(DurableObject):
            async def pair(self):
                return 1, 2  #! TSU115

            async def read(self):
                first, second = self.split()
                return [first, second]

            def split(self):
                return 1, 2

            def _private(self):
                return 1, 2
        """,
        **OBJECTS,
    )
