from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Project


def variables(project: Project, **options: Any) -> dict[str, Any]:
    return dict(project.config(**options).vars)


def test_variables_are_strings_and_json(project: Project) -> None:
    values = {"S": "x", "N": 0, "F": 1.5, "B": False, "Z": None, "L": [1, {"a": []}], "E": {}}
    project.configure(vars=values)
    assert variables(project) == values


@pytest.mark.parametrize("value", ["x", [], None, 5])
def test_vars_must_be_an_object(project: Project, value: object) -> None:
    project.write("wrangler.json", json.dumps({"main": "src/entry.py", "vars": value}))
    got = json.dumps(value)
    assert project.errors() == [f'The field "vars" should be an object but got {got}.']


def test_later_sources_win(project: Project) -> None:
    project.configure(vars={"A": "config", "B": "config", "C": "config"})
    project.write(".dev.vars", "B=file\nC=file\nD=file")
    options = {"vars": {"C": "option", "E": "option"}}
    config = project.config(**options)
    assert dict(config.vars) == {
        "A": "config", "B": "file", "C": "option", "D": "file", "E": "option",
    }  # fmt: skip
    assert config.secret_names == {"B", "C", "D", "E"}


def test_values_from_files_are_strings(project: Project) -> None:
    project.write(".dev.vars", 'A=1\nB={"x": 1}')
    project.configure(vars={"A": 1})
    assert variables(project) == {"A": "1", "B": '{"x": 1}'}


def test_dev_vars_of_the_environment_replaces_dev_vars(project: Project) -> None:
    project.configure(env={"staging": {}})
    project.write(".dev.vars", "A=default\nB=default")
    assert variables(project, environment="staging") == {"A": "default", "B": "default"}
    project.write(".dev.vars.staging", "A=staging")
    assert variables(project, environment="staging") == {"A": "staging"}
    assert variables(project) == {"A": "default", "B": "default"}


def test_dotenv_files_are_read_only_without_dev_vars(project: Project) -> None:
    project.configure()
    project.write(".env", "A=dotenv")
    assert variables(project) == {"A": "dotenv"}
    project.write(".dev.vars", "B=dev")
    loaded = project.load()
    assert loaded.config is not None
    assert dict(loaded.config.vars) == {"B": "dev"}
    assert [path.name for path in loaded.dev_vars_files] == [".dev.vars"]


def test_dotenv_files_are_merged_from_weak_to_strong(project: Project) -> None:
    project.configure(env={"staging": {}})
    names = [".env", ".env.local", ".env.staging", ".env.staging.local"]
    for index, name in enumerate(names):
        project.write(name, "\n".join(f"V{later}={name}" for later in range(index, 4)))
    assert variables(project, environment="staging") == {
        "V0": ".env", "V1": ".env.local", "V2": ".env.staging", "V3": ".env.staging.local",
    }  # fmt: skip
    assert variables(project)["V3"] == ".env.local"


def test_dotenv_files_can_be_switched_off(project: Project) -> None:
    project.configure()
    project.write(".env", "A=1")
    environ = {"CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV": "false"}
    assert variables(project, environ=environ) == {}


def test_the_process_environment_can_be_included(project: Project) -> None:
    project.configure()
    project.write(".env", "A=$HOST\nHOST=file")
    environ = {"HOST": "process"}
    assert variables(project, environ=environ) == {"A": "", "HOST": "file"}
    environ["CLOUDFLARE_INCLUDE_PROCESS_ENV"] = "true"
    assert variables(project, environ=environ) == {"A": "process", **environ}


def test_references_are_expanded_in_dotenv_and_not_in_dev_vars(project: Project) -> None:
    project.configure()
    project.write(".env", "A=1\nB=$A")
    assert variables(project)["B"] == "1"
    project.write(".dev.vars", "A=1\nB=$A")
    assert variables(project)["B"] == "$A"


def test_env_files_replace_the_usual_ones(project: Project) -> None:
    project.configure()
    project.write(".dev.vars", "A=dev")
    project.write(".env", "B=dotenv")
    project.write("one.env", "C=1\nD=1")
    two = project.write("two.env", "D=2")
    files: list[Path] = [project.directory / "one.env", two]
    assert variables(project, env_files=files) == {"C": "1", "D": "2"}
    missing = project.load(env_files=[project.directory / "none.env"])
    assert missing.config is not None
    assert "--env-file" in missing.diagnostics[0].message


def test_an_environment_name_never_leaves_the_directory(project: Project) -> None:
    project.configure()
    project.write("secret", "A=1")
    project.write(".dev.vars.x/keep", "")
    loaded = project.load(environment="x/../../project/secret")
    assert all(path.parent == project.directory for path in loaded.watched_files)


def test_a_line_that_is_no_assignment_is_warned_about_with_its_place(project: Project) -> None:
    project.configure()
    path = project.write(".dev.vars", "A=1\n\noops\n")
    (warning,) = project.load().diagnostics
    assert (warning.severity, warning.path, warning.line) == ("warning", path, 3)


def test_a_file_that_is_not_text_is_an_error(project: Project) -> None:
    project.configure()
    (project.directory / ".dev.vars").write_bytes(b"A=1\nB=\xff")
    (error,) = project.load().diagnostics
    assert (error.severity, error.line, error.column) == ("error", 2, 3)


def test_a_secret_cannot_take_the_name_of_a_binding(project: Project) -> None:
    project.configure(queues={"producers": [{"binding": "JOBS", "queue": "jobs"}]})
    path = project.write(".dev.vars", "JOBS=x")
    (error,) = project.load().diagnostics
    assert error.path == path
    assert error.message.startswith("JOBS assigned to Environment Variable and Queue bindings.")


def test_declared_secrets_are_the_only_ones_taken_from_files(project: Project) -> None:
    project.configure(vars={"A": "config"}, secrets={"required": ["KEY", "TOKEN"]})
    project.write(".dev.vars", "KEY=1\nOTHER=2\nA=file")
    config = project.config(environ={"TOKEN": "process", "HOME": "/"})
    assert dict(config.vars) == {"A": "config", "KEY": "1", "TOKEN": "process"}
    assert config.secret_names == {"KEY", "TOKEN"}


def test_missing_declared_secrets_are_warned_about(project: Project) -> None:
    project.configure(secrets={"required": ["KEY", "TOKEN"]})
    assert project.warnings() == [
        "Missing required secrets: KEY, TOKEN. Add them to .dev.vars, .env, or set as environment "
        "variables."
    ]


@pytest.mark.parametrize("secrets", [[], {"required": "KEY"}, {"required": [1]}])
def test_misshapen_secrets_are_errors(project: Project, secrets: object) -> None:
    project.configure(secrets=secrets)
    assert len(project.errors()) == 1


def test_all_files_that_matter_are_watched_whether_they_exist_or_not(project: Project) -> None:
    project.configure(env={"staging": {}})
    watched = project.config(environment="staging").watched_files
    assert [path.name for path in watched] == [
        "wrangler.jsonc",
        ".dev.vars.staging",
        ".dev.vars",
        ".env",
        ".env.local",
        ".env.staging",
        ".env.staging.local",
    ]
