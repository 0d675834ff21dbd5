from __future__ import annotations

from typing import TYPE_CHECKING

from tsumugi_emulator.config.model import UnsupportedBinding

if TYPE_CHECKING:
    from conftest import Project

UNIQUE = (
    "Bindings must have unique names, so that they can all be referenced in the worker.\n"
    "Please change your bindings to have unique names."
)


def test_two_producers_cannot_share_a_binding(project: Project) -> None:
    producers = [{"binding": "Q", "queue": "a"}, {"binding": "Q", "queue": "b"}]
    project.configure(queues={"producers": producers})
    assert project.errors() == ["Q assigned to multiple Queue bindings.", UNIQUE]


def test_bindings_of_different_types_cannot_share_a_name(project: Project) -> None:
    project.configure(
        vars={"DATA": "x"},
        kv_namespaces=[{"binding": "DATA", "id": "1"}],
        queues={"producers": [{"binding": "DATA", "queue": "a"}]},
    )
    assert project.errors() == [
        "DATA assigned to KV Namespace, Queue and Environment Variable bindings.",
        UNIQUE,
    ]


def test_several_clashes_are_all_told(project: Project) -> None:
    project.configure(
        kv_namespaces=[{"binding": "A"}, {"binding": "A"}, {"binding": "B"}],
        r2_buckets=[{"binding": "B"}],
    )
    assert project.errors() == [
        "A assigned to multiple KV Namespace bindings.",
        "B assigned to KV Namespace and R2 Bucket bindings.",
        UNIQUE,
    ]


def test_bindings_that_are_not_emulated_are_listed_in_one_warning(project: Project) -> None:
    project.configure(
        hyperdrive=[{"binding": "CACHE", "id": "1"}],
        ai={"binding": "AI"},
        workflows=[{"binding": "FLOW", "name": "flow", "class_name": "Flow"}],
        send_email=[{"name": "MAIL"}],
        wasm_modules={"MODULE": "a.wasm"},
        browser={"binding": "BROWSER"},
    )
    assert project.config().unsupported == (
        UnsupportedBinding(kind="Workflow", binding="FLOW"),
        UnsupportedBinding(kind="Send Email", binding="MAIL"),
        UnsupportedBinding(kind="Hyperdrive Config", binding="CACHE"),
        UnsupportedBinding(kind="Browser Run", binding="BROWSER"),
        UnsupportedBinding(kind="AI", binding="AI"),
        UnsupportedBinding(kind="Wasm Module", binding="MODULE"),
    )
    (warning,) = project.warnings()
    assert "env.CACHE (Hyperdrive Config)" in warning
    assert "env.FLOW (Workflow)" in warning


def test_a_misshapen_binding_that_is_not_emulated_does_not_stop_the_start(project: Project) -> None:
    project.configure(hyperdrive=[{"id": "1"}, 5, {"binding": 3}], ai=[], durable_objects=None)
    assert project.config().unsupported == ()


def test_queues_and_variables_are_not_listed(project: Project) -> None:
    project.configure(vars={"A": 1}, queues={"producers": [{"binding": "Q", "queue": "q"}]})
    assert project.warnings() == []
    assert project.config().unsupported == ()


def test_the_older_kind_of_static_files_is_told_to_be_missing(project: Project) -> None:
    project.configure(site={"bucket": "./public"})
    assert project.warnings() == [
        '"site" is ignored: Workers Sites are not served here. Use "assets" instead.'
    ]


def test_what_is_to_be_remote_is_told_to_be_local(project: Project) -> None:
    project.configure(
        kv_namespaces=[{"binding": "A", "id": "1", "remote": True}, {"binding": "B", "id": "2"}],
        d1_databases=[{"binding": "C", "database_name": "c", "remote": True}],
        ai={"binding": "AI", "remote": True},
    )
    assert (
        '"remote" is ignored: env.A, env.C will be local here, with data of this machine only.'
        in project.warnings()
    )


def test_a_build_command_is_told_to_be_ignored(project: Project) -> None:
    project.configure(build={"command": "make"})
    assert '"build.command" is ignored: run it yourself before.' in project.warnings()
