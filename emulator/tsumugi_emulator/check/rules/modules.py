"""Imports that fail in production, and what they would have brought (TSU3xx)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsumugi_emulator.check import findings, runtime_modules
from tsumugi_emulator.check.ruleset import At, Drafts, on_call_within

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from tsumugi_emulator.check.facts import ImportFact, ModuleFacts
    from tsumugi_emulator.check.findings import Finding, Rule
    from tsumugi_emulator.check.project import Project

REMOVED = findings.error(
    "TSU301",
    "A module that Python no longer has",
    "`ModuleNotFoundError`: the Worker does not start.",
)
NOT_IN_PYODIDE = findings.error(
    "TSU302",
    "A standard module that Pyodide leaves out",
    "`ModuleNotFoundError`: the Worker does not start.",
)
NO_BUILD = findings.warning(
    "TSU303",
    "A package of compiled code that Pyodide has no build of",
    "It cannot be installed into python_modules, so that the import fails.",
)
NOT_FOUND = findings.warning(
    "TSU304",
    "A package that is not installed",
    "`ModuleNotFoundError`: only the project's files and python_modules are uploaded.",
)
ROOT_PREFIX = findings.error(
    "TSU305",
    "An import that names the import root",
    "`ModuleNotFoundError: No module named 'src'`: the main file's directory is the root.",
)
RELATIVE_IN_ROOT = findings.error(
    "TSU306",
    "A relative import that leads out of the import root",
    "`ImportError: attempted relative import with no known parent package`",
)
NOT_IN_JS = findings.error(
    "TSU307",
    "A name that js does not have in a Worker",
    "`ImportError: cannot import name ... from 'js'`",
)
NOT_IN_WORKERS = findings.error(
    "TSU308",
    "A name that the workers module does not have",
    "`ImportError: cannot import name ... from 'workers'`",
)
HIDDEN = findings.error(
    "TSU309",
    "A file whose name is taken",
    "The standard library and packages come first on the path: the file is never imported.",
)
NO_TIME_ZONES = findings.error(
    "TSU310",
    "Time zones without the tzdata package",
    "`ZoneInfoNotFoundError: No time zone found with key ...`, also for UTC.",
)


def check(project: Project) -> Iterator[Finding]:
    for module in project.modules.values():
        for fact in module.imports:
            if not fact.is_optional:
                yield from _import(project, module, fact)
        yield from _time_zones(project, module)


def _import(project: Project, module: ModuleFacts, fact: ImportFact) -> Iterator[Finding]:
    fault = _fault(project, fact)
    if fault is not None:
        rule, message, step = fault
        yield project.finding(rule, module.path, fact.spot, message, step)


def _fault(project: Project, fact: ImportFact) -> tuple[Rule, str, str] | None:
    root = fact.module.partition(".")[0]
    version = project.config.compatibility.python_version
    if fact.level:
        return _relative_fault(fact)
    if root in project.hidden:
        return (
            HIDDEN,
            f"{project.hidden[root]} is never imported: {root} is {_taken_by(project, root)}.",
            "Give the file another name.",
        )
    if root in project.local or root in project.registered or project.packages.has(root):
        return None
    if root in runtime_modules.REMOVED[version]:
        return (
            REMOVED,
            f"Python {version} has no module {root} any more.",
            "Use what replaces it, or bring a copy along.",
        )
    if root in runtime_modules.NOT_IN_PYODIDE[version]:
        return NOT_IN_PYODIDE, f"Pyodide has no module {root}.", "Do without it in a Worker."
    if _names_root(project, fact):
        return (
            ROOT_PREFIX,
            f'"{root}" is the import root itself, so there is no module of that name.',
            f"Leave out `{root}.`",
        )
    return _name_fault(project, fact) or _package_fault(project, root, version)


def _names_root(project: Project, fact: ImportFact) -> bool:
    changes_path = any(module.changes_path for module in project.modules.values())
    return fact.module in project.prefixed and not changes_path


def _taken_by(project: Project, root: str) -> str:
    is_standard = root in runtime_modules.STANDARD_LIBRARY
    return "a module of the standard library" if is_standard else "a package in python_modules"


def _relative_fault(fact: ImportFact) -> tuple[Rule, str, str] | None:
    if fact.module:
        return None
    return (
        RELATIVE_IN_ROOT,
        "Files beside the main file are no package, so nothing is relative to them.",
        f"Write `from {fact.written} import {fact.name}`."
        if fact.written
        else f"Write `import {fact.name}`.",
    )


def _name_fault(project: Project, fact: ImportFact) -> tuple[Rule, str, str] | None:
    if fact.module == "js" and fact.name in _not_in_js(project.config.compatibility.flags):
        return NOT_IN_JS, f"js has no {fact.name} in a Worker.", "Do without it."
    if fact.module == "workers" and fact.name not in (None, "*"):
        known = runtime_modules.WORKERS_NAMES | runtime_modules.WORKERS_MODULES
        if fact.name not in known:
            return (
                NOT_IN_WORKERS,
                f"The workers module has no {fact.name}.",
                "Bindings have no classes of their own: use what `self.env` holds.",
            )
    return None


def _not_in_js(flags: frozenset[str]) -> frozenset[str]:
    has_node = not flags.isdisjoint({"nodejs_compat", "nodejs_compat_v2"})
    return runtime_modules.NOT_IN_JS - (runtime_modules.NODE_NAMES if has_node else frozenset())


def _package_fault(project: Project, root: str, version: str) -> tuple[Rule, str, str] | None:
    if root in runtime_modules.STANDARD_LIBRARY or root in runtime_modules.RUNTIME_MODULES:
        return None
    built = runtime_modules.COMPILED_PACKAGES.get(root)
    if built is not None and version not in built:
        name = runtime_modules.DISTRIBUTIONS.get(root, root)
        later = f" (Python {min(built)} has one)" if built else ""
        return (
            NO_BUILD,
            f"{name} is compiled code, and Pyodide has no build for Python {version}{later}.",
            "Use a package in pure Python, or call a service.",
        )
    if project.knows_every_module:
        packages = project.packages
        if packages.installed is not None:
            where = "python_modules"
        elif packages.declared is not None:
            where = "the project, and pyproject.toml has no dependencies"
        else:
            where = "the project, and there is no pyproject.toml that names dependencies"
        return (
            NOT_FOUND,
            f"There is no module {root} in {where}.",
            "Add its package to the dependencies and run `pywrangler sync`.",
        )
    return None


def _time_zones(project: Project, module: ModuleFacts) -> Iterator[Finding]:
    if project.packages.has("tzdata") or not project.knows_every_module:
        return
    for spot in module.time_zones:
        yield project.finding(
            NO_TIME_ZONES,
            module.path,
            spot,
            "There are no time zones without the package tzdata.",
            "Add tzdata to the dependencies.",
        )


@on_call_within("js")
def name_of_js(node: ast.Call, at: At) -> Drafts:
    """``import js; js.localStorage.getItem(...)``."""
    parts = (at.qualified(node.func) or "").split(".")
    is_absent = len(parts) > 1 and parts[1] in _not_in_js(at.settings.flags)
    if is_absent and not at.place.is_uncertain and not at.place.catches("AttributeError"):
        imported_as = parts[1]
        yield at.draft(NOT_IN_JS, node, f"js has no {imported_as} in a Worker.", "Do without it.")
