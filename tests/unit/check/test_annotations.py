"""Annotations whose names are imported for type checkers alone, by Python (TSU117)."""

from __future__ import annotations

import pytest
from checking import OBJECTS, expect

OLDER = ["2025-09-28", "2025-12-01"]
WORKER = """
from typing import TYPE_CHECKING
from workers import Response, WorkerEntrypoint
if TYPE_CHECKING:
    from workers import Request
"""


def test_python_3_14_reads_the_annotations_of_handlers_it_asks_what_they_take() -> None:
    expect(
        f"""{WORKER}
class Default(WorkerEntrypoint):
    async def fetch(
        self,
        request: Request,  #! TSU117
    ):
        return Response("")

    async def queue(self, batch: Request, env=None, ctx=None): ...

    async def method(self, request: Request): ...

def helper(request: Request): ...
""",
        compatibility_date="2026-10-01",
    )


def test_objects_are_asked_for_their_handlers() -> None:
    expect(
        """
        import typing
        from workers import DurableObject, Response, WorkerEntrypoint
        if typing.TYPE_CHECKING:
            from collections.abc import Mapping
            import js

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                return Response("")

        class Room(DurableObject):
            async def alarm(self, info: Mapping[str, int] | None = None): ...  #! TSU117
            async def webSocketMessage(self, ws: "js.WebSocket", message: str): ...
            async def webSocketClose(self, ws: js.WebSocket, *rest: object): ...  #! TSU117
        """,
        compatibility_date="2026-10-01",
        **OBJECTS,
    )


@pytest.mark.parametrize("date", OLDER)
def test_older_pythons_read_all_of_them_at_once(date: str) -> None:
    expect(
        f"""{WORKER}
latest: Request | None = None  #! TSU117

class Default(WorkerEntrypoint):
    kept: list[Request]  #! TSU117

    async def fetch(self, request):
        found: Request = request
        return Response("")

def helper(request: "Request") -> Request: ...  #! TSU117
""",
        compatibility_date=date,
    )


@pytest.mark.parametrize("date", [*OLDER, "2026-10-01"])
def test_nothing_is_read_under_the_future_import(date: str) -> None:
    expect(
        f"""from __future__ import annotations
{WORKER}
class Default(WorkerEntrypoint):
    async def fetch(self, request: Request) -> Response:
        return Response("")
""",
        compatibility_date=date,
    )


@pytest.mark.parametrize("date", [*OLDER, "2026-10-01"])
def test_a_name_that_is_there_otherwise_is_fine(date: str) -> None:
    expect(
        """
        from typing import TYPE_CHECKING, Any
        from workers import Response, WorkerEntrypoint
        if TYPE_CHECKING:
            from workers import Request
        else:
            Request = Any

        class Default(WorkerEntrypoint):
            async def fetch(self, request: Request):
                return Response("")
        """,
        compatibility_date=date,
    )


def test_a_star_import_may_bring_the_name() -> None:
    expect(
        """
        from typing import TYPE_CHECKING
        from workers import *
        if TYPE_CHECKING:
            from workers import Request

        class Default(WorkerEntrypoint):
            async def fetch(self, request: Request):
                return Response("")
        """
    )
