"""Read what a check is about: the Worker's files as imports reach them. All of the check's I/O.

Decides nothing but which file an import means; production's order is the standard library, the
packages in python_modules, then the directory of the main file.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tsumugi_emulator.check import suppressions
from tsumugi_emulator.check.examine import Source, examine
from tsumugi_emulator.check.places import ConfigPlaces
from tsumugi_emulator.check.project import Packages, Project
from tsumugi_emulator.check.runtime_modules import REMOVED, STANDARD_LIBRARY
from tsumugi_emulator.check.settings import settings_of
from tsumugi_emulator.config.diagnostics import Diagnostic
from tsumugi_emulator.config.document import TextError
from tsumugi_emulator.config.files import is_file, read_text
from tsumugi_emulator.config.jsonc import parse_jsonc
from tsumugi_emulator.config.toml import parse_toml

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tsumugi_emulator.check.facts import ImportFact, ModuleFacts, Settings
    from tsumugi_emulator.config.model import WorkerConfig

#: Files beyond this many are not read; imports reach them, but no Worker is that large.
MAX_MODULES = 5_000

PACKAGES_DIRECTORY = "python_modules"


class Known(NamedTuple):
    """The facts of a file, and what they were made from."""

    text: str
    settings: Settings
    facts: ModuleFacts


class Reader:
    """Reads Workers, and what has not changed since only once (ADR-0201)."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Known] = {}
        #: How many files were parsed, for tests and measurements.
        self.examined = 0

    def read(self, config: WorkerConfig, diagnostics: Iterable[Diagnostic] = ()) -> Project:
        """Everything that is to be known about the Worker."""
        root = config.main.parent
        packages = _packages(config)
        settings = settings_of(config, has_sdk=packages.has("workers"))
        search = _Search(root, self, settings, packages)
        search.run(config.main)
        reads = {read.path for facts in search.modules.values() for read in facts.file_reads}
        return Project(
            config=config,
            diagnostics=tuple(diagnostics),
            places=_places(config),
            main=config.main.stem,
            modules=search.modules,
            imported_at_start=frozenset(search.at_start),
            local=frozenset(search.local),
            prefixed=frozenset(search.prefixed),
            hidden=search.hidden,
            existing=frozenset(path for path in reads if _exists(path, config)),
            packages=search.packages,
        )

    def facts(self, name: str, path: Path, settings: Settings, *, is_package: bool) -> ModuleFacts:
        text = read_text(path)
        if isinstance(text, Diagnostic):
            text = f"({text.message})"  # which is no Python, and says why
        known = self._known.get((name, str(path)))
        if known is not None and known.text == text and known.settings == settings:
            return known.facts
        self.examined += 1
        facts = examine(Source(name, str(path), text, is_package), settings)
        self._known[name, str(path)] = Known(text, settings, facts)
        return facts


class _Search:
    """Follows imports from the main file."""

    def __init__(self, root: Path, reader: Reader, settings: Settings, packages: Packages) -> None:
        self._root = root
        self._reader = reader
        self._settings = settings
        self.packages = packages
        self.modules: dict[str, ModuleFacts] = {}
        self.at_start: set[str] = set()
        self.local: set[str] = set()
        self.prefixed: set[str] = set()
        self.hidden: dict[str, str] = {}
        self._followed: set[str] = set()

    def run(self, main: Path) -> None:
        name = main.stem
        self.local.add(name)
        self.modules[name] = self._reader.facts(name, main, self._settings, is_package=False)
        pending = [(name, True)]
        while pending:
            name, at_start = pending.pop()
            if name in self.at_start or (not at_start and name in self._followed):
                continue
            self._followed.add(name)
            if at_start:
                self.at_start.add(name)
            for fact in self.modules[name].imports:
                starts = at_start and not fact.is_lazy
                pending += [(found, starts) for found in self._find(fact)]

    def _find(self, fact: ImportFact) -> Iterator[str]:
        """The project's modules that an import runs, packages around them included."""
        if not fact.module:
            return
        top = fact.module.partition(".")[0]
        if not fact.level and self._is_taken(top):
            return
        yield from self._along(fact.module)
        if fact.name is not None and fact.name != "*":
            yield from self._along(f"{fact.module}.{fact.name}")
        if top not in self.local and top == self._root.name:
            self._note_prefix(fact)

    def _is_taken(self, top: str) -> bool:
        """Whether something else of that name comes first; notes a file that it hides."""
        is_standard = top in STANDARD_LIBRARY
        if is_standard and top in REMOVED[self._settings.python_version]:
            return False
        if not is_standard and not self.packages.has(top):
            return False
        if top not in self.modules:
            path = self._path(top)
            if path is not None:
                self.hidden[top] = path.name if path.name != "__init__.py" else f"{top}/"
        return True

    def _along(self, dotted: str) -> Iterator[str]:
        parts = dotted.split(".")
        for count in range(1, len(parts) + 1):
            name = ".".join(parts[:count])
            if name not in self.modules and not self._load(name):
                if name not in self.local:
                    return
                continue
            yield name

    def _load(self, name: str) -> bool:
        """Whether ``name`` is a file of the project, which is then known."""
        path = self._path(name)
        if path is None or len(self.modules) >= MAX_MODULES:
            if (self._root / Path(*name.split("."))).is_dir():
                self.local.add(name)  # a package without an __init__
            return False
        self.local.add(name)
        is_package = path.name == "__init__.py"
        self.modules[name] = self._reader.facts(name, path, self._settings, is_package=is_package)
        return True

    def _path(self, name: str) -> Path | None:
        base = self._root.joinpath(*name.split("."))
        for path in (base / "__init__.py", base.with_name(f"{base.name}.py")):
            if is_file(path):
                return path
        return None

    def _note_prefix(self, fact: ImportFact) -> None:
        _, _, rest = fact.module.partition(".")
        name = rest or fact.name or ""
        if name and (
            self._path(name) is not None or self._root.joinpath(*name.split(".")).is_dir()
        ):
            self.prefixed.add(fact.module)


def _exists(path: str, config: WorkerConfig) -> bool:
    """Whether a relative path exists where somebody who writes it may be."""
    try:
        return any(
            (directory / path).exists() for directory in (config.path.parent, config.main.parent)
        )
    except (OSError, ValueError):
        return False


def _places(config: WorkerConfig) -> ConfigPlaces:
    """The configuration was read without faults before; what changed since is simply not found."""
    text = read_text(config.path)
    if isinstance(text, Diagnostic):
        return ConfigPlaces(config.path, None, config.environment)
    try:
        document = (parse_toml if config.path.suffix == ".toml" else parse_jsonc)(text)
    except TextError:
        document = None
    comments = tuple(suppressions.in_configuration(text))
    return ConfigPlaces(config.path, document, config.environment, comments)


def _packages(config: WorkerConfig) -> Packages:
    project = config.path.parent
    directory = project / PACKAGES_DIRECTORY
    try:
        entries = [entry.name.partition(".")[0] for entry in directory.iterdir()]
    except OSError:
        entries = []
    return Packages(
        installed=frozenset(entries) if entries else None, declared=_dependencies(project)
    )


def _dependencies(project: Path) -> tuple[str, ...] | None:
    try:
        text = (project / "pyproject.toml").read_text("utf-8")
        listed = tomllib.loads(text).get("project", {}).get("dependencies", [])
    except (OSError, ValueError, AttributeError):
        return None
    return tuple(one for one in listed if isinstance(one, str))
