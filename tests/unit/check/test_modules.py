from __future__ import annotations

import sys
from typing import Any

import pytest
from checking import MAIN, expect, found

DEFAULT = "from workers import WorkerEntrypoint\nclass Default(WorkerEntrypoint):\n    pass\n"
PYTHONS = {"3.12": "2025-09-28", "3.13": "2025-09-29", "3.14": "2026-09-08"}
NO_DEPENDENCIES = {"pyproject.toml": "[project]\ndependencies = []\n"}
INSTALLED = {"python_modules/workers/__init__.py": "", "python_modules/fastapi/__init__.py": ""}


def codes(text: str, files: dict[str, str] | None = None, **fields: Any) -> set[str]:
    everything = {MAIN: f"{text}\n{DEFAULT}", **(files or {})}
    return {code for _, _, code in found(everything, **fields)}


@pytest.mark.parametrize(
    ("module", "gone_from"),
    [("distutils", "3.12"), ("imp", "3.12"), ("cgi", "3.13"), ("telnetlib", "3.13")],
)
def test_modules_are_removed_from_python(module: str, gone_from: str) -> None:
    for python, date in PYTHONS.items():
        gone = {"TSU301"} if python >= gone_from else set()
        assert codes(f"import {module}", compatibility_date=date) == gone


@pytest.mark.parametrize(
    ("module", "there_from"), [("curses", None), ("tkinter", None), ("termios", "3.14")]
)
def test_modules_are_left_out_of_pyodide(module: str, there_from: str | None) -> None:
    for python, date in PYTHONS.items():
        there = there_from is not None and python >= there_from
        wanted = set() if there else {"TSU302"}
        assert codes(f"from {module} import name", compatibility_date=date) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    import curses\nexcept ImportError:\n    curses = None",
        "import sys\nif sys.platform != 'emscripten':\n    import curses",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import curses",
        "if __name__ == '__main__':\n    import curses",
        "import contextlib\nwith contextlib.suppress(ImportError):\n    import curses",
        "try:\n    import tomllib\nexcept ImportError:\n    import imp as tomllib",
    ],
)
def test_an_import_that_may_fail_may_fail(text: str) -> None:
    assert codes(text) == set()


def test_an_import_in_a_function_fails_there() -> None:
    assert codes("def late():\n    import curses") == {"TSU302"}


def test_a_copy_of_ones_own_takes_a_removed_modules_place() -> None:
    assert codes("import cgi", {"src/cgi.py": ""}) == set()
    assert codes("import cgi", {"python_modules/cgi.py": "", **INSTALLED}) == set()


def test_compiled_packages_need_a_build() -> None:
    assert codes("import psycopg2") == {"TSU303"}
    assert codes("import asyncpg", compatibility_date=PYTHONS["3.13"]) == {"TSU303"}
    assert codes("import asyncpg", compatibility_date=PYTHONS["3.14"]) == set()
    assert codes("import psycopg2", {"python_modules/psycopg2/__init__.py": ""}) == set()


def test_packages_are_installed_into_python_modules() -> None:
    assert codes("import fastapi", INSTALLED) == set()
    assert codes("import httpx", INSTALLED) == {"TSU304"}
    assert codes("import httpx", NO_DEPENDENCIES) == {"TSU304"}
    # Nobody knows before they are installed what the dependencies bring.
    assert codes("import httpx") == set()
    assert codes("import json, js, pyodide.ffi, asgi, workers.rpc", INSTALLED) == set()


def test_a_path_of_ones_own_may_lead_to_more() -> None:
    assert codes("import sys\nsys.path.append('lib')\nimport httpx", INSTALLED) == set()


@pytest.mark.parametrize(
    "text", ["import src.app", "from src.app import create", "from src import app"]
)
def test_the_import_root_is_no_package(text: str) -> None:
    assert codes(text, {"src/app.py": "create = 1"}) == {"TSU305"}


