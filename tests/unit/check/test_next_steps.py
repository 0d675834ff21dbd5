"""A finding's next step can be done as it is written."""

from __future__ import annotations

from typing import Any

import pytest
from checking import CONFIGURATION, HEADER, MAIN, Workers, configuration, in_handler

DEFAULT = "from workers import WorkerEntrypoint\nclass Default(WorkerEntrypoint):\n    pass\n"


def finding(files: dict[str, str], code: str) -> Any:
    everything = {CONFIGURATION: configuration(), **files}
    (one,) = (one for one in Workers(everything).findings() if one.code == code)
    return one


@pytest.mark.parametrize(
    ("written", "instead"),
    [
        ("from . import app", "import app"),
        ("from .app import create", "from app import create"),
        ("from .app import *", "from app import *"),
        ("from ..app.inner import create", "from app.inner import create"),
    ],
)
def test_a_relative_import_is_told_its_absolute_form(written: str, instead: str) -> None:
    one = finding({MAIN: f"{written}\n{DEFAULT}", "src/app.py": "create = 1"}, "TSU306")
    assert one.next_step == f"Write `{instead}`."


@pytest.mark.parametrize(
    ("called", "shown"),
    [
        ("asyncio.sleep(1)", "asyncio.sleep"),
        ("nap(1)", "nap"),
        ("save(1)", "save"),
        ("self.note(1)", "self.note"),
    ],
)
def test_a_coroutine_is_awaited_under_the_name_that_it_has_there(called: str, shown: str) -> None:
    imports = "import asyncio\nfrom asyncio import sleep as nap\nasync def save(value): ..."
    text = in_handler(called, imports=imports)
    method = "\n    async def note(self, text): ...\n"
    one = finding({MAIN: f"{text}{method}"}, "TSU503")
    assert one.message.startswith(f"{shown}() is called but not awaited")
    assert one.next_step == f"Write `await {shown}(...)`."


@pytest.mark.parametrize(
    ("files", "where"),
    [
        ({}, "the project, and there is no pyproject.toml that names dependencies"),
        (
            {"pyproject.toml": "[project]\ndependencies = []\n"},
            "the project, and pyproject.toml has no dependencies",
        ),
        ({"python_modules/workers/__init__.py": ""}, "python_modules"),
    ],
)
def test_where_a_module_was_looked_for_is_there(files: dict[str, str], where: str) -> None:
    one = finding({MAIN: f"import httpx\n{DEFAULT}", **files}, "TSU304")
    assert one.message == f"There is no module httpx in {where}."


def test_a_number_given_for_options_is_called_an_int() -> None:
    text = f"""{HEADER}
class Default(WorkerEntrypoint):
    async def queue(self, batch, env=None, ctx=None):
        batch.retryAll(5)
"""
    one = finding({MAIN: text}, "TSU421")
    assert one.message.endswith("as keywords or as a dict, not an int.")


@pytest.mark.parametrize(
    ("value", "next_step"),
    [
        ('{"a": 1}', "Give `json.dumps(...)` of it."),
        ("datetime.now(UTC)", "Give its `isoformat()`."),
        ("Decimal(1)", "Give a str, a number, bytes or None."),
    ],
)
def test_what_d1_refuses_is_replaced_by_what_it_takes(value: str, next_step: str) -> None:
    imports = "from datetime import UTC, datetime\nfrom decimal import Decimal"
    text = in_handler(f'await self.env.DB.prepare("?").bind({value}).run()', imports=imports)
    databases = [{"binding": "DB", "database_name": "db", "database_id": "db"}]
    files = {MAIN: text, CONFIGURATION: configuration(d1_databases=databases)}
    assert finding(files, "TSU403").next_step == next_step
