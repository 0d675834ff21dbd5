"""What commands on stored data need first: the configuration, the state directory, a database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from tsumugi_emulator.cli.configuration import STATE_DIRECTORY, load_configuration, show_loaded
from tsumugi_emulator.clock import SystemClock
from tsumugi_emulator.storage.stores import Stores

if TYPE_CHECKING:
    from pathlib import Path

    from tsumugi_emulator.cli.terminal import Terminal
    from tsumugi_emulator.config.model import D1Database, WorkerConfig
    from tsumugi_emulator.storage.d1 import D1Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Whose data: the options that all such commands have."""

    config: Path | None
    environment: str | None
    persist_to: Path | None


class Database(NamedTuple):
    config: WorkerConfig
    settings: D1Database
    store: D1Store
    #: Where its file is, to be shown.
    directory: Path


def open_database(place: Place, name: str, terminal: Terminal) -> Database | None:
    """The D1 database with this name or binding; None after saying what is wrong."""
    loaded = load_configuration(place.config, place.environment)
    show_loaded(loaded, terminal)
    config = loaded.config
    if config is None:
        return None
    for settings in config.resources.d1_databases:
        if name in (settings.name, settings.binding):
            state = state_directory(place, config)
            store = Stores(state, SystemClock()).d1(settings.id)
            return Database(config, settings, store, state / "d1")
    known = [
        f"{settings.name} (env.{settings.binding})" for settings in config.resources.d1_databases
    ]
    listed = f" It has {', '.join(known)}." if known else ""
    terminal.log(
        "error",
        f"Couldn't find a D1 DB with the name or binding '{name}' in your {config.path.name} file."
        f"{listed}",
    )
    return None


def state_directory(place: Place, config: WorkerConfig) -> Path:
    if place.persist_to is not None:
        return place.persist_to.absolute()
    return config.path.parent / STATE_DIRECTORY
