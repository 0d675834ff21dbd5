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


def _error(config: WorkerConfig, message: str) -> Diagnostic:
    return Diagnostic(severity=Severity.ERROR, message=message, path=config.path)
