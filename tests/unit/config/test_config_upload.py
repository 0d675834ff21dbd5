"""rules, python_modules and base_dir: what is read, and what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tsumugi_emulator.config.model import Upload, UploadRule

if TYPE_CHECKING:
    from conftest import Project


def test_rules_exclusions_and_the_base_directory_are_read(project: Project) -> None:
    project.configure(
        rules=[
            {"type": "Data", "globs": ["**/*.json"], "fallthrough": True},
            {"type": "Text", "globs": ["*.md"]},
        ],
        python_modules={"exclude": ["tests/**"]},
        base_dir=".",
    )
    assert project.config().upload == Upload(
        rules=(
            UploadRule(type="Data", globs=("**/*.json",), fallthrough=True),
            UploadRule(type="Text", globs=("*.md",)),
        ),
        excluded=("tests/**",),
        base_dir=project.directory,
    )
    assert project.warnings() == []


def test_without_them_compiled_files_are_excluded_and_names_start_at_main(project: Project) -> None:
    project.configure()
    assert project.config().upload == Upload(excluded=("**/*.pyc",), base_dir=None)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"rules": {}}, 'The field "rules" should be an array but got {}.'),
        ({"rules": [1]}, "A rule should be an object but got 1."),
        (
            {"rules": [{"type": "Data"}]},
            'Expected "globs" to be an array of strings but got null.',
        ),
        (
            {"rules": [{"type": "Data", "globs": [], "fallthrough": 1}]},
            'Expected "fallthrough" to be of type boolean but got 1.',
        ),
        ({"base_dir": 1}, 'Expected "base_dir" to be of type string but got 1.'),
        (
            {"python_modules": []},
            'Expected "python_modules.exclude" to be an array of globs but got []: for example '
            '{ "exclude": ["**/*.pyc"] }.',
        ),
    ],
)
def test_faulty_fields_are_told(project: Project, fields: dict[str, Any], message: str) -> None:
    project.configure(**fields)
    assert project.errors() == [message]


def test_an_unknown_type_is_told_with_those_there_are(project: Project) -> None:
    project.configure(rules=[{"type": "Json", "globs": []}])
    (message,) = project.errors()
    assert '"PythonModule"' in message
    assert message.endswith('but got "Json".')


def test_what_is_deployed_has_no_local_values(project: Project) -> None:
    project.configure(vars={"A": "deployed"}, secrets={"required": ["TOKEN"]})
    project.write(".dev.vars", "A=local\nTOKEN=local\n")
    loaded = project.load(local_values=False)
    assert loaded.config is not None
    assert loaded.config.vars == {"A": "deployed"}
    assert loaded.diagnostics == ()
    assert loaded.dev_vars_files == ()
