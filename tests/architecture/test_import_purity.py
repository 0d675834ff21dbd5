"""Importing the SDK does nothing: no clock, chance, environment, I/O, runtime or emulator.

Each case imports in a fresh interpreter that refuses what an import must not need.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

SDK = Path(__file__).parents[2] / "sdk"

REFUSE_MODULES = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ImportError(f"{{name}} is not there when a Worker is deployed")

for name in list(sys.modules):
    if name.partition(".")[0] in {blocked!r}:
        del sys.modules[name]
sys.meta_path.insert(0, Refuse())
"""

REFUSE_EFFECTS = """
import asyncio, functools, inspect, json, logging, math, os, random, sys, time

def refused(name):
    def refuse(*args, **kwargs):
        if args and str(args[0]).startswith("PYDANTIC_"):
            return None  # pydantic asks for its plugins whenever a model is made
        raise RuntimeError(f"{name} is read while importing")
    return refuse

for owner, names in {
    time: ("time", "time_ns", "monotonic", "perf_counter"),
    random: ("random", "seed", "randint", "getrandbits"),
    os: ("getenv", "urandom"),
}.items():
    for name in names:
        setattr(owner, name, refused(f"{owner.__name__}.{name}"))
"""

#: What a deployed Worker does not have, and the SDK must not want.
NOT_DEPLOYED = {
    "click",
    "httpx",
    "rich",
    "sqlite3",
    "starlette",
    "tsumugi_emulator",
    "uvicorn",
    "watchfiles",
}
#: What there is only inside a Workers runtime.
RUNTIME = {"js", "pyodide", "workers", "_pyodide_entrypoint_helper"}


def run(*parts: str) -> subprocess.CompletedProcess[str]:
    code = "\n".join(textwrap.dedent(part) for part in parts)
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )


def modules() -> list[str]:
    return sorted(
        ".".join(path.relative_to(SDK).with_suffix("").parts).removesuffix(".__init__")
        for path in SDK.rglob("*.py")
    )


@pytest.mark.parametrize("blocked", [NOT_DEPLOYED, RUNTIME], ids=["emulator", "runtime"])
def test_no_module_needs_what_is_not_there(blocked: set[str]) -> None:
    imports = "\n".join(f"import {name}" for name in modules())
    result = run(REFUSE_MODULES.format(blocked=blocked), imports)
    assert result.returncode == 0, result.stderr


def test_importing_reads_no_clock_no_chance_and_no_environment() -> None:
    result = run("import pydantic", REFUSE_EFFECTS, *(f"import {name}" for name in modules()))
    assert result.returncode == 0, result.stderr


def test_importing_loads_neither_pydantic_nor_a_runtime_nor_the_testing_tools() -> None:
    result = run(
        "import sys, tsumugi",
        "print(sorted({name.partition('.')[0] for name in sys.modules}"
        " & {'pydantic', 'workers', 'js', 'tsumugi_emulator'}))",
        "print('tsumugi.testing' in sys.modules)",
    )
    assert result.stdout.split("\n")[:2] == ["[]", "False"], result.stderr


def test_importing_prints_nothing() -> None:
    result = run(*(f"import {name}" for name in modules()))
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("guard", "offence"),
    [
        (REFUSE_MODULES.format(blocked=NOT_DEPLOYED), "import sqlite3"),
        (REFUSE_EFFECTS, "time.time()"),
        (REFUSE_EFFECTS, "random.random()"),
    ],
    ids=["module", "clock", "chance"],
)
def test_the_guards_do_catch_an_offender(guard: str, offence: str) -> None:
    assert run(guard, offence).returncode == 1
