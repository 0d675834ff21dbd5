"""Read a project's files and say what deploying it uploads. Writes and sends nothing."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tsumugi_emulator.deploy.rules import VENDORED, Module, choose
from tsumugi_emulator.paths import shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tsumugi_emulator.config.model import WorkerConfig

#: More than this is no Worker's folder: somebody pointed "main" at the root of something big.
MAX_FILES: Final = 50_000
#: What must stay at home: it cannot run there and would count towards the size.
EMULATOR: Final = f"{VENDORED}/tsumugi_emulator/"


class UploadError(Exception):
    """The files cannot be uploaded as they lie; the text says what to move."""


@dataclass(frozen=True, slots=True)
class SizedModule:
    module: Module
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Upload:
    """``main`` comes first."""

    modules: tuple[SizedModule, ...]
    left_out: tuple[str, ...]

    @property
    def size_bytes(self) -> int:
        return sum(module.size_bytes for module in self.modules)

    @property
    def own(self) -> tuple[SizedModule, ...]:
        """What is not vendored."""
        return tuple(m for m in self.modules if not m.module.name.startswith(f"{VENDORED}/"))

    @property
    def vendored(self) -> tuple[SizedModule, ...]:
        return tuple(m for m in self.modules if m.module.name.startswith(f"{VENDORED}/"))

    @property
    def emulator_files(self) -> int:
        """How many files of the emulator would go up."""
        return sum(module.module.name.startswith(EMULATOR) for module in self.modules)


def read_upload(config: WorkerConfig) -> Upload:
    """What ``wrangler deploy`` would take. Raises ``UploadError`` and ``rules.RuleConflict``."""
    project = config.path.parent
    root = config.upload.base_dir or config.main.parent
    if not config.main.is_relative_to(root):
        raise UploadError(f'"main" is outside of "base_dir", {shown(str(root))}.')
    vendored = project / VENDORED
    if root != project and (root / VENDORED).is_dir():
        raise UploadError(
            f"{shown(str(root / VENDORED))} is beside your code, where deploying refuses it. "
            f"It belongs beside the configuration: {shown(str(vendored))}."
        )
    skipped = {project / ".wrangler"}
    own = dict(_files(root, skipped))
    own.pop(_name(config.path, root), None)
    if root == project:  # listed as vendored instead
        own = {name: path for name, path in own.items() if not name.startswith(f"{VENDORED}/")}
    packages = dict(_files(vendored, skipped)) if vendored.is_dir() else {}
    main = _name(config.main, root)
    chosen = choose(
        (name for name in own if name != main),
        packages,
        rules=config.upload.rules,
        excluded=config.upload.excluded,
    )
    sources = {**own, **{f"{VENDORED}/{name}": path for name, path in packages.items()}}
    modules = (Module(main, "python"), *chosen.modules)
    sized = (SizedModule(module, sources[module.name].stat().st_size) for module in modules)
    return Upload(tuple(sized), chosen.left_out)


def _files(root: Path, skipped: set[Path]) -> Iterator[tuple[str, Path]]:
    count = 0
    for folder, folders, names in root.walk():
        folders[:] = sorted(name for name in folders if folder / name not in skipped)
        for name in names:
            count += 1
            if count > MAX_FILES:
                raise UploadError(
                    f"{shown(str(root))} holds more than {MAX_FILES} files. Keep the Worker's code "
                    'in a folder of its own and point "main" there.'
                )
            yield _name(folder / name, root), folder / name


def _name(path: Path, root: Path) -> str:
    return os.path.relpath(path, root).replace(os.sep, "/")
