from __future__ import annotations

from typing import Any

from checking import BINDINGS, MAIN, expect

DEFAULT = """
class Default(WorkerEntrypoint):
    async def queue(self, batch, env=None, ctx=None):
        pass
"""


def expect_at_import(text: str, **options: Any) -> None:
    header = "from workers import DurableObject, Response, WorkerEntrypoint, env, fetch\n"
    expect(f"{header}{text}{DEFAULT}", **{**BINDINGS, **options})


def test_there_is_no_entropy_at_import() -> None:
    expect_at_import("""
import os
import random
import secrets
import uuid
from random import choice as pick
from uuid import uuid4

SEED = random.random()  #! TSU201
PICKED = pick([1, 2])  #! TSU201
TOKEN = secrets.token_hex(16)  #! TSU201
ID = uuid4()  #! TSU201
KEY = os.urandom(16)  #! TSU201
OWN = random.Random()  #! TSU201

class Model:
    id = uuid.uuid4()  #! TSU201

def with_default(id=uuid4()):  #! TSU201
    return id

NAMES = [uuid4() for _ in range(2)]  #! TSU201
TEXT = "".join(random.choice("ab") for _ in range(2))  #! TSU201

SEEDED = random.Random(1)
NAMED = uuid.uuid5(uuid.NAMESPACE_DNS, "a")
SAME = secrets.compare_digest("a", "b")
LATER = lambda: random.random()
FACTORY = field(default_factory=uuid4)
LAZY = (random.random() for _ in range(2))

def later():
    return random.random()
""")


def test_functions_that_importing_calls_are_looked_into() -> None:
    expect_at_import(
        """
import random

def make():
    return helper()

def helper():
    if SOMETIMES:
        return random.choice("ab")
    return random.random()  #! TSU201

async def coroutine():
    return random.random()

def generator():
    yield random.random()

@decorated
def replaced():
    return random.random()

VALUE = make()
coroutine()
generator()
replaced()
if VALUE:
    other()

def other():
    return random.random()
""".replace("coroutine()\ngenerator", "PENDING = coroutine()\ngenerator")
    )


def test_what_may_not_run_or_is_provided_for_is_left_alone() -> None:
    expect_at_import("""
import random
import sys

if sys.platform != "emscripten":
    A = random.random()
if DEBUG:
    B = random.random()
try:
    C = random.random()
except RuntimeError:
    C = 0
if __name__ == "__main__":
    print(random.random())
""")


def test_there_is_no_io_at_import() -> None:
    expect_at_import("""
import asyncio
import time
import requests
from js import setTimeout
from pyodide.ffi import run_sync

DATA = requests.get("https://a/")  #! TSU202
ANSWER = run_sync(fetch("https://a/"))  #! TSU202
VALUE = run_sync(env.KV.get("key"))  #! TSU202
time.sleep(0.1)  #! TSU202
EMPTY = Response("ok")  #! TSU202
SETTING = env.TEXT
STATEMENT = env.DB.prepare("?")
time.sleep(0)
NOTHING = Response(None, status=204)
setTimeout(None, 0)
""")


def test_the_time_of_the_upload_is_kept() -> None:
    text = """
import time
from datetime import datetime

STARTED = datetime.now(){mark}
AT = time.time(){mark}
TICK = time.monotonic()  #! TSU203

def later():
    return datetime.now()
"""
    expect_at_import(text.format(mark="  #! TSU203"))
    expect_at_import(text.format(mark=""), compatibility_date="2025-10-15")


def test_a_snapshot_holds_no_javascript_objects() -> None:
    text = """
from js import Headers
from pyodide.ffi import create_proxy, to_js

HEADERS = Headers.new(){mark}
OPTIONS = to_js([1]){mark}
PROXY = create_proxy(print){mark}

def later():
    return Headers.new()
"""
    expect_at_import(text.format(mark="  #! TSU204"))
    expect_at_import(text.format(mark=""), compatibility_date="2025-10-15")


def test_requests_do_not_share_locks() -> None:
    expect_at_import("""
import asyncio
import threading

LOCK = asyncio.Lock()  #! TSU205

class Pool:
    slots = asyncio.Semaphore(2)  #! TSU205

    def __init__(self):
        self.lock = asyncio.Lock()

THREADS = threading.Lock()
""")


def test_a_file_imported_later_may_do_all_that() -> None:
    main = """
    from workers import Response, WorkerEntrypoint

    class Default(WorkerEntrypoint):
        async def fetch(self, request):
            from late import TOKEN
            return Response(TOKEN)
    """
    expect({MAIN: main, "src/late.py": "import secrets\nTOKEN = secrets.token_hex(16)\n"})


def test_a_file_imported_by_an_import_may_not() -> None:
    expect(
        {
            MAIN: """
            from workers import WorkerEntrypoint
            from package import inner

            class Default(WorkerEntrypoint):
                pass
            """,
            "src/package/__init__.py": "import secrets\nA = secrets.token_hex(16)  #! TSU201\n",
            "src/package/inner.py": "from .deeper import B\n",
            "src/package/deeper.py": "import secrets\nB = secrets.token_hex(16)  #! TSU201\n",
        }
    )
