"""``tsumugi check`` on a project of 20 000 lines: ``python -m benchmarks.check``.

The project is generated: modules that import each other, handlers, models, queries, and here and
there a fault. Timed as a person runs it, the command included; and as ``tsumugi dev`` asks for it,
first with nothing known and then after one file has changed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from tsumugi_emulator.check.exchange import Request
from tsumugi_emulator.cli.checks import ask_a_process
from tsumugi_emulator.cli.configuration import load_configuration

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LINES = 20_000
#: What the command may take, in seconds.
TARGET_S = 1.0
MODULES_IN_A_PACKAGE = 20

CONFIGURATION = {
    "name": "large",
    "main": "src/entry.py",
    "compatibility_date": "2026-11-01",
    "compatibility_flags": ["python_workers"],
    "queues": {
        "producers": [{"binding": "JOBS", "queue": "jobs"}],
        "consumers": [{"queue": "jobs"}],
    },
    "kv_namespaces": [{"binding": "KV", "id": "kv"}],
    "d1_databases": [{"binding": "DB", "database_name": "db", "database_id": "db"}],
}

ENTRY = """\
from workers import Response, WorkerEntrypoint

{imports}


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        await self.env.JOBS.send({{"url": request.url}})
        return Response("ok")

    async def queue(self, batch, env=None, ctx=None):
        for message in batch.messages:
            message.ack()
"""

HEAD = '''\
"""Orders of part {number}."""

from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Iterable

log = logging.getLogger(__name__)
LIMIT = {limit}
'''

PARTS = (
    '''\


class Order{n}(BaseModel):
    """An order as it arrives."""

    id: str
    customer: str = "nobody"
    cents: int = 0
    tags: list[str] = []

    def total(self, rate: float = 1.0) -> int:
        if self.cents < 0:
            raise ValueError(f"order {{self.id}} costs {{self.cents}}")
        return round(self.cents * rate) + len(self.tags)


async def save_{n}(env: Any, order: Order{n}) -> dict[str, Any]:
    statement = env.DB.prepare("INSERT INTO orders (id, cents) VALUES (?, ?)")
    result = await statement.bind(order.id, order.total()).run()
    await env.KV.put(f"order:{{order.id}}", order.model_dump_json(), expirationTtl=3600)
    if result.meta.changes == 0:
        log.warning("order %s is there already", order.id)
        return {{"id": order.id, "saved": False}}
    await env.JOBS.send({{"id": order.id, "at": datetime.now(UTC).isoformat()}})
    return {{"id": order.id, "saved": True}}
''',
    """\


@dataclass
class Window{n}:
    start: datetime
    length: timedelta = timedelta(minutes=5)
    seen: dict[str, int] = field(default_factory=dict)

    def __contains__(self, moment: datetime) -> bool:
        return self.start <= moment < self.start + self.length

    def count(self, names: Iterable[str]) -> int:
        for name in names:
            self.seen[name] = self.seen.get(name, 0) + 1
        return max(self.seen.values(), default=0)


async def collect_{n}(env: Any, names: list[str]) -> list[Any]:
    found = []
    for chunk in (names[at : at + LIMIT] for at in range(0, len(names), LIMIT)):
        rows = await env.DB.prepare("SELECT * FROM orders WHERE name = ?").bind(chunk[0]).all()
        for row in rows.results:
            try:
                found.append(json.loads(row["body"]))
            except (KeyError, ValueError) as error:
                log.exception("row %s: %s", row, error)
    return [one for one in found if one and one.get("name") in names]
""",
    """\


async def handle_{n}(env: Any, batch: Any) -> None:
    async def one(message: Any) -> None:
        body = message.body
        match body:
            case {{"kind": "refund", "id": str(id)}}:
                await env.KV.delete(f"order:{{id}}")
            case {{"kind": kind}} if kind in ("new", "again"):
                await env.JOBS.send(body, delaySeconds=30)
            case _:
                raise ValueError(f"no kind in {{body!r}}")
        message.ack()

    results = await asyncio.gather(*(one(m) for m in batch.messages), return_exceptions=True)
    failed = [result for result in results if isinstance(result, Exception)]
    if failed:
        log.error("%d of %d failed: %s", len(failed), len(results), failed[0])
""",
    """\


async def doubtful_{n}(env: Any) -> None:
    env.JOBS.send({{"late": True}})
    await env.JOBS.send({{"pair": (1, 2)}}, delay_seconds=5)
""",
)


def write_project(directory: Path, lines: int) -> int:
    """A Worker of about so many lines; how many there are."""
    random = Random(1)
    source = directory / "src"
    modules: list[str] = []
    written = 0
    while written < lines:
        number = len(modules)
        package = f"part{number // MODULES_IN_A_PACKAGE}"
        text = HEAD.format(number=number, limit=random.randint(5, 50))
        weights = (10, 10, 10, 1)
        for n in range(random.randint(4, 12)):
            text += random.choices(PARTS, weights)[0].format(n=n)
        path = source / package / f"orders{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / "__init__.py").touch()
        path.write_text(text)
        modules.append(f"{package}.orders{number}")
        written += text.count("\n")
    imports = "\n".join(f"import {name}" for name in modules)
    entry = ENTRY.format(imports=imports)
    (source / "entry.py").write_text(entry)
    (directory / "wrangler.json").write_text(json.dumps(CONFIGURATION))
    (directory / "pyproject.toml").write_text('[project]\ndependencies = ["pydantic"]\n')
    return written + entry.count("\n")


def best_s(repeat: int, work: Callable[[], object]) -> float:
    times = []
    for _ in range(repeat):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def run_command(directory: Path) -> str:
    program = "from tsumugi_emulator.cli.main import main; main()"
    result = subprocess.run(
        [sys.executable, "-c", program, "check"],
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
    )
    return result.stdout.strip().rpartition("\n")[2]


def ask(directory: Path, memory: bytes | None) -> bytes:
    config = load_configuration(directory / "wrangler.json", None).config
    assert config is not None
    answer = asyncio.run(ask_a_process(Request((config,), memory), False))
    return answer.memory


def main(arguments: Sequence[str] | None = None) -> int:
    """Print how long it takes; 1 if it is longer than the target."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.check", description=__doc__)
    parser.add_argument("--lines", type=int, default=LINES, help=f"of the project [{LINES}]")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each row [5]")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        lines = write_project(directory, options.lines)
        summary = run_command(directory)
        command_s = best_s(options.repeat, lambda: run_command(directory))
        fresh_s = best_s(options.repeat, lambda: ask(directory, None))
        memory = ask(directory, None)
        changed = next((directory / "src" / "part0").glob("orders*.py"))
        changed.write_text(f"# changed\n{changed.read_text()}")
        again_s = best_s(options.repeat, lambda: ask(directory, memory))
    print(f"{lines} lines. {summary}")
    print(f"tsumugi check                         {command_s:6.3f} s  (target {TARGET_S:g} s)")
    print(f"under dev, nothing known              {fresh_s:6.3f} s")
    print(f"under dev, one file changed           {again_s:6.3f} s")
    return 0 if command_s <= TARGET_S else 1


if __name__ == "__main__":
    raise SystemExit(main())
