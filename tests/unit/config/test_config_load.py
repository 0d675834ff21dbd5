from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tsumugi_emulator.config.model import DevSettings

if TYPE_CHECKING:
    from conftest import Project

NAMED = '{"name": "%s", "main": "src/entry.py", "compatibility_flags": ["python_workers"]}'


def test_a_minimal_configuration_loads_without_a_word(project: Project) -> None:
    path = project.configure()
    loaded = project.load()
    assert loaded.diagnostics == ()
    assert loaded.config is not None
    assert loaded.config.path == path
    assert loaded.config.name == "api"
    assert loaded.config.main == project.directory / "src/entry.py"
    assert loaded.config.environment is None
    assert loaded.config.dev == DevSettings()


def test_loading_twice_gives_equal_configurations(project: Project) -> None:
    project.configure(vars={"A": [1]}, queues={"consumers": [{"queue": "jobs"}]})
    first = project.config()
    assert first == project.config()
    project.write(".dev.vars", "B=1")
    assert first != project.config()


def test_files_are_chosen_in_wranglers_order(project: Project) -> None:
    project.write("wrangler.toml", 'name = "toml"\nmain = "src/entry.py"')
    assert project.config().name == "toml"
    project.write("wrangler.jsonc", NAMED % "jsonc")
    assert project.config().name == "jsonc"
    project.write("wrangler.json", NAMED % "json")
    assert project.config().name == "json"


def test_a_parents_json_beats_a_local_jsonc(project: Project) -> None:
    project.write("wrangler.json", NAMED % "parent")
    project.write("inner/wrangler.jsonc", NAMED % "local")
    config = project.config(cwd=project.directory / "inner")
    assert config.name == "parent"
    assert config.main == project.directory / "src/entry.py"


def test_json_may_have_comments_too(project: Project) -> None:
    project.write("wrangler.json", NAMED % "json" + " // yes")
    assert project.config().name == "json"


def test_a_chosen_file_is_relative_to_the_working_directory(project: Project) -> None:
    project.configure()
    project.write("other/my.jsonc", NAMED.replace("src", "../src") % "other")
    config = project.config(config_path=Path("../other/my.jsonc"), cwd=project.directory / "src")
    assert config.name == "other"
    assert config.main == project.directory / "src/entry.py"


def test_dev_vars_stand_beside_the_configuration(project: Project) -> None:
    project.write("other/my.jsonc", NAMED.replace("src", "../src") % "other")
    project.write("other/.dev.vars", "A=1")
    project.write(".dev.vars", "A=2")
    assert dict(project.config(config_path=Path("other/my.jsonc")).vars) == {"A": "1"}


def test_no_configuration_at_all_is_an_error_with_the_next_step(project: Project) -> None:
    loaded = project.load()
    (fault,) = loaded.diagnostics
    assert "tsumugi init" in fault.message
    assert "--config" in fault.message
    assert project.directory / "wrangler.jsonc" in loaded.watched_files


def test_a_missing_file_is_an_error(project: Project) -> None:
    (fault,) = project.load(config_path=Path("none.jsonc")).diagnostics
    assert fault.message == "Could not read the file: No such file or directory."
    assert fault.path == project.directory / "none.jsonc"


def test_a_directory_is_no_configuration(project: Project) -> None:
    project.write("dir.json/x", "")
    assert project.errors(config_path=Path("dir.json")) == [
        "Could not read the file: Is a directory."
    ]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="needs file permissions")
def test_an_unreadable_file_is_an_error(project: Project) -> None:
    project.configure().chmod(0)
    assert project.errors() == ["Could not read the file: Permission denied."]


def test_a_name_with_another_ending_is_an_error(project: Project) -> None:
    project.write("wrangler.yaml", "")
    (error,) = project.errors(config_path=Path("wrangler.yaml"))
    assert "*.toml" in error


def test_a_syntax_error_has_its_place_and_is_watched(project: Project) -> None:
    path = project.write("wrangler.jsonc", '{\n  "name": api\n}')
    loaded = project.load()
    (fault,) = loaded.diagnostics
    assert (fault.path, fault.line, fault.column) == (path, 2, 11)
    assert loaded.watched_files == (path,)


def test_bytes_that_are_not_utf8_are_an_error_with_a_place(project: Project) -> None:
    (project.directory / "wrangler.jsonc").write_bytes('{\n "é": "'.encode() + b'\xe9"}')
    (fault,) = project.load().diagnostics
    assert (fault.line, fault.column) == (2, 8)
    assert "UTF-8" in fault.message


@pytest.mark.parametrize("text", ["[]", "5", '"x"', "null"])
def test_a_configuration_is_an_object(project: Project, text: str) -> None:
    project.write("wrangler.json", text)
    assert project.errors() == [f"The configuration should be an object but got {text}."]


def test_a_key_given_twice_is_warned_about(project: Project) -> None:
    project.write("wrangler.json", '{"name": "a",\n "name": "b", "main": "src/entry.py"}')
    warning = project.load().diagnostics[0]
    assert warning.message == 'The key "name" is given twice; the last one counts.'
    assert (warning.line, warning.column) == (2, 2)
    assert project.config().name == "b"


