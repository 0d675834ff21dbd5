"""A project directory in tmp_path and the few words the tests need to talk about it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tsumugi_emulator.config.load import Loaded, load

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tsumugi_emulator.config.diagnostics import Diagnostic
    from tsumugi_emulator.config.model import WorkerConfig

TODAY = "2026-11-29"

MINIMAL: dict[str, Any] = {
    "name": "api",
    "main": "src/entry.py",
    "compatibility_date": "2026-09-08",
    "compatibility_flags": ["python_workers"],
}


class Project:
    """Files of one Worker; each ``load`` reads them afresh."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.write("src/entry.py", "")

    def write(self, name: str, text: str) -> Path:
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
        return path

    def sibling(self, name: str) -> Project:
        return Project(self.directory.parent / name)

    def configure(self, **fields: Any) -> Path:
        """A minimal wrangler.jsonc with these fields added; None leaves one out."""
        merged = {key: value for key, value in {**MINIMAL, **fields}.items() if value is not None}
        return self.write("wrangler.jsonc", json.dumps(merged, indent=2))

    def load(
        self,
        *,
        config_path: Path | None = None,
        environment: str | None = None,
        environ: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        **options: Any,
    ) -> Loaded:
        return load(
            config_path=config_path,
            environment=environment,
            cwd=cwd or self.directory,
            environ=environ or {},
            today=TODAY,
            **options,
        )

    def config(self, **options: Any) -> WorkerConfig:
        """The configuration, which must be free of errors."""
        loaded = self.load(**options)
        assert loaded.config is not None, [str(item) for item in loaded.diagnostics]
        return loaded.config

    def errors(self, **options: Any) -> list[str]:
        return self._messages("error", **options)

    def warnings(self, **options: Any) -> list[str]:
        return self._messages("warning", **options)

    def _messages(self, severity: str, **options: Any) -> list[str]:
        found: tuple[Diagnostic, ...] = self.load(**options).diagnostics
        return [item.message for item in found if item.severity == severity]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    directory = tmp_path / "project"
    directory.mkdir()
    return Project(directory)


@pytest.fixture
def queues(project: Project) -> Callable[..., Loaded]:
    """Loads a configuration with one ``queues`` block."""

    def load_queues(**block: Any) -> Loaded:
        project.configure(queues=block)
        return project.load()

    return load_queues
