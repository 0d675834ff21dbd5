"""services and assets: what is read, and what is wrong."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from tsumugi_emulator.config.model import Assets, DurableObjectClass, ServiceBinding
from tsumugi_emulator.config.together import missing_workers

if TYPE_CHECKING:
    from conftest import Project


def test_a_service_is_a_worker_and_perhaps_an_entrypoint_with_props(project: Project) -> None:
    project.configure(
        services=[
            {"binding": "A", "service": "a"},
            {"binding": "B", "service": "b", "entrypoint": "Admin", "props": {"n": [1]}},
            {"binding": "C", "service": "c", "environment": "staging", "entrypoint": "default"},
        ]
    )
    assert project.config().services == (
        ServiceBinding(binding="A", service="a"),
        ServiceBinding(binding="B", service="b", entrypoint="Admin", props={"n": [1]}),
        ServiceBinding(binding="C", service="c-staging"),
    )
    assert project.warnings() == []


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("x", '"services[0]" bindings should be objects, but got "x"'),
        (
            {"service": "a"},
            '"services[0]" bindings should have a string "binding" field but got {"service":"a"}.',
        ),
        (
            {"binding": "A"},
            '"services[0]" bindings should have a string "service" field but got {"binding":"A"}.',
        ),
        (
            {"binding": "A", "service": "a", "entrypoint": 1},
            '"services[0]" bindings should have a string "entrypoint" field but got '
            '{"binding":"A","service":"a","entrypoint":1}.',
        ),
        (
            {"binding": "A", "service": "a", "props": []},
            '"services[0]" bindings should have an object "props" field but got '
            '{"binding":"A","service":"a","props":[]}.',
        ),
    ],
)
def test_a_faulty_service_is_told_in_wranglers_words(
    project: Project, entry: Any, message: str
) -> None:
    project.configure(services=[entry])
    assert project.errors() == [message]


def test_bindings_to_workers_that_do_not_run_are_told(project: Project) -> None:
    project.configure(
        services=[{"binding": "SELF", "service": "api"}, {"binding": "MAIL", "service": "mailer"}],
        durable_objects={
            "bindings": [{"name": "ROOM", "class_name": "Room", "script_name": "rooms"}]
        },
    )
    (warning,) = missing_workers([project.config()])
    assert '- env.MAIL (Worker "mailer")\n- env.ROOM (Worker "rooms")\n' in warning.message
    assert "-c path/to/mailer/wrangler.jsonc" in warning.message
    assert "SELF" not in warning.message


def test_classes_keep_the_name_they_were_created_under(project: Project) -> None:
    project.configure(
        migrations=[
            {"tag": "v1", "new_sqlite_classes": ["Old"], "new_classes": ["Plain"]},
            {"tag": "v2", "renamed_classes": [{"from": "Old", "to": "New"}]},
        ]
    )
    assert set(project.config().object_classes) == {
        DurableObjectClass(name="New", first_name="Old", has_sql=True),
        DurableObjectClass(name="Plain", first_name="Plain", has_sql=False),
    }


def test_assets_are_a_directory_beside_the_configuration(project: Project) -> None:
    project.write("public/index.html", "")
    project.configure(
        assets={
            "directory": "./public",
            "binding": "ASSETS",
            "not_found_handling": "404-page",
            "html_handling": "none",
            "run_worker_first": ["/api/*", "!/api/docs"],
        }
    )
    assert project.config().assets == Assets(
        directory=project.directory / "public",
        binding="ASSETS",
        not_found_handling="404-page",
        html_handling="none",
        run_worker_first=("/api/*", "!/api/docs"),
    )
    assert project.warnings() == []


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"directory": None}, "missing the required `directory` property"),
        ({"directory": "./nowhere"}, "does not exist"),
        ({"binding": 1}, 'Expected "assets.binding" to be of type string but got 1.'),
        ({"html_handling": "x"}, 'Expected "assets.html_handling" field to be one of'),
        ({"not_found_handling": "x"}, 'Expected "assets.not_found_handling" field to be one of'),
        ({"run_worker_first": "x"}, "should be an array of strings or a boolean"),
        ({"run_worker_first": ["api"]}, '"api": rules must start with "/" or "!/".'),
        ({"run_worker_first": ["!/api"]}, "Only negative rules were provided"),
    ],
)
def test_faulty_assets_are_told(project: Project, fields: dict[str, Any], message: str) -> None:
    project.write("public/index.html", "")
    project.configure(assets={"directory": "./public", **fields})
    (error,) = project.errors()
    assert message in error


def test_an_asset_that_is_too_large_is_told_unless_it_is_ignored(project: Project) -> None:
    project.write("public/sub/big.bin", "")
    os.truncate(project.directory / "public/sub/big.bin", 25 * 1024 * 1024 + 1)
    project.configure(assets={"directory": "./public"})
    (error,) = project.errors()
    assert "assets with sizes of up to 25 MiB, and this file has 25.0 MiB" in error
    project.write("public/.assetsignore", "*.bin\n")
    assert project.errors() == []


def test_lines_of_headers_and_redirects_that_are_not_obeyed_are_told(project: Project) -> None:
    project.write("public/_headers", "/*\n  X-A: b\n  nonsense\n")
    project.write("public/_redirects", "/a /b 301\n/c\n")
    project.configure(assets={"directory": "./public"})
    headers, redirects = project.load().diagnostics
    assert headers.path is not None
    assert redirects.path is not None
    assert (headers.path.name, headers.line) == ("_headers", 3)
    assert headers.message == (
        "Expected a colon-separated header pair (e.g. name: value)\nnonsense"
    )
    assert (redirects.path.name, redirects.line) == ("_redirects", 2)
    assert redirects.message == ("Expected exactly 2 or 3 whitespace-separated tokens. Got 1.\n/c")


def test_workflows_start_and_are_said_to_be_missing(project: Project) -> None:
    project.configure(workflows=[{"binding": "FLOW", "name": "flow", "class_name": "Flow"}])
    assert [binding.kind for binding in project.config().unsupported] == ["Workflow"]
    assert "- env.FLOW (Workflow)" in project.warnings()[0]
