from __future__ import annotations

from typing import Any

import pytest
from checking import BINDINGS, MAIN, OBJECTS, expect, found

CONSUMES: dict[str, Any] = {
    "queues": {
        "producers": [{"binding": "JOBS", "queue": "jobs"}],
        "consumers": [{"queue": "jobs"}],
    }
}
DB: dict[str, Any] = {"d1_databases": BINDINGS["d1_databases"]}
CRON: dict[str, Any] = {"triggers": {"crons": ["* * * * *"]}}


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


def test_a_worker_has_a_default_entrypoint() -> None:
    assert found("x = 1\n") == {(MAIN, 1, "TSU105")}
    expect(
        """
        from workers import WorkerEntrypoint

        class Scheduler(WorkerEntrypoint):  #! TSU105
            pass
        """
    )


def test_another_name_for_a_class_does_not_make_it_the_default() -> None:
    inner = "from workers import WorkerEntrypoint\nclass Main(WorkerEntrypoint):\n    pass\n"
    main = "from inner import Main as Default  #! TSU105\n"
    expect({MAIN: main, "src/inner.py": inner})


@pytest.mark.parametrize(
    "text",
    [
        "import asgi\nDefault = asgi.entrypoint(app)\n",
        "from elsewhere import Default\n",
        "from elsewhere import *\n",
        "from elsewhere import Base\nclass Default(Base):\n    pass\n",
        "from workers import WorkerEntrypoint as Base\nclass Default(Base):\n    pass\n",
        "import workers\nclass Default(workers.WorkerEntrypoint):\n    pass\n",
        "from tsumugi import QueueConsumer\nclass Default(QueueConsumer):\n    pass\n",
        "try:\n    from workers import WorkerEntrypoint\nexcept ImportError:\n"
        "    WorkerEntrypoint = object\nclass Default(WorkerEntrypoint):\n    pass\n",
    ],
)
def test_a_default_that_may_be_one_is_one(text: str) -> None:
    assert found(text) == set()


def test_all_hides_what_it_does_not_list() -> None:
    assert found(
        "from workers import WorkerEntrypoint\n__all__ = ['Other']\n"
        "class Default(WorkerEntrypoint):\n    pass\n"
    ) == {(MAIN, 1, "TSU105")}


def test_top_level_handlers_are_ignored_since_august_2025() -> None:
    text = "async def on_fetch(request, env):\n    pass\n"
    assert found(text) == {(MAIN, 1, "TSU105")}
    assert found(text, compatibility_date="2025-08-13") == set()


def test_there_are_not_two_defaults() -> None:
    text = """
        from workers import WorkerEntrypoint

        async def on_fetch(request, env):
            pass

        class Default(WorkerEntrypoint):{mark}
            pass
        """
    expect(text.format(mark="  #! TSU106"), compatibility_date="2025-08-13")
    expect(text.format(mark=""))


def test_what_is_configured_has_a_handler() -> None:
    text = """
        from workers import WorkerEntrypoint

        class Default(WorkerEntrypoint):  #! {codes}
            async def fetch(self, request):
                pass
        """
    expect(text.format(codes="TSU107"), **CONSUMES)
    expect(text.format(codes="TSU108"), **CRON)
    expect(text.format(codes="TSU107 TSU108"), **CONSUMES, **CRON)


@pytest.mark.parametrize(
    "text",
    [
        "from tsumugi import QueueConsumer\nclass Default(QueueConsumer):\n    pass\n",
        "from elsewhere import Base\nfrom workers import WorkerEntrypoint\n"
        "class Default(Base, WorkerEntrypoint):\n    pass\n",
        "from workers import WorkerEntrypoint\nclass Default(WorkerEntrypoint):\n    queue = handle\n",
    ],
)
def test_a_handler_may_come_from_somewhere_else(text: str) -> None:
    assert found(text, **CONSUMES) == set()


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


def test_before_august_2025_classes_have_other_names() -> None:
    text = """
        from workers import Response, WorkerEntrypoint

        class Default(WorkerEntrypoint):
            async def fetch(self, request):  #! TSU110
                return Response("ok")
        """
    expect(text, compatibility_date="2025-08-13")
    expect(
        text.replace("  #! TSU110", ""),
        compatibility_date="2025-08-13",
        compatibility_flags=["python_workers", "python_no_global_handlers"],
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


def test_a_bound_class_is_exported() -> None:
    assert found(
        "from workers import WorkerEntrypoint\nclass Default(WorkerEntrypoint):\n    pass\n",
        **OBJECTS,
    ) >= {("wrangler.jsonc", 11, "TSU116")}
    expect(
        {
            MAIN: """
            from rooms import Room
            from workers import WorkerEntrypoint

            class Default(WorkerEntrypoint):
                pass
            """,
            "src/rooms.py": "from workers import DurableObject\nclass Room(DurableObject):\n    pass\n",
        },
        **OBJECTS,
    )
