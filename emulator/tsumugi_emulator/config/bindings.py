"""Which names the Worker's ``env`` will hold, whether they clash, and which are not emulated.

Pure. Reads no more of a binding than its name; queues.py and resources.py read what they need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tsumugi_emulator.config.diagnostics import NOT_DEPLOYED
from tsumugi_emulator.config.fields import BINDING_KINDS, EMULATED_BINDINGS
from tsumugi_emulator.config.model import UnsupportedBinding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tsumugi_emulator.config.document import ValuePath
    from tsumugi_emulator.config.environments import Environment
    from tsumugi_emulator.config.fields import BindingKind
    from tsumugi_emulator.config.report import Report


class NamedBinding(NamedTuple):
    name: str
    field: str
    at: ValuePath
    #: Whether it is to be the deployed resource during development too.
    is_remote: bool = False

    @property
    def label(self) -> str:
        return BINDING_KINDS[self.field].label


def find_bindings(environment: Environment) -> list[NamedBinding]:
    """Every binding that has a name, in wrangler's order of kinds, then as written."""
    found: list[NamedBinding] = []
    for field, kind in BINDING_KINDS.items():
        value = environment.get(field)
        if value is not None:
            found += (
                NamedBinding(name, field, at, is_remote=is_remote)
                for name, at, is_remote in _names(kind, *value)
            )
    return found


def check_names(bindings: Iterable[NamedBinding], report: Report) -> None:
    """One error for each name that is no identifier, and for each name given twice."""
    by_name: dict[str, list[NamedBinding]] = {}
    for binding in bindings:
        by_name.setdefault(binding.name, []).append(binding)
        if binding.field == "queues" and binding.name and not is_binding_name(binding.name):
            report.error(
                f'The binding "{binding.name}" is not a valid JavaScript variable name. Use '
                'letters, digits, "_" and "$", and do not start with a digit.',
                binding.at,
            )
    clashes = [same for same in by_name.values() if len(same) > 1 and same[0].name]
    for same in clashes:
        _report_clash(same, report)
    if clashes:
        report.error(
            "Bindings must have unique names, so that they can all be referenced in the worker.\n"
            "Please change your bindings to have unique names.",
            clashes[0][1].at,
        )


def unsupported(
    bindings: Iterable[NamedBinding], report: Report, *, emulated: frozenset[str] = frozenset()
) -> tuple[UnsupportedBinding, ...]:
    """The bindings that raise when used, announced in one warning.

    ``emulated`` names bindings that work although others of their kind do not.
    """
    found = [
        binding
        for binding in bindings
        if binding.field not in EMULATED_BINDINGS and binding.name not in emulated
    ]
    if found:
        listed = "\n".join(f"- env.{binding.name} ({binding.label})" for binding in found)
        report.warning(
            "These bindings are not emulated yet. The Worker starts without them, and using one "
            f"raises an error:\n{listed}",
            found[0].at,
            code=NOT_DEPLOYED,
        )
    return tuple(UnsupportedBinding(kind=b.label, binding=b.name) for b in found)


def check_remote(bindings: Iterable[NamedBinding], report: Report) -> None:
    """Say that nothing here is remote; wrangler would connect to the account."""
    found = [binding for binding in bindings if binding.is_remote]
    found = [binding for binding in found if binding.field in EMULATED_BINDINGS]
    if found:
        listed = ", ".join(f"env.{binding.name}" for binding in found)
        report.warning(
            f'"remote" is ignored: {listed} will be local here, with data of this machine only.',
            found[0].at,
        )


def is_binding_name(name: str) -> bool:
    return name.replace("$", "_").isidentifier()


type _Named = tuple[str, ValuePath, bool]


def _names(kind: BindingKind, value: Any, at: ValuePath) -> Iterator[_Named]:
    if kind.inner is not None:
        if not isinstance(value, dict):
            return
        value, at = value.get(kind.inner), (*at, kind.inner)
    if kind.shape == "keys" and isinstance(value, dict):
        for name in value:
            yield name, (*at, name), False
    elif kind.shape == "{}":
        yield from _name(kind, value, at)
    elif kind.shape == "[]" and isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _name(kind, entry, (*at, index))


def _name(kind: BindingKind, entry: Any, at: ValuePath) -> Iterator[_Named]:
    if isinstance(entry, dict) and isinstance(name := entry.get(kind.key), str):
        yield name, (*at, kind.key), entry.get("remote") is True


def _report_clash(same: list[NamedBinding], report: Report) -> None:
    labels = [binding.label for binding in same]
    kinds = list(dict.fromkeys(labels))
    if len(kinds) > 1:
        listed = " and ".join([", ".join(kinds[:-1]), kinds[-1]])
        report.error(f"{same[0].name} assigned to {listed} bindings.", same[1].at)
    for kind in kinds:
        if labels.count(kind) > 1:
            again = [binding for binding in same if binding.label == kind][1]
            report.error(f"{same[0].name} assigned to multiple {kind} bindings.", again.at)
