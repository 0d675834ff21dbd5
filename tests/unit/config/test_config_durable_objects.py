from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tsumugi_emulator.config.model import DurableObjectBinding

if TYPE_CHECKING:
    from conftest import Project

ROOM = {"name": "ROOMS", "class_name": "Room"}
NEW = [{"tag": "v1", "new_sqlite_classes": ["Room"]}]


def bound(project: Project) -> tuple[DurableObjectBinding, ...]:
    return project.config().durable_objects


def test_a_binding_names_its_class(project: Project) -> None:
    project.configure(durable_objects={"bindings": [ROOM]}, migrations=NEW)
    assert bound(project) == (
        DurableObjectBinding(binding="ROOMS", class_name="Room", first_class_name="Room"),
    )
    assert project.warnings() == []


def test_a_class_created_without_sqlite_has_no_sql(project: Project) -> None:
    project.configure(
        durable_objects={"bindings": [ROOM]}, migrations=[{"tag": "v1", "new_classes": ["Room"]}]
    )
    (binding,) = bound(project)
    assert not binding.has_sql


def test_a_renamed_class_keeps_its_objects(project: Project) -> None:
    project.configure(
        durable_objects={"bindings": [ROOM]},
        migrations=[
            {"tag": "v1", "new_classes": ["Hall"]},
            {"tag": "v2", "renamed_classes": [{"from": "Hall", "to": "Saloon"}]},
            {"tag": "v3", "renamed_classes": [{"from": "Saloon", "to": "Room"}]},
        ],
    )
    (binding,) = bound(project)
    assert binding.first_class_name == "Hall"
    assert not binding.has_sql


@pytest.mark.parametrize(
    "left", [{"deleted_classes": ["Room"]}, {"renamed_classes": [{"from": "Room", "to": "Hall"}]}]
)
def test_a_class_under_the_name_of_one_that_is_gone_has_objects_of_its_own(
    left: dict[str, Any], project: Project
) -> None:
    project.configure(
        durable_objects={"bindings": [ROOM, {"name": "HALLS", "class_name": "Hall"}]},
        migrations=[*NEW, {"tag": "v2", **left}, {"tag": "v3", "new_sqlite_classes": ["Room"]}],
    )
    room, hall = bound(project)
    assert room.first_class_name == "Room~2"
    assert hall.first_class_name == ("Room" if "renamed_classes" in left else "Hall")


def test_a_class_that_came_from_another_worker_needs_no_other_migration(project: Project) -> None:
    moved = {"from": "Lobby", "from_script": "hotel", "to": "Room"}
    project.configure(
        durable_objects={"bindings": [ROOM]},
        migrations=[{"tag": "v1", "transferred_classes": [moved]}],
    )
    (binding,) = bound(project)
    assert binding.has_sql
    assert project.warnings() == []


def test_a_class_no_migration_creates_is_told(project: Project) -> None:
    project.configure(durable_objects={"bindings": [ROOM]})
    (warning,) = project.warnings()
    assert "No migration creates the Durable Object class Room: it runs here" in warning
    assert '"new_sqlite_classes": ["Room"]' in warning


def test_a_class_of_another_worker_needs_no_migration_here(project: Project) -> None:
    project.configure(durable_objects={"bindings": [ROOM | {"script_name": "rooms"}]})
    (binding,) = bound(project)
    assert binding.script == "rooms"
    assert project.warnings() == []


def test_the_workers_own_name_as_script_is_no_other_worker(project: Project) -> None:
    project.configure(
        name="rooms",
        durable_objects={"bindings": [ROOM | {"script_name": "rooms"}]},
        migrations=NEW,
    )
    (binding,) = bound(project)
    assert binding.script is None


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"durable_objects": [ROOM]}, 'The field "durable_objects" should be an object'),
        (
            {"durable_objects": {"bindings": [{"name": "ROOMS"}]}},
            '"durable_objects.bindings[0]" should have a string "class_name" field',
        ),
        (
            {"durable_objects": {"bindings": [ROOM | {"script_name": 5}]}},
            'should, optionally, have a string "script_name" field',
        ),
        ({"migrations": {}}, 'The field "migrations" should be an array'),
        ({"migrations": [{"new_classes": []}]}, 'should have a string "tag" field'),
        (
            {"migrations": [{"tag": "v1", "new_classes": "Room"}]},
            '"migrations[0].new_classes" should be an array of strings',
        ),
        (
            {"migrations": [{"tag": "v1", "renamed_classes": [{"from": "A"}]}]},
            'should be an array of objects with "from" and "to"',
        ),
    ],
)
def test_a_fault_is_told(fields: dict[str, Any], expected: str, project: Project) -> None:
    project.configure(**fields)
    assert any(expected in error for error in project.errors())
