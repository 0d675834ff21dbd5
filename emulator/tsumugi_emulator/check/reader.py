"""Read what a check is about: the Worker's files as imports reach them. All of the check's I/O.

Decides nothing but which file an import means; production's order is the standard library, the
packages in python_modules, then the directory of the main file.
"""

from __future__ import annotations

import hashlib
import tomllib
from typing import TYPE_CHECKING, NamedTuple, Protocol

from tsumugi_emulator.check import suppressions
from tsumugi_emulator.check.examine import Source, examine, unreadable
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
    from pathlib import Path

    from tsumugi_emulator.check.facts import ImportFact, ModuleFacts, Settings
    from tsumugi_emulator.config.model import WorkerConfig

#: Files beyond this many are not read; imports reach them, but no Worker is that large.
MAX_MODULES = 5_000

PACKAGES_DIRECTORY = "python_modules"


class Files(Protocol):
    """The few questions asked of a file system; every error is a no."""

    def text(self, path: Path) -> str | None: ...

    def is_file(self, path: Path) -> bool: ...

    def is_directory(self, path: Path) -> bool: ...

    def names(self, directory: Path) -> list[str]: ...


class Disk:
    """The real one."""

    def text(self, path: Path) -> str | None:
        text = read_text(path)
        return None if isinstance(text, Diagnostic) else text

    def is_file(self, path: Path) -> bool:
        return is_file(path)

    def is_directory(self, path: Path) -> bool:
        try:
            return path.is_dir()
        except (OSError, ValueError):
            return False

    def names(self, directory: Path) -> list[str]:
        try:
            return [entry.name for entry in directory.iterdir()]
        except OSError:
            return []


class Known(NamedTuple):
    """The facts of a file, and a fingerprint of the text and settings they were made from."""

    fingerprint: bytes
    facts: ModuleFacts


#: By the module's name and its path.
type Memory = dict[tuple[str, str], Known]


class Reader:
    """Reads Workers, and what has not changed since only once (ADR-0201)."""

    def __init__(self, files: Files | None = None, known: Memory | None = None) -> None:
        """``known`` is the memory of an earlier reader."""
        self.files = files or Disk()
        self._known: Memory = known or {}
        self._used: Memory = {}
        #: How many files were parsed, for tests and measurements.
        self.examined = 0

    def read(self, config: WorkerConfig, diagnostics: Iterable[Diagnostic] = ()) -> Project:
        """Everything that is to be known about the Worker."""
        root = config.main.parent
        packages = self._packages(config.path.parent)
        settings = settings_of(config, has_sdk=packages.has("workers"))
        search = _Search(root, self, settings, packages)
        search.run(config.main)
        reads = {read.path for facts in search.modules.values() for read in facts.file_reads}
        return Project(
            config=config,
            diagnostics=tuple(diagnostics),
            places=self._places(config),
            main=config.main.stem,
            modules=search.modules,
            imported_at_start=frozenset(search.at_start),
            local=frozenset(search.local),
            prefixed=frozenset(search.prefixed),
            hidden=search.hidden,
            existing=frozenset(path for path in reads if self._exists(path, config)),
            packages=search.packages,
        )

    def facts(self, name: str, path: Path, settings: Settings, *, is_package: bool) -> ModuleFacts:
        text = self.files.text(path)
        if text is None:
            return unreadable(Source(name, str(path), "", is_package))
        place = (name, str(path))
        fingerprint = _fingerprint(text, settings)
        known = self._known.get(place)
        if known is None or known.fingerprint != fingerprint:
            self.examined += 1
            facts = examine(Source(name, str(path), text, is_package), settings)
            known = self._known[place] = Known(fingerprint, facts)
        self._used[place] = known
        return known.facts

    def memory(self) -> Memory:
        """The facts of the files that were read, for a later reader."""
        return self._used

    def _exists(self, path: str, config: WorkerConfig) -> bool:
        """Whether a relative path exists where somebody who writes it may be."""
        return any(
            self.files.is_file(directory / path) or self.files.is_directory(directory / path)
            for directory in (config.path.parent, config.main.parent)
        )

    def _places(self, config: WorkerConfig) -> ConfigPlaces:
        """The configuration was read without faults before; what changed since is not found."""
        text = self.files.text(config.path) or ""
        try:
            document = (parse_toml if config.path.suffix == ".toml" else parse_jsonc)(text)
        except TextError:
            document = None
        comments = tuple(suppressions.in_configuration(text))
        return ConfigPlaces(config.path, document, config.environment, comments)

    def _packages(self, project: Path) -> Packages:
        entries = self.files.names(project / PACKAGES_DIRECTORY)
        return Packages(
            installed=frozenset(name.partition(".")[0] for name in entries) if entries else None,
            declared=_dependencies(self._pyproject(project)),
        )

    def _pyproject(self, project: Path) -> str | None:
        """The nearest going up, as pywrangler and uv find it: Workers of a repository share one."""
        paths = (directory / "pyproject.toml" for directory in (project, *project.parents))
        return next((text for path in paths if (text := self.files.text(path)) is not None), None)


class _Search:
    """Follows imports from the main file."""

    def __init__(self, root: Path, reader: Reader, settings: Settings, packages: Packages) -> None:
        self._root = root
        self._reader = reader
        self._files = reader.files
        self._settings = settings
        self.packages = packages
        self.modules: dict[str, ModuleFacts] = {}
        self.at_start: set[str] = set()
        self.local: set[str] = set()
        self.prefixed: set[str] = set()
        self.hidden: dict[str, str] = {}
        self._followed: set[str] = set()
        self._paths: dict[str, Path | None] = {}

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
            if self._files.is_directory(self._root.joinpath(*name.split("."))):
                self.local.add(name)  # a package without an __init__
            return False
        self.local.add(name)
        is_package = path.name == "__init__.py"
        self.modules[name] = self._reader.facts(name, path, self._settings, is_package=is_package)
        return True

    def _path(self, name: str) -> Path | None:
        """The file of a module of the project."""
        if name not in self._paths:
            self._paths[name] = self._find_path(name)
        return self._paths[name]

    def _find_path(self, name: str) -> Path | None:
        base = self._root.joinpath(*name.split("."))
        for path in (base / "__init__.py", base.with_name(f"{base.name}.py")):
            if self._files.is_file(path):
                return path
        return None

    def _note_prefix(self, fact: ImportFact) -> None:
        _, _, rest = fact.module.partition(".")
        name = rest or fact.name or ""
        is_directory = self._files.is_directory(self._root.joinpath(*name.split(".")))
        if name and (self._path(name) is not None or is_directory):
            self.prefixed.add(fact.module)


def _fingerprint(text: str, settings: Settings) -> bytes:
    how = [settings.python_version, settings.sdk_converts, sorted(settings.flags)]
    data = repr((how, sorted(settings.bindings.items()), text)).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=16).digest()


def _dependencies(pyproject: str | None) -> tuple[str, ...] | None:
    """``[project].dependencies``; None without a readable file."""
    if pyproject is None:
        return None
    try:
        listed = tomllib.loads(pyproject).get("project", {}).get("dependencies", [])
    except (ValueError, AttributeError):
        return None
    return tuple(one for one in listed if isinstance(one, str))
