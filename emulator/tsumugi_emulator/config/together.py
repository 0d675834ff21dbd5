"""Faults that only show when several Workers run together. Pure; reads no files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsumugi_emulator.config.diagnostics import Diagnostic, Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tsumugi_emulator.config.model import WorkerConfig


def check_together(configs: Sequence[WorkerConfig]) -> tuple[Diagnostic, ...]:
    """One error for each name or queue that two Workers both claim, told at the later one."""
    diagnostics: list[Diagnostic] = []
    names: dict[str, WorkerConfig] = {}
    consumed: dict[str, WorkerConfig] = {}
    for config in configs:
        earlier = names.setdefault(config.name, config)
        if earlier is not config:
            diagnostics.append(
                _error(
                    config,
                    f'Two Workers are named "{config.name}": {earlier.path} and {config.path}. '
                    'Change the "name" of one of them.',
                )
            )
        for consumer in config.consumers:
            owner = consumed.setdefault(consumer.queue, config)
            if owner is not config:
                diagnostics.append(
                    _error(
                        config,
                        f'Multiple consumers defined for queue "{consumer.queue}": '
                        f'"{owner.name}" and "{config.name}". Keep one of them.',
                    )
                )
    return tuple(diagnostics)


def missing_workers(configs: Sequence[WorkerConfig]) -> tuple[Diagnostic, ...]:
    """One warning for each Worker with bindings to Workers that do not run beside it."""
    names = {config.name for config in configs}
    found = []
    for config in configs:
        wanted = [(binding.binding, binding.service) for binding in config.services]
        wanted += [(b.binding, b.script) for b in config.durable_objects if b.script is not None]
        missing = [(binding, worker) for binding, worker in wanted if worker not in names]
        if missing:
            listed = "\n".join(
                f'- env.{binding} (Worker "{worker}")' for binding, worker in missing
            )
            message = (
                "These bindings go to Workers that do not run here, and using one fails:\n"
                f"{listed}\n"
                "Add their configurations after this one: "
                f"tsumugi dev -c {config.path.name} -c path/to/{missing[0][1]}/wrangler.jsonc"
            )
            found.append(Diagnostic(severity=Severity.WARNING, message=message, path=config.path))
    return tuple(found)


def _error(config: WorkerConfig, message: str) -> Diagnostic:
    return Diagnostic(severity=Severity.ERROR, message=message, path=config.path)
