from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, strategies as st
from tsumugi_emulator.config.toml import TomlError, parse_toml

if TYPE_CHECKING:
    from conftest import Project

TOML = """\
name = "api" # the name
main = "src/entry.py"
compatibility_date = "2026-09-08"
compatibility_flags = [
  "python_workers", # needed
]

[vars]
A = "http://x#y"
N = { "b" = [1, 2], c = { d = "}" } }

[[queues.producers]]
binding = "JOBS"
queue = "jobs"

[[queues.consumers]]
queue = "jobs"
max_batch_size = 5
max_batch_timeout = 0

[[queues.consumers]]
queue = "other"

[triggers]
crons = ["*/5 * * * *"]

[env.staging.vars]
A = "staging"
"""

JSONC = """\
{
  "name": "api", // the name
  "main": "src/entry.py",
  "compatibility_date": "2026-09-08",
  "compatibility_flags": ["python_workers" /* needed */],
  "vars": {"A": "http://x#y", "N": {"b": [1, 2], "c": {"d": "}"}}},
  "queues": {
    "producers": [{"binding": "JOBS", "queue": "jobs"}],
    "consumers": [
      {"queue": "jobs", "max_batch_size": 5, "max_batch_timeout": 0},
      {"queue": "other"},
    ],
  },
  "triggers": {"crons": ["*/5 * * * *"]},
  "env": {"staging": {"vars": {"A": "staging"}}},
}
"""


@pytest.mark.parametrize("environment", [None, "staging"])
def test_toml_and_json_mean_the_same(project: Project, environment: str | None) -> None:
    toml = project.write("a.toml", TOML)
    jsonc = project.write("a.jsonc", JSONC)
    from_toml = project.config(config_path=toml, environment=environment)
    from_jsonc = project.config(config_path=jsonc, environment=environment)
    for field in ("name", "main", "vars", "producers", "consumers", "crons", "compatibility"):
        assert getattr(from_toml, field) == getattr(from_jsonc, field)


def test_places_are_found_in_every_form_of_table() -> None:
    document = parse_toml(TOML)
    assert document.value_position(("name",)) == (1, 8)
    assert document.key_position(("name",)) == (1, 1)
    assert document.value_position(("compatibility_flags", 0)) == (5, 3)
    assert document.value_position(("vars", "A")) == (9, 5)
    assert document.value_position(("vars", "N", "b", 1)) == (10, 17)
    assert document.value_position(("vars", "N", "c", "d")) == (10, 31)
    assert document.value_position(("queues", "producers", 0)) == (12, 1)
    assert document.value_position(("queues", "consumers", 0, "max_batch_size")) == (18, 18)
    assert document.value_position(("queues", "consumers", 1, "queue")) == (22, 9)
    assert document.value_position(("queues", "consumers", 1, "missing")) == (21, 1)
    assert document.value_position(("env", "staging", "vars", "A")) == (28, 5)


def test_places_survive_strings_of_all_kinds() -> None:
    lines = ['a = """x', "[b]", '"""', "c = '''", "\"'''", 'd = "\\"#"', "\"e f\".g = '#' # x"]
    document = parse_toml("\n".join([*lines, 'h = """"q""""', "i = 1"]))
    assert document.value_position(("c",)) == (4, 5)
    assert document.value_position(("d",)) == (6, 5)
    assert document.value_position(("e f", "g")) == (7, 11)
    assert document.value_position(("i",)) == (9, 5)


def test_places_do_not_depend_on_line_ends_or_a_byte_order_mark() -> None:
    document = parse_toml("\ufeff" + TOML.replace("\n", "\r\n"))
    assert document.value_position(("queues", "consumers", 1, "queue")) == (22, 9)


def test_a_range_fault_in_toml_has_a_place(project: Project) -> None:
    path = project.write(
        "wrangler.toml", TOML.replace("max_batch_size = 5", "max_batch_size = 500")
    )
    (fault,) = project.load().diagnostics
    assert (fault.path, fault.line, fault.column) == (path, 18, 18)


@pytest.mark.parametrize(
    ("text", "place"), [("a = 1\nb = = 2", (2, 5)), ("a = 1\na = 2", (2, 6)), ("a = [1", (1, 7))]
)
def test_a_syntax_error_has_a_place(text: str, place: tuple[int, int]) -> None:
    with pytest.raises(TomlError) as caught:
        parse_toml(text)
    assert (caught.value.line, caught.value.column) == place


def test_dates_cannot_be_variables(project: Project) -> None:
    project.write("wrangler.toml", TOML.replace('A = "http://x#y"', "A = 2025-12-19"))
    assert project.errors() == [
        'The field "vars.A" is a TOML date, which is not supported. Please use a string instead, '
        'e.g. "2025-12-19".'
    ]


def test_a_compatibility_date_needs_quotes(project: Project) -> None:
    project.write("wrangler.toml", TOML.replace('"2026-09-08"', "2026-09-08"))
    assert project.errors() == [
        'Expected "compatibility_date" to be of type string but got "2026-09-08".'
    ]


@pytest.mark.parametrize("number", ["nan", "inf", "-inf"])
def test_numbers_that_json_does_not_have_are_errors(project: Project, number: str) -> None:
    project.write("wrangler.toml", TOML.replace('A = "http://x#y"', f"A = [{number}]"))
    assert len(project.errors()) == 1
    project.write("wrangler.toml", TOML.replace("max_batch_size = 5", f"max_batch_size = {number}"))
    assert len(project.errors()) == 1


def test_deep_nesting_is_an_error_and_not_a_crash() -> None:
    for text in ("a" + ".a" * 5_000 + " = 1", "a = " + "[" * 5_000 + "]" * 5_000):
        with pytest.raises(TomlError):
            parse_toml(text)


@given(st.text(alphabet="ab[]{}=.,\"'#\n \\1-") | st.text())
def test_arbitrary_text_is_a_table_or_an_error(text: str) -> None:
    try:
        document = parse_toml(text)
    except TomlError:
        return
    assert isinstance(document.value, dict)
    for key in document.value:
        assert document.value_position((key,)) is not None
