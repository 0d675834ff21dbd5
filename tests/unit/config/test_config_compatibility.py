from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tsumugi_emulator.config.compatibility import FLAGS, Flag, is_iso_date, resolve

if TYPE_CHECKING:
    from conftest import Project

DATED = [flag for flag in FLAGS if flag.since]


def day_before(date: str) -> str:
    # Ordering of dates is ordering of text, so "just before" may be a day that does not exist.
    return date[:-1] + chr(ord(date[-1]) - 1) + "~"


@pytest.mark.parametrize("flag", DATED, ids=lambda flag: flag.enable)
def test_a_dated_flag_is_on_from_its_date(flag: Flag) -> None:
    assert flag.since
    assert flag.enable in resolve(date=flag.since, flags=[]).flags
    assert flag.enable not in resolve(date=day_before(flag.since), flags=[]).flags


@pytest.mark.parametrize("flag", FLAGS, ids=lambda flag: flag.enable)
def test_a_flag_can_be_switched_on_early_and_off_late(flag: Flag) -> None:
    enable, disable = flag.enable, flag.disable
    assert enable in resolve(date="2021-01-01", flags=[enable]).flags
    if disable:
        resolved = resolve(date="2030-01-01", flags=[disable])
        assert enable not in resolved.flags
        assert disable not in resolved.flags


@pytest.mark.parametrize(
    ("date", "flags", "version"),
    [
        ("2024-01-01", [], "3.12"),
        ("2025-09-28", [], "3.12"),
        ("2025-09-29", [], "3.13"),
        ("2026-09-07", [], "3.13"),
        ("2026-09-08", [], "3.14"),
        ("2024-01-01", ["python_workers_20250116"], "3.13"),
        ("2024-01-01", ["python_workers_314"], "3.14"),
        ("2026-11-29", ["no_python_workers_314"], "3.13"),
        ("2026-11-29", ["no_python_workers_314", "no_python_workers_20250116"], "3.12"),
    ],
)
def test_the_python_version_follows_date_and_flags(
    date: str, flags: list[str], version: str
) -> None:
    assert resolve(date=date, flags=flags).python_version == version


def test_a_flag_implied_by_another_is_off_without_it() -> None:
    resolved = resolve(date="2026-01-01", flags=["no_python_workers_20250116"])
    assert "python_dedicated_snapshot" not in resolved.flags


def test_a_flag_that_is_not_known_is_passed_on() -> None:
    assert "nodejs_compat" in resolve(date="2026-01-01", flags=["nodejs_compat"]).flags


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("2024-02-29", True),
        ("2023-02-29", False),
        ("1900-02-29", False),
        ("2000-02-29", True),
        ("2024-13-01", False),
        ("2024-00-10", False),
        ("2024-04-31", False),
        ("2024-4-1", False),
        ("2024/04/01", False),
        ("2024-04-01T00", False),
        ("٢٠٢٤-04-01", False),
        ("", False),
    ],
)
def test_a_date_is_a_day_of_the_calendar(text: str, valid: bool) -> None:
    assert is_iso_date(text) is valid


def test_a_missing_date_is_today_with_a_warning(project: Project) -> None:
    project.configure(compatibility_date=None)
    assert project.config().compatibility.date == "2026-11-29"
    (warning,) = project.warnings()
    assert warning.startswith(
        "No compatibility_date was specified. Using today's date: 2026-11-29."
    )


def test_a_date_in_the_future_is_warned_about(project: Project) -> None:
    project.configure(compatibility_date="2027-01-01")
    assert project.config().compatibility.date == "2027-01-01"
    assert "in the future" in project.warnings()[0]


@pytest.mark.parametrize(
    ("date", "message"),
    [
        (20260908, 'Expected "compatibility_date" to be of type string but got 20260908.'),
        (
            "yesterday",
            '"compatibility_date" field should be a valid ISO-8601 date (YYYY-MM-DD), but got '
            '"yesterday".',
        ),
        (
            "2026–09–08",
            '"compatibility_date" field should use ISO-8601 accepted hyphens (-) rather than '
            "en-dashes (–) or em-dashes (—).",
        ),
    ],
)
def test_a_bad_date_is_an_error(project: Project, date: object, message: str) -> None:
    project.configure(compatibility_date=date)
    assert project.errors() == [message]


@pytest.mark.parametrize("flags", ["python_workers", [1], None, {}])
def test_flags_must_be_a_list_of_strings(project: Project, flags: object) -> None:
    project.configure(compatibility_flags=None)
    text = (project.directory / "wrangler.jsonc").read_text()
    project.write("wrangler.jsonc", json.dumps({**json.loads(text), "compatibility_flags": flags}))
    (error,) = project.errors()
    assert error.startswith('Expected "compatibility_flags" to be of type string array but got')


def test_contradictory_and_repeated_flags_are_errors(project: Project) -> None:
    project.configure(
        compatibility_flags=[
            "python_workers",
            "queue_expose_error_codes",
            "no_queue_expose_error_codes",
            "python_workers",
        ]
    )
    assert project.errors() == [
        "Compatibility flags are mutually contradictory: "
        "queue_expose_error_codes vs no_queue_expose_error_codes",
        "Compatibility flag specified multiple times: python_workers",
    ]


def test_without_the_python_flag_it_runs_and_says_that_deploying_needs_it(
    project: Project,
) -> None:
    project.configure(compatibility_flags=[])
    assert "python_workers" in project.config().compatibility.flags
    (warning,) = project.warnings()
    assert warning.startswith("The `python_workers` compatibility flag is required to use Python.")
