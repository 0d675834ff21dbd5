"""From the facts of all files and the configuration to findings. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsumugi_emulator.check import findings
from tsumugi_emulator.check.findings import RULES, Finding, in_order
from tsumugi_emulator.check.rules import configuration, entrypoints, jobs, modules
from tsumugi_emulator.check.rules.awaiting import NEVER_RUNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tsumugi_emulator.check.facts import ModuleFacts, Suppression
    from tsumugi_emulator.check.project import Project

UNUSED = findings.note(
    "TSU002",
    "An ignore comment that hides nothing",
    "Nothing; it may hide a fault that comes later.",
)
RELATIVE_READ = findings.error(
    "TSU704",
    "A file read by a relative path",
    "`FileNotFoundError`: the working directory is not the project's.",
)


def judge(projects: Sequence[Project], *, with_configuration: bool = True) -> list[Finding]:
    """All findings about Workers that belong together, in order.

    Without ``with_configuration`` what only repeats the reading of the configuration is left out.
    """
    found: list[Finding] = []
    for project in projects:
        found += _of_code(project)
        if with_configuration:
            found += configuration.from_diagnostics(project)
    if with_configuration:
        found += configuration.queues_together(projects)
    return in_order(_without_suppressed(found, projects))


def _of_code(project: Project) -> Iterator[Finding]:
    for module in project.modules.values():
        yield from _drafts(project, module)
        yield from _bare_calls(project, module)
        yield from _file_reads(project, module)
    yield from entrypoints.check(project)
    yield from modules.check(project)
    yield from configuration.check(project)
    yield from jobs.check(project)


def _drafts(project: Project, module: ModuleFacts) -> Iterator[Finding]:
    for draft in module.drafts:
        if draft.at_import and module.name not in project.imported_at_start:
            continue
        yield project.finding(
            RULES[draft.code], module.path, draft.spot, draft.message, draft.next_step
        )


def _bare_calls(project: Project, module: ModuleFacts) -> Iterator[Finding]:
    """Calls of coroutine functions of other files of the project that nobody awaits."""
    for call in module.bare_calls:
        owner, _, name = call.function.rpartition(".")
        if owner == module.name or owner not in project.modules:
            continue
        function = project.modules[owner].functions.get(name)
        if function is not None and function.is_async and not function.is_decorated:
            yield project.finding(
                NEVER_RUNS,
                module.path,
                call.spot,
                f"{name}() is called but not awaited: its body never runs.",
                f"Write `await {name}(...)`.",
            )


def _file_reads(project: Project, module: ModuleFacts) -> Iterator[Finding]:
    for read in module.file_reads:
        if read.path in project.existing:
            yield project.finding(
                RELATIVE_READ,
                module.path,
                read.spot,
                f'"{read.path}" is relative to the working directory, which is / in a Worker.',
                "Write `Path(__file__).parent / ...`.",
            )


# -- Suppressions ---------------------------------------------------------------------------------


def _without_suppressed(found: Iterable[Finding], projects: Sequence[Project]) -> Iterator[Finding]:
    comments: dict[tuple[str, int], list[Suppression]] = {}
    for project in projects:
        places = [(module.path, module.suppressions) for module in project.modules.values()]
        places.append((project.places.path, project.places.suppressions))
        for path, suppressions in dict(places).items():
            for one in suppressions:
                comments.setdefault((path, one.line), []).append(one)
    hidden: dict[tuple[str, int], set[str]] = {}
    for finding in found:
        line = (finding.path, finding.line)
        if any(not one.codes or finding.code in one.codes for one in comments.get(line, ())):
            hidden.setdefault(line, set()).add(finding.code)
        else:
            yield finding
    for line, listed in comments.items():
        for one in dict.fromkeys(listed):
            yield from _unused(line[0], one, hidden.get(line, set()))


def _unused(path: str, suppression: Suppression, hidden: set[str]) -> Iterator[Finding]:
    """A note for each code of the comment that hides nothing."""
    for code in suppression.codes or ("",):
        if code in hidden or (not code and hidden):
            continue
        is_unknown = code and code not in RULES
        yield Finding(
            code=UNUSED.code,
            severity=UNUSED.severity,
            path=path,
            line=suppression.spot.line,
            column=suppression.spot.column,
            message=(
                f"There is no rule {code}."
                if is_unknown
                else f"This comment hides no {code or 'finding'} here."
            ),
            next_step="Remove it.",
        )
