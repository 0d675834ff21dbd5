"""Check Workers written down as text, where a line that ends with ``#! TSU101`` has that fault."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from typing import Any

from tsumugi_emulator.check.judge import judge
from tsumugi_emulator.check.reader import Reader
from tsumugi_emulator.config.jsonc import parse_jsonc
from tsumugi_emulator.config.parse import parse
from tsumugi_emulator.config.toml import parse_toml

ROOT = Path("/project")
MAIN = "src/entry.py"
CONFIGURATION = "wrangler.jsonc"

_MARK = re.compile(r"#! (?P<codes>TSU\d+(?: TSU\d+)*)\s*$")

#: Every kind of binding, so that texts need not say which they use.
BINDINGS: dict[str, Any] = {
    "queues": {
        "producers": [{"binding": "JOBS", "queue": "jobs"}],
        "consumers": [{"queue": "jobs"}],
    },
    "kv_namespaces": [{"binding": "KV", "id": "kv"}],
    "d1_databases": [{"binding": "DB", "database_name": "db", "database_id": "db"}],
    "r2_buckets": [{"binding": "BUCKET", "bucket_name": "bucket"}],
    "services": [{"binding": "OTHER", "service": "other"}],
    "vars": {"TEXT": "text", "LIMITS": {"daily": 1}},
}
OBJECTS: dict[str, Any] = {
    "durable_objects": {"bindings": [{"name": "ROOMS", "class_name": "Room"}]},
    "migrations": [{"tag": "v1", "new_sqlite_classes": ["Room"]}],
}

HEADER = "from workers import DurableObject, Request, Response, WorkerEntrypoint, env, fetch\n"


class InMemory:
    """A file system of texts."""

    def __init__(self, files: dict[str, str]) -> None:
        self._files = {ROOT / name: text for name, text in files.items()}

    def text(self, path: Path) -> str | None:
        return self._files.get(path)

    def is_file(self, path: Path) -> bool:
        return path in self._files

    def is_directory(self, path: Path) -> bool:
        return any(path in file.parents for file in self._files)

    def names(self, directory: Path) -> list[str]:
        return sorted(
            {
                file.relative_to(directory).parts[0]
                for file in self._files
                if directory in file.parents
            }
        )


class Workers:
    """Workers that can be checked again after their files have changed."""

    def __init__(self, *projects: dict[str, str], **options: Any) -> None:
        self.projects = [dict(project) for project in projects]
        self.options = options
        self.reader = Reader()

    def findings(self) -> list[Any]:
        return judge([self._read(files) for files in self.projects])

    def _read(self, files: dict[str, str]) -> Any:
        self.reader.files = InMemory(files)
        name = self.options.get("configuration", CONFIGURATION)
        document = (parse_toml if name.endswith(".toml") else parse_jsonc)(files[name])
        parsed = parse(
            document,
            path=ROOT / name,
            environment=self.options.get("environment"),
            today="2026-11-29",
        )
        assert parsed.config is not None, parsed.report.diagnostics
        return self.reader.read(parsed.config, parsed.report.diagnostics)


def configuration(**fields: Any) -> str:
    return json.dumps(
        {
            "name": "worker",
            "main": MAIN,
            "compatibility_date": "2026-11-01",
            "compatibility_flags": ["python_workers"],
            **fields,
        },
        indent=2,
    )


def found(
    files: dict[str, str] | str, *, environment: str | None = None, **fields: Any
) -> set[Any]:
    """(file, line, code) of everything but notes about the configuration."""
    if isinstance(files, str):
        files = {MAIN: files}
    files = {"pyproject.toml": '[project]\ndependencies = ["some"]\n', **files}
    files.setdefault(CONFIGURATION, configuration(**fields))
    return {
        (str(Path(one.path).relative_to(ROOT)), one.line, one.code)
        for one in Workers(files, environment=environment).findings()
    }


def marked(files: dict[str, str]) -> set[tuple[str, int, str]]:
    return {
        (name, number, code)
        for name, text in files.items()
        for number, line in enumerate(text.split("\n"), 1)
        if (match := _MARK.search(line))
        for code in match["codes"].split()
    }


def expect(files: dict[str, str] | str, **options: Any) -> None:
    """Exactly the marked lines have the marked faults."""
    if isinstance(files, str):
        files = {MAIN: files}
    files = {name: textwrap.dedent(text) for name, text in files.items()}
    seen, wanted = found(files, **options), marked(files)
    assert not seen - wanted, f"found, but not marked: {sorted(seen - wanted)}"
    assert not wanted - seen, f"marked, but not found: {sorted(wanted - seen)}"


def expect_in_handler(body: str, *, imports: str = "", **options: Any) -> None:
    """As ``expect``, for statements of a queue handler, with every kind of binding at hand."""
    expect(in_handler(body, imports), **{**BINDINGS, **options})


def in_handler(body: str, imports: str = "") -> str:
    return (
        f"{HEADER}{textwrap.dedent(imports)}\n"
        "class Default(WorkerEntrypoint):\n"
        "    async def queue(self, batch, env=None, ctx=None):\n"
        f"{textwrap.indent(textwrap.dedent(body), ' ' * 8)}\n"
    )


def expect_in_object(body: str, *, imports: str = "", **options: Any) -> None:
    """As ``expect``, for statements of a method of a Durable Object."""
    text = (
        f"{HEADER}{textwrap.dedent(imports)}\n"
        "class Room(DurableObject):\n"
        "    async def enter(self, name):\n"
        f"{textwrap.indent(textwrap.dedent(body), ' ' * 8)}\n"
        "class Default(WorkerEntrypoint):\n"
        "    async def queue(self, batch, env=None, ctx=None):\n"
        "        pass\n"
    )
    expect(text, **{**BINDINGS, **OBJECTS, **options})
