"""Reads ``durable_objects`` and ``migrations``: which classes are bound, and how they store.

Pure: reports faults, in wrangler's words where it has some. Knows nothing of the classes' code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.config.model import DurableObjectBinding, DurableObjectClass
from tsumugi_emulator.config.report import quoted

if TYPE_CHECKING:
    from tsumugi_emulator.config.document import ValuePath
    from tsumugi_emulator.config.environments import Environment
    from tsumugi_emulator.config.report import Report

_BINDING_FIELDS = frozenset({"name", "class_name", "script_name", "environment", "remote"})
_CLASS_LISTS = ("new_classes", "new_sqlite_classes", "deleted_classes")
_MIGRATION_FIELDS = frozenset({"tag", *_CLASS_LISTS, "renamed_classes", "transferred_classes"})


class Migrations:
    """What the list of migrations says about the classes that exist at its end."""

    def __init__(self) -> None:
        #: Class -> the name it was created under, which its data is filed under. A class created
        #: under a name that another had has objects of its own, and a number behind the name.
        self.first_names: dict[str, str] = {}
        self._created: dict[str, int] = {}
        #: Classes that were created without SQL.
        self.without_sql: set[str] = set()

    def create(self, name: str, *, has_sql: bool) -> None:
        if name not in self.first_names:
            count = self._created[name] = self._created.get(name, 0) + 1
            self.first_names[name] = name if count == 1 else f"{name}~{count}"
        self.without_sql.discard(name)
        if not has_sql:
            self.without_sql.add(name)

    def rename(self, old: str, new: str) -> None:
        self.first_names[new] = self.first_names.pop(old, old)
        if old in self.without_sql:
            self.without_sql.remove(old)
            self.without_sql.add(new)

    def delete(self, name: str) -> None:
        self.first_names.pop(name, None)
        self.without_sql.discard(name)


def read_durable_objects(
    environment: Environment, report: Report, *, worker: str
) -> tuple[DurableObjectBinding, ...]:
    """The bindings of one environment; entries with faults are left out."""
    migrations = _read_migrations(environment, report)
    field = environment.get("durable_objects")
    if field is None:
        return ()
    block, at = field
    if block is None:
        return ()
    label = environment.label("durable_objects")
    entries = block.get("bindings") if isinstance(block, dict) else None
    if not isinstance(block, dict) or not isinstance(entries, list):
        report.error(
            f'The field "{label}" should be an object with an array "bindings" but got '
            f"{quoted(block)}.",
            at,
        )
        return ()
    report.unexpected(label, at, given=block, known=("bindings",))
    found = [
        _read_binding(entry, f"{label}.bindings[{index}]", (*at, "bindings", index), report)
        for index, entry in enumerate(entries)
    ]
    bound = [
        _completed(name, class_name, script, migrations, worker)
        for binding in found
        if binding is not None
        for name, class_name, script in (binding,)
    ]
    _check_migrated(bound, migrations, report, at)
    return tuple(bound)


def created_classes(environment: Environment, report: Report) -> tuple[DurableObjectClass, ...]:
    """The classes that migrations have created; their faults are told with the bindings."""
    migrations = _read_migrations(environment, report.fork())
    return tuple(
        DurableObjectClass(name=name, first_name=first, has_sql=name not in migrations.without_sql)
        for name, first in migrations.first_names.items()
    )


def _completed(
    name: str, class_name: str, script: str | None, migrations: Migrations, worker: str
) -> DurableObjectBinding:
    return DurableObjectBinding(
        binding=name,
        class_name=class_name,
        script=None if script == worker else script,
        first_class_name=migrations.first_names.get(class_name, class_name),
        has_sql=class_name not in migrations.without_sql,
    )


def _read_binding(
    entry: Any, label: str, at: ValuePath, report: Report
) -> tuple[str, str, str | None] | None:
    if not isinstance(entry, dict):
        report.error(f'"{label}" should be an object but got {quoted(entry)}.', at)
        return None
    report.unexpected(label, at, given=entry, known=_BINDING_FIELDS)
    complete = True
    for key in ("name", "class_name"):
        if not isinstance(entry.get(key), str) or not entry[key]:
            report.error(
                f'"{label}" should have a string "{key}" field but got {quoted(entry)}.', (*at, key)
            )
            complete = False
    script = entry.get("script_name")
    if "script_name" in entry and not isinstance(script, str):
        report.error(
            f'"{label}" should, optionally, have a string "script_name" field but got '
            f"{quoted(entry)}.",
            (*at, "script_name"),
        )
        complete = False
    return (entry["name"], entry["class_name"], script) if complete else None


def _check_migrated(
    bound: list[DurableObjectBinding], migrations: Migrations, report: Report, at: ValuePath
) -> None:
    own = [binding for binding in bound if binding.script is None]
    missing = [b.class_name for b in own if b.class_name not in migrations.first_names]
    if not missing:
        return
    names = list(dict.fromkeys(missing))
    noun = "class" if len(names) == 1 else "classes"
    runs = "it runs" if len(names) == 1 else "they run"
    report.warning(
        f"No migration creates the Durable Object {noun} {', '.join(names)}: {runs} here with "
        "SQLite storage, and deploying fails.\n"
        f'Add to the configuration: "migrations": [{{ "tag": "v1", "new_sqlite_classes": '
        f"{quoted(names)} }}]",
        at,
        code="TSU601",
    )


def _read_migrations(environment: Environment, report: Report) -> Migrations:
    migrations = Migrations()
    field = environment.get("migrations")
    if field is None:
        return migrations
    block, at = field
    label = environment.label("migrations")
    if not isinstance(block, list):
        report.error(f'The field "{label}" should be an array but got {quoted(block)}.', at)
        return migrations
    for index, entry in enumerate(block):
        _read_migration(entry, f"{label}[{index}]", (*at, index), report, migrations)
    return migrations


def _read_migration(
    entry: Any, label: str, at: ValuePath, report: Report, migrations: Migrations
) -> None:
    if not isinstance(entry, dict):
        report.error(f'"{label}" should be an object but got {quoted(entry)}.', at)
        return
    report.unexpected(label, at, given=entry, known=_MIGRATION_FIELDS)
    if not isinstance(entry.get("tag"), str):
        report.error(
            f'"{label}" should have a string "tag" field but got {quoted(entry)}.', (*at, "tag")
        )
    for key in _CLASS_LISTS:
        names = entry.get(key, [])
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            report.error(
                f'"{label}.{key}" should be an array of strings but got {quoted(names)}.',
                (*at, key),
            )
            continue
        for name in names:
            if key == "deleted_classes":
                migrations.delete(name)
            else:
                migrations.create(name, has_sql=key == "new_sqlite_classes")
    for moved in _read_moves("renamed_classes", ("from", "to"), entry, label, at, report):
        migrations.rename(moved["from"], moved["to"])
    fields = ("from", "from_script", "to")
    for moved in _read_moves("transferred_classes", fields, entry, label, at, report):
        # Its objects stay with the other Worker here; how they are stored is in its configuration.
        migrations.create(moved["to"], has_sql=True)


def _read_moves(
    key: str,
    fields: tuple[str, ...],
    entry: dict[str, Any],
    label: str,
    at: ValuePath,
    report: Report,
) -> list[dict[str, str]]:
    moves = entry.get(key, [])
    if isinstance(moves, list) and all(
        isinstance(move, dict) and all(isinstance(move.get(field), str) for field in fields)
        for move in moves
    ):
        return moves
    names = " and ".join(f'"{field}"' for field in fields)
    report.error(
        f'"{label}.{key}" should be an array of objects with {names} but got {quoted(moves)}.',
        (*at, key),
    )
    return []
