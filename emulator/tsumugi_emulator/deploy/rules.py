"""Which files become modules of a Python Worker, and of which type. Pure: paths in, modules out.

Wrangler's rules (``deployment-bundle`` of 4.86, compared with its dry run by a test): the first
rule of a type completes it unless it falls through, what is under ``python_modules`` goes up as it
is, and everything else that no rule names stays at home.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tsumugi_emulator.config.model import UploadRule
from tsumugi_emulator.config.upload import TYPES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: After the configured ones.
DEFAULT_RULES: Final = (
    UploadRule(type="PythonModule", globs=("**/*.py",)),
    UploadRule(type="Text", globs=("**/*.txt", "**/*.html", "**/*.sql")),
    UploadRule(type="Data", globs=("**/*.bin",)),
    UploadRule(type="CompiledWasm", globs=("**/*.wasm", "**/*.wasm?module")),
)
VENDORED: Final = "python_modules"
#: The runtime SDK's JavaScript is imported by name.
_VENDORED_JAVASCRIPT: Final = re.compile(r"workers/.*\.m?js")
#: Folders of caches and environments: reporting what is left of them would say nothing.
_UNTOLD: Final = frozenset({"__pycache__", "node_modules", ".venv", ".venv-workers", ".git"})


class RuleConflict(ValueError):
    """A file is named by a rule that an earlier one has switched off; wrangler refuses it."""

    def __init__(self, path: str, rule: UploadRule) -> None:
        super().__init__(
            f"{path} matches a rule of type {rule.type} that comes after another one of that type "
            'which is complete. Set "fallthrough": true on the earlier rule in "rules".'
        )


@dataclass(frozen=True, slots=True, order=True)
class Module:
    """One file of the upload."""

    #: With "/" between folders.
    name: str
    #: As wrangler's listing calls it.
    type: str


@dataclass(frozen=True, slots=True)
class Chosen:
    modules: tuple[Module, ...]
    #: Files around ``main`` that stay at home; the code cannot read them once deployed.
    left_out: tuple[str, ...]


def choose(
    paths: Iterable[str],
    vendored: Iterable[str],
    *,
    rules: Sequence[UploadRule] = (),
    excluded: Sequence[str] = (),
) -> Chosen:
    """The modules for ``paths`` (from the module root) and ``vendored`` (from python_modules).

    Raises ``RuleConflict``.
    """
    active, switched_off = _split((*rules, *DEFAULT_RULES))
    modules, left_out = [], []
    for path in sorted(paths):
        kind = _type_of(path, active, switched_off)
        if kind is not None:
            modules.append(Module(path, TYPES[kind]))
        elif not _UNTOLD.intersection(path.split("/")):
            left_out.append(path)
    unwanted = [_pattern(glob) for glob in excluded]
    for path in sorted(vendored):
        if not any(pattern.fullmatch(path) for pattern in unwanted):
            kind = "ESModule" if _VENDORED_JAVASCRIPT.fullmatch(path) else "Data"
            modules.append(Module(f"{VENDORED}/{path}", TYPES[kind]))
    return Chosen(tuple(modules), tuple(left_out))


type _Compiled = tuple[UploadRule, tuple[re.Pattern[str], ...]]


def _split(rules: Iterable[UploadRule]) -> tuple[list[_Compiled], list[_Compiled]]:
    active: list[_Compiled] = []
    switched_off: list[_Compiled] = []
    complete: set[str] = set()
    for rule in rules:
        if rule.type in complete:
            switched_off.append((rule, tuple(_loose_pattern(glob) for glob in rule.globs)))
        else:
            active.append((rule, tuple(_pattern(glob) for glob in rule.globs)))
        if not rule.fallthrough:
            complete.add(rule.type)
    return active, switched_off


def _type_of(path: str, active: list[_Compiled], switched_off: list[_Compiled]) -> str | None:
    kind = next((rule.type for rule, patterns in active if _any(patterns, path)), None)
    for rule, patterns in switched_off:
        if _any(patterns, path):
            raise RuleConflict(path, rule)
    return kind


def _any(patterns: Iterable[re.Pattern[str]], path: str) -> bool:
    return any(pattern.fullmatch(path) for pattern in patterns)


def _pattern(glob: str) -> re.Pattern[str]:
    """``**`` as a whole segment is any number of folders, ``*`` is anything within one."""
    text, place = "", 0
    for star in re.finditer(r"\*+", glob):
        text += re.escape(glob[place : star.start()])
        place = star.end()
        starts = star.start() == 0 or glob[star.start() - 1] == "/"
        ends = place == len(glob) or glob[place] == "/"
        if len(star[0]) > 1 and starts and ends:
            text += r"(?:[^/]*(?:/|\Z))*"
            place += 1
        else:
            text += "[^/]*"
    return re.compile(text + re.escape(glob[place:]), re.DOTALL)


def _loose_pattern(glob: str) -> re.Pattern[str]:
    """How wrangler reads the globs of a rule it ignores: any star is anything at all."""
    return re.compile(".*".join(map(re.escape, re.split(r"\*+", glob))), re.DOTALL)