def test_a_package_may_be_called_like_the_root() -> None:
    assert codes("import src.app", {"src/src/app.py": ""}) == set()
    assert codes("import src.app", {"src/app.py": "", "python_modules/src/app.py": ""}) == set()


def test_a_module_that_the_project_makes_itself_is_there() -> None:
    text = "import sys, types\nsys.modules['src'] = types.ModuleType('src')\nimport app\n"
    assert codes(text, {"src/app.py": "from src.other import x", "src/other.py": ""}) == set()
    text = "import sys\nname = 'made'\nsys.modules[name] = make(name)\nimport made\n"
    assert codes(text, INSTALLED) == set()


def test_nothing_is_relative_to_the_import_root() -> None:
    assert codes("from . import app", {"src/app.py": ""}) == {"TSU306"}
    assert codes("from .app import create", {"src/app.py": ""}) == {"TSU306"}
    assert codes("import package.inner", {
        "src/package/__init__.py": "from . import inner\nfrom .inner import x",
        "src/package/inner.py": "from .. import app\nx = 1",
    }) == {"TSU306"}  # fmt: skip
    assert codes("if __package__:\n    from . import app\nelse:\n    import app") == set()


def test_js_has_what_workers_have() -> None:
    assert codes("from js import window") == {"TSU307"}
    assert codes("from js import document, console") == {"TSU307"}
    assert codes("from js import Response, fetch, console, setTimeout") == set()
    assert codes("import js\ndef f():\n    js.localStorage.getItem('a')") == {"TSU307"}
    assert codes("from js import Buffer") == {"TSU307"}
    flags = ["python_workers", "nodejs_compat"]
    assert codes("from js import Buffer", compatibility_flags=flags) == set()


def test_workers_has_what_the_sdk_has() -> None:
    assert codes("from workers import Queue") == {"TSU308"}
    assert codes("from workers import D1Database, Response") == {"TSU308"}
    assert codes("from workers import asgi, handler, waitUntil, env") == set()


def test_the_standard_library_comes_first() -> None:
    assert codes("import calendar", {"src/calendar.py": "x = "}) == {"TSU309"}
    assert codes("from email import sender", {"src/email/sender.py": ""}) == set()
    assert codes("import email.sender", {"src/email/__init__.py": ""}) == {"TSU309"}
    assert codes("import fastapi", {"src/fastapi.py": "", **INSTALLED}) == {"TSU309"}
    assert codes("import package.calendar", {"src/package/calendar.py": ""}) == set()


def test_time_zones_come_with_tzdata() -> None:
    text = "from zoneinfo import ZoneInfo\nZONE = ZoneInfo('Europe/Berlin')"
    assert codes(text, INSTALLED) == {"TSU310"}
    assert codes(text, {**INSTALLED, "python_modules/tzdata/__init__.py": ""}) == set()
    assert codes(text) == set()


def test_files_that_nothing_imports_are_not_read() -> None:
    expect(
        {
            MAIN: f"import used\n{DEFAULT}",
            "src/used.py": "import curses  #! TSU302\n",
            "src/tests/test_app.py": "import curses\n",
            "scripts/seed.py": "import curses\n",
        }
    )


def test_a_file_that_does_not_parse_is_an_error() -> None:
    expect({MAIN: f"import broken\n{DEFAULT}", "src/broken.py": "x = 1\ny = (  #! TSU001\n"})
    assert found("class Default(") == {(MAIN, 1, "TSU001")}


NEWER = {
    (3, 13): "class Box[T = int]: ...\n",
    (3, 14): "try:\n    pass\nexcept KeyError, ValueError:\n    pass\n",
}


@pytest.mark.parametrize("since", NEWER)
def test_syntax_is_judged_by_the_python_of_production(since: tuple[int, int]) -> None:
    for python, date in PYTHONS.items():
        code = "TSU003" if sys.version_info[:2] < since else None
        if tuple(map(int, python.split("."))) < since:
            code = "TSU001"
        assert codes(NEWER[since], compatibility_date=date) == ({code} if code else set()), python
