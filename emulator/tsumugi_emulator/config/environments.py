"""Which value a field has in the chosen environment, and what an environment does not inherit.

Does not know what any field means: it hands out raw values with the place they came from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.config import fields
from tsumugi_emulator.config.report import quoted

if TYPE_CHECKING:
    from tsumugi_emulator.config.document import ValuePath
    from tsumugi_emulator.config.report import Report

type Field = tuple[Any, ValuePath]


class Environment:
    """The top level, or one named environment on top of it."""

    __slots__ = ("_own", "_own_at", "_top", "name")

    def __init__(
        self, top: dict[str, Any], *, name: str | None = None, own: dict[str, Any] | None = None
    ) -> None:
        #: None for the top level.
        self.name = name
        self._top = top
        #: A chosen environment without a section of its own keeps what the top level says.
        self._own = top if own is None else own
        self._own_at: ValuePath = () if own is None or name is None else ("env", name)

    @property
    def is_section(self) -> bool:
        return bool(self._own_at)

    def get(self, field: str) -> Field | None:
        """The field's value and place, or None if it is not set where this environment looks."""
        if field in self._own:
            return self._own[field], (*self._own_at, field)
        if self.is_section and field in fields.INHERITED and field in self._top:
            return self._top[field], (field,)
        return None

    def own(self, field: str) -> Any:
        """The value in the environment's own section, never an inherited one."""
        return self._own.get(field) if self.is_section else None

    def top(self) -> Environment:
        return Environment(self._top)

    def label(self, field: str) -> str:
        """The field as wrangler names it in messages about what is not inherited."""
        return f"env.{self.name}.{field}" if self.is_section else field


def select(root: dict[str, Any], report: Report, *, name: str | None) -> Environment:
    """The environment to run. An empty name means the top level, as in wrangler."""
    if not name:
        return Environment(root)
    sections = root.get("env")
    if isinstance(sections, dict) and isinstance(sections.get(name), dict):
        return Environment(root, name=name, own=sections[name])
    if isinstance(sections, dict) and name in sections:
        report.error(
            f'The field "env.{name}" should be an object but got {quoted(sections[name])}.',
            ("env", name),
        )
        return Environment(root)
    _report_unknown(report, name, list(sections) if isinstance(sections, dict) else [])
    return Environment(root, name=name)


def check_sections(root: dict[str, Any], report: Report) -> None:
    sections = root.get("env")
    if "env" in root and not isinstance(sections, dict):
        report.error(f'The field "env" should be an object but got {quoted(sections)}.', ("env",))


def check_inheritance(root: dict[str, Any], environment: Environment, report: Report) -> None:
    """Warns about what the top level has and the chosen environment silently does without."""
    name = environment.name
    if not environment.is_section:
        return
    for field in root:
        if field in fields.NOT_INHERITED and environment.get(field) is None:
            report.warning_at_key(
                f'"{field}" exists at the top level, but not on "env.{name}".\n'
                f'This is not what you probably want, since "{field}" is not inherited by '
                "environments.\n"
                f'Please add "{field}" to "env.{name}".',
                (field,),
            )
    top_vars, own_vars = root.get("vars"), environment.own("vars")
    if isinstance(top_vars, dict) and isinstance(own_vars, dict):
        missing = [key for key in top_vars if key not in own_vars]
        if missing:
            listed = "\n".join(f"- {key}" for key in missing)
            report.warning_at_key(
                f'The following vars exist at the top level, but not on "env.{name}.vars".\n'
                'This is not what you probably want, since "vars" configuration is not inherited '
                "by environments.\n"
                f'Please add these vars to "env.{name}.vars":\n{listed}',
                ("env", name or "", "vars"),
            )


def _report_unknown(report: Report, name: str, known: list[str]) -> None:
    available = (
        f"The available configured environment names are: {quoted(known)}\n" if known else ""
    )
    message = (
        f'No environment found in configuration with name "{name}".\n'
        f"Before using `--env={name}` there should be an equivalent environment section in the "
        f"configuration.\n{available}"
        f'Add a section "env.{name}" to the configuration file, or choose another environment.'
    )
    if known:
        report.error(message, ("env",))
    else:
        # Without any section the name only selects .dev.vars.<name> and the Worker's name.
        report.warning(message)
