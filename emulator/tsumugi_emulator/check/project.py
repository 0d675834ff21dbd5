"""What is known about one Worker: its configuration, the facts of its files, its packages.

Values and questions about them; reader.py fills it. Touches no files.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from tsumugi_emulator.check.findings import Finding, Rule
from tsumugi_emulator.check.ruleset import BASES, MAX_BASES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tsumugi_emulator.check.facts import ClassFact, MethodFact, ModuleFacts, Role, Spot
    from tsumugi_emulator.check.places import ConfigPlaces
    from tsumugi_emulator.config.diagnostics import Diagnostic
    from tsumugi_emulator.config.model import WorkerConfig

#: Bases that neither bring handlers nor hide any.
_PLAIN_BASES = frozenset({"abc.ABC", "typing.Generic", "typing.Protocol", "builtins.object"})

#: Handlers that bases outside the project bring.
_BROUGHT = {
    "tsumugi.QueueConsumer": frozenset({"queue"}),
    "tsumugi.consumer.QueueConsumer": frozenset({"queue"}),
    "tsumugi.Entrypoint": frozenset({"fetch", "queue", "scheduled"}),
    "tsumugi.JobShard": frozenset({"alarm"}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Packages:
    """What the Worker has beside its own files and the standard library."""

    #: Top-level names in python_modules; None before ``pywrangler sync`` has filled it.
    installed: frozenset[str] | None = None
    #: ``[project].dependencies`` of pyproject.toml as written; None without such a file.
    declared: tuple[str, ...] | None = None

    @property
    def are_known(self) -> bool:
        """Whether what is not listed is certainly not there."""
        return self.installed is not None or not self.declared

    def has(self, name: str) -> bool:
        return self.installed is not None and name in self.installed


class Lineage(NamedTuple):
    """A class and its bases, in the order in which methods are looked for, roughly."""

    classes: tuple[tuple[ModuleFacts, ClassFact], ...]
    role: Role | None
    #: Whether a base is unknown, so that anything may be inherited.
    is_open: bool
    #: Handlers that come from outside the project.
    brought: frozenset[str]

    def method(self, name: str) -> tuple[ModuleFacts, MethodFact] | None:
        for module, fact in self.classes:
            if name in fact.methods:
                return module, fact.methods[name]
        return None

    def surely_inherits(self, name: str, *bases: str) -> bool:
        """Whether its method of this name is the one of a base that is called one of these."""
        return (
            not self.is_open
            and any(base in bases for _, one in self.classes for base in one.bases)
            and self.method(name) is None
            and all(name not in one.other_names for _, one in self.classes)
        )

    def may_have(self, name: str) -> bool:
        """Whether the class has the method, or may have it for all that is known."""
        return (
            self.is_open
            or name in self.brought
            or self.method(name) is not None
            or any(name in fact.other_names for _, fact in self.classes)
        )


@dataclass(frozen=True, kw_only=True)
class Project:
    """One Worker in one environment."""

    config: WorkerConfig
    #: What reading the configuration has found.
    diagnostics: tuple[Diagnostic, ...]
    places: ConfigPlaces
    #: The main module's name.
    main: str
    #: By name; the ones that are reached from the main module by imports.
    modules: Mapping[str, ModuleFacts]
    #: Names of those that are imported when the Worker starts.
    imported_at_start: frozenset[str]
    #: Imported modules that are files or packages of the project, also without an ``__init__``.
    local: frozenset[str]
    #: Imported modules that are found only without their first part, the import root's own name.
    prefixed: frozenset[str]
    #: Imported files of the project whose name the standard library or a package takes first.
    hidden: Mapping[str, str]
    #: Of the relative paths that are read, those that exist in the project.
    existing: frozenset[str]
    packages: Packages

    @cached_property
    def registered(self) -> frozenset[str]:
        """Modules that the project makes itself, while it runs."""
        found: frozenset[str] = frozenset()
        return found.union(*(module.registered for module in self.modules.values()))

    @cached_property
    def knows_every_module(self) -> bool:
        """Whether what is neither in the project nor installed is certainly not found."""
        changed = any(module.changes_path for module in self.modules.values())
        return self.packages.are_known and not changed

    @property
    def main_module(self) -> ModuleFacts | None:
        return self.modules.get(self.main)

    def finding(self, rule: Rule, path: str, spot: Spot, message: str, next_step: str) -> Finding:
        return Finding(
            code=rule.code,
            severity=rule.severity,
            path=path,
            line=spot.line,
            column=spot.column,
            message=message,
            next_step=next_step,
        )

    # -- Classes ----------------------------------------------------------------------------------

    def find_class(self, qualified: str) -> tuple[ModuleFacts, ClassFact] | None:
        """The class of the project that a full name means, also through re-exports."""
        for _ in range(MAX_BASES):
            module_name, _, name = qualified.rpartition(".")
            module = self.modules.get(module_name)
            if module is None:
                return None
            if name in module.classes:
                return module, module.classes[name]
            if name not in module.imported:
                return None
            qualified = module.imported[name]
        return None

    def lineage(self, module: ModuleFacts, fact: ClassFact) -> Lineage:
        classes: list[tuple[ModuleFacts, ClassFact]] = []
        role: Role | None = None
        is_open = False
        brought: frozenset[str] = frozenset()
        pending: list[tuple[ModuleFacts, ClassFact]] = [(module, fact)]
        while pending and len(classes) < MAX_BASES:
            module, fact = pending.pop(0)
            classes.append((module, fact))
            for base in fact.bases:
                found = self.find_class(base) if base else None
                if found is not None:
                    pending.append(found)
                elif base in BASES:
                    role = role or BASES[base]
                    brought |= _BROUGHT.get(base, frozenset())
                elif base not in _PLAIN_BASES:
                    is_open = True
        return Lineage(tuple(classes), role, is_open or bool(pending), brought)

    @cached_property
    def exported(self) -> dict[str, tuple[ModuleFacts, ClassFact, Lineage]]:
        """Classes that the main module exports to the runtime, by their own names."""
        main = self.main_module
        found: dict[str, tuple[ModuleFacts, ClassFact, Lineage]] = {}
        for name in self._visible_names() if main is not None else ():
            known = self.find_class(f"{self.main}.{name}")
            if known is not None:
                module, fact = known
                lineage = self.lineage(module, fact)
                if lineage.role is not None:
                    found[fact.name] = (module, fact, lineage)
        return found

    def _visible_names(self) -> Iterator[str]:
        main = self.main_module
        assert main is not None
        if main.exported is not None:
            yield from main.exported
        else:
            yield from (name for name in sorted(main.names) if not name.startswith("_"))

    @property
    def may_export_more(self) -> bool:
        """Whether the main module may export classes that are not seen."""
        main = self.main_module
        return main is None or main.has_star_import
