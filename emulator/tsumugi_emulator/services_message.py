"""What a Worker reaches in others, as its child is told of it, and whether it is there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

from tsumugi_emulator.objects_message import objects_elsewhere

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from tsumugi_emulator.assets.site import Site
    from tsumugi_emulator.config.model import WorkerConfig


def elsewhere_message(
    config: WorkerConfig, find: Callable[[str], WorkerConfig | None]
) -> dict[str, Any]:
    """Plain values, as frames carry them."""
    assets = config.assets
    return {
        "assets": {}
        if assets is None
        else {"binding": assets.binding, "directory": str(assets.directory), **_rules(config)},
        #: Binding, Worker, entrypoint or None, props as JSON or nothing.
        "services": [
            [b.binding, b.service, b.entrypoint, "" if b.props is None else json.dumps(b.props)]
            for b in config.services
        ],
        "objects": objects_elsewhere(config, find),
    }


def site_of(config: WorkerConfig) -> Site | None:
    """The static assets in front of a Worker."""
    if config.assets is None:
        return None
    from tsumugi_emulator.assets.site import Site, SiteRules

    return Site(config.assets.directory, SiteRules(**_rules(config)))


def _rules(config: WorkerConfig) -> dict[str, Any]:
    """As ``SiteRules`` takes them."""
    assets = config.assets
    assert assets is not None
    return {
        "html_handling": assets.html_handling,
        "not_found_handling": assets.not_found_handling,
        "worker_first": assets.run_worker_first,
        "navigation_prefers_assets": (
            "assets_navigation_prefers_asset_serving" in config.compatibility.flags
        ),
    }


class Running(Protocol):
    """A Worker that serves, or will."""

    @property
    def serving(self) -> WorkerConfig | None: ...

    @property
    def entrypoints(self) -> Collection[str]: ...


class References:
    """Entrypoints that are named and not there, each told once while it is so."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def faults(self, workers: Sequence[Running]) -> list[str]:
        found = list(_missing_entrypoints(workers))
        new = [text for text in found if text not in self._told]
        self._told = set(found)
        return new


def _missing_entrypoints(workers: Sequence[Running]) -> Iterator[str]:
    exported = {w.serving.name: w.entrypoints for w in workers if w.serving is not None}
    for worker in workers:
        config = worker.serving
        for binding in config.services if config is not None else ():
            known = exported.get(binding.service)
            entrypoint = binding.entrypoint
            if known is None or entrypoint is None or entrypoint in known:
                continue
            listed = ", ".join(sorted(known)) or "none"
            yield (
                f'Worker "{config.name if config else ""}": env.{binding.binding} is bound to the '
                f'entrypoint "{entrypoint}" of "{binding.service}", which has no such class '
                f"(it exports: {listed}). Define `class {entrypoint}(WorkerEntrypoint)` there, or "
                f'change "entrypoint" in services.'
            )