def test_unknown_top_level_fields_are_warned_about_with_advice(project: Project) -> None:
    project.configure(compatability_date="2026-01-01", whatever=1)
    assert project.warnings() == [
        'Unexpected fields found in top-level field: "compatability_date","whatever"\n'
        'Did you mean "compatibility_date" instead of "compatability_date"?'
    ]


def test_fields_wrangler_removed_are_errors(project: Project) -> None:
    project.configure(node_compat=True, legacy_env=True)
    assert len(project.errors()) == 2
    assert project.warnings() == []


@pytest.mark.parametrize("name", ["My-Api", "-api", "a b", 5, "é"])
def test_a_bad_name_is_an_error_in_wranglers_words(project: Project, name: object) -> None:
    project.configure(name=name)
    (error,) = project.errors()
    assert error.startswith(
        'Expected "name" to be of type string, alphanumeric and lowercase with dashes only but got'
    )


@pytest.mark.parametrize(
    ("directory", "name"), [("shop", "shop"), ("My Shop_1", "my-shop_1"), ("--", "worker")]
)
def test_without_a_name_the_directory_gives_it(project: Project, directory: str, name: str) -> None:
    project = project.sibling(directory)
    project.configure(name=None)
    assert project.config().name == name
    project.configure(name="")
    assert project.config().name == name


def test_a_missing_main_is_an_error_with_the_next_step(project: Project) -> None:
    project.configure(main=None)
    (error,) = project.errors()
    assert error.startswith("Missing entry-point to Worker script or to assets directory.")
    assert '"main"' in error


def test_a_main_that_is_not_there_is_an_error(project: Project) -> None:
    project.configure(main="src/other.py")
    (error,) = project.errors()
    assert error.startswith('The entry-point file at "src/other.py" was not found.')


def test_a_main_that_is_a_directory_is_an_error(project: Project) -> None:
    project.write("lib.py/x", "")
    project.configure(main="lib.py")
    (error,) = project.errors()
    assert "points to a directory, rather than a file" in error


@pytest.mark.parametrize("main", ["src/index.ts", "src/entry", "entry.pyc"])
def test_a_main_that_is_not_python_is_an_error(project: Project, main: str) -> None:
    project.configure(main=main)
    (error,) = project.errors()
    assert "only Python Workers run here" in error


def test_a_main_with_a_nul_is_an_error_and_not_a_crash(project: Project) -> None:
    project.configure(main="a\0.py")
    assert len(project.errors()) == 1


def test_crons_are_listed_as_written(project: Project) -> None:
    project.configure(triggers={"crons": ["*/5 * * * *", "0 0 * * mon"]})
    assert project.config().crons == ("*/5 * * * *", "0 0 * * mon")


@pytest.mark.parametrize(
    ("triggers", "message"),
    [
        ([], 'Expected "triggers" to be of type object but got [].'),
        (
            {"crons": "x"},
            'Expected "triggers.crons" to be of type array, but got {"crons":"x"}.',
        ),
        ({"crons": [5]}, 'Expected "triggers.crons[0]" to be of type string but got 5.'),
    ],
)
def test_misshapen_triggers_are_errors(project: Project, triggers: object, message: str) -> None:
    project.configure(triggers=triggers)
    assert project.errors() == [message]


def test_dev_settings_are_read(project: Project) -> None:
    project.configure(dev={"ip": "0.0.0.0", "port": 0})
    assert project.config().dev == DevSettings(ip="0.0.0.0", port=0)


@pytest.mark.parametrize(
    ("dev", "message"),
    [
        ([], 'The field "dev" should be an object but got [].'),
        ({"ip": 1}, 'Expected "dev.ip" to be of type string but got 1.'),
        ({"port": "1"}, 'Expected "dev.port" to be of type number but got "1".'),
        ({"port": None}, 'Expected "dev.port" to be of type number but got null.'),
        ({"port": 65536}, '"dev.port" has an invalid value 65536. Must be between 0 and 65535.'),
    ],
)
def test_misshapen_dev_settings_are_errors(project: Project, dev: object, message: str) -> None:
    project.configure(dev=dev)
    assert project.errors() == [message]


def test_faults_of_all_kinds_are_told_at_once(project: Project) -> None:
    project.configure(
        name="Bad Name",
        main=None,
        compatibility_date="never",
        vars=5,
        queues={"consumers": [{"queue": "a", "max_retries": 1000}, {"type": "http_pull"}]},
        triggers=[],
        dev={"port": "x"},
    )
    assert len(project.errors()) == 9


def test_loading_imports_little_and_parses_toml_only_when_asked(project: Project) -> None:
    project.configure()
    script = """
import sys, pathlib
from tsumugi_emulator.config.load import load
loaded = load(config_path=None, environment=None, cwd=pathlib.Path(sys.argv[1]), environ={},
              today="2026-11-29")
assert loaded.config is not None
heavy = {"json", "tomllib", "difflib", "datetime", "asyncio", "pydantic", "rich", "click"}
print(sorted(heavy & sys.modules.keys()))
"""
    result = subprocess.run(
        [sys.executable, "-S", "-c", script, str(project.directory)],
        env={"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.strip() == "[]"
