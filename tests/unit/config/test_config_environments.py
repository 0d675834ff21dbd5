from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Project

QUEUES = {"consumers": [{"queue": "jobs"}]}


def test_an_environment_inherits_what_wrangler_lets_it_inherit(project: Project) -> None:
    project.configure(triggers={"crons": ["* * * * *"]}, env={"staging": {}})
    config = project.config(environment="staging")
    assert config.environment == "staging"
    assert config.main == project.directory / "src/entry.py"
    assert config.crons == ("* * * * *",)
    assert config.compatibility.date == "2026-09-08"


def test_an_environment_overrides_what_it_sets(project: Project) -> None:
    project.write("other.py", "")
    project.configure(
        env={
            "staging": {
                "main": "other.py",
                "compatibility_date": "2025-01-01",
                "triggers": {"crons": []},
            }
        }
    )
    config = project.config(environment="staging")
    assert config.main == project.directory / "other.py"
    assert config.compatibility.date == "2025-01-01"
    assert config.crons == ()


def test_the_name_gains_the_environment_unless_it_has_its_own(project: Project) -> None:
    project.configure(env={"staging": {}, "live": {"name": "shop"}})
    assert project.config(environment="staging").name == "api-staging"
    assert project.config(environment="live").name == "shop"


@pytest.mark.parametrize("field", ["queues", "vars", "kv_namespaces"])
def test_a_block_that_is_not_inherited_is_empty_and_warned_about(
    project: Project, field: str
) -> None:
    blocks: dict[str, Any] = {"queues": QUEUES, "vars": {"A": "1"}, "kv_namespaces": []}
    project.configure(**{field: blocks[field]}, env={"staging": {}})
    config = project.config(environment="staging")
    assert (config.consumers, dict(config.vars)) == ((), {})
    assert project.warnings(environment="staging") == [
        f'"{field}" exists at the top level, but not on "env.staging".\n'
        f'This is not what you probably want, since "{field}" is not inherited by environments.\n'
        f'Please add "{field}" to "env.staging".'
    ]


def test_single_variables_are_not_inherited_either(project: Project) -> None:
    project.configure(vars={"A": "1", "B": "2", "C": "3"}, env={"staging": {"vars": {"A": "4"}}})
    assert dict(project.config(environment="staging").vars) == {"A": "4"}
    (warning,) = project.warnings(environment="staging")
    assert warning.startswith(
        'The following vars exist at the top level, but not on "env.staging.vars".'
    )
    assert warning.endswith("- B\n- C")


def test_faults_in_an_environment_carry_its_full_path(project: Project) -> None:
    project.configure(env={"staging": {"queues": {"consumers": [{}]}}})
    (fault,) = project.load(environment="staging").diagnostics
    assert fault.message == (
        '"env.staging.queues.consumers[0]" should have a string "queue" field but got {}.'
    )
    assert fault.section == '"env.staging" environment configuration'


def test_unknown_fields_of_the_chosen_environment_are_warned_about(project: Project) -> None:
    project.configure(env={"staging": {"dev": {}, "x": 1}, "other": {"y": 1}}, z=1)
    assert project.warnings(environment="staging") == [
        'Unexpected fields found in top-level field: "z"',
        'Unexpected fields found in env.staging field: "dev","x"',
    ]


def test_errors_at_the_top_level_count_in_an_environment_too(project: Project) -> None:
    project.configure(
        queues={
            "producers": [{"binding": "A", "queue": "a", "delivery_delay": 1}],
            "consumers": [{"queue": "jobs", "max_batch_size": 500}],
        },
        env={"staging": {"queues": QUEUES}},
    )
    (fault,) = project.load(environment="staging").diagnostics
    assert "max_batch_size" in fault.message


def test_an_unknown_environment_is_an_error_when_there_are_others(project: Project) -> None:
    project.configure(env={"staging": {}, "live": {}})
    (error,) = project.errors(environment="stagin")
    assert error.startswith('No environment found in configuration with name "stagin".\n')
    assert 'The available configured environment names are: ["staging","live"]' in error


def test_an_unknown_environment_is_only_a_name_when_there_are_none(project: Project) -> None:
    project.configure(queues=QUEUES)
    (warning,) = project.warnings(environment="staging")
    assert warning.startswith('No environment found in configuration with name "staging".')
    config = project.config(environment="staging")
    assert config.name == "api-staging"
    assert len(config.consumers) == 1


def test_the_process_environment_may_choose(project: Project) -> None:
    project.configure(env={"staging": {}, "live": {}})
    environ = {"CLOUDFLARE_ENV": "staging"}
    assert project.config(environ=environ).name == "api-staging"
    assert project.config(environ=environ, environment="live").name == "api-live"
    assert project.config(environ=environ, environment="").environment is None


@pytest.mark.parametrize("section", [None, [], "x"])
def test_an_environment_must_be_an_object(project: Project, section: object) -> None:
    project.configure(env={"staging": section})
    (error,) = project.errors(environment="staging")
    assert error.startswith('The field "env.staging" should be an object but got')


def test_env_itself_must_be_an_object(project: Project) -> None:
    project.configure(env=["staging"])
    assert project.errors() == ['The field "env" should be an object but got ["staging"].']


def test_an_environment_whose_name_makes_no_worker_name_is_an_error(project: Project) -> None:
    project.configure(env={"My Env": {}, "Named": {"name": "fine"}})
    (error,) = project.errors(environment="My Env")
    assert "api-My Env" in error
    assert project.config(environment="Named").name == "fine"
