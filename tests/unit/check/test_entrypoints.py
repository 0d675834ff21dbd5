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
        "from tsumugi import Entrypoint\nclass Default(Entrypoint, tsumugi=app):\n    pass\n",
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
        "from tsumugi import QueueConsumer, consumes\nclass Default(QueueConsumer):\n"
        "    @consumes('*')\n    async def take(self, body):\n        pass\n",
        "from tsumugi import Entrypoint\nclass Default(Entrypoint, tsumugi=app):\n    pass\n",
        "from elsewhere import Base\nfrom workers import WorkerEntrypoint\n"
        "class Default(Base, WorkerEntrypoint):\n    pass\n",
        "from workers import WorkerEntrypoint\n"
        "class Default(WorkerEntrypoint):\n    queue = handle\n",
    ],
)
def test_a_handler_may_come_from_somewhere_else(text: str) -> None:
    assert found(text, **CONSUMES) == set()


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
            "src/rooms.py": """
            from workers import DurableObject

            class Room(DurableObject):
                pass
            """,
        },
        **OBJECTS,
    )
