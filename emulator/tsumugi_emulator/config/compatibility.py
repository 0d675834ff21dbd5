"""Which compatibility flags a date and a list of flags switch on. Pure: "today" is an argument.

Only flags whose effect this emulator has, or whose absence a user would notice here, are in the
table; a flag it does not know is passed through as enabled, as written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tsumugi_emulator.config.model import Compatibility
from tsumugi_emulator.config.report import Report, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tsumugi_emulator.config.environments import Environment


class Flag(NamedTuple):
    enable: str
    disable: str | None = None
    #: On by default from this date.
    since: str | None = None
    #: The date counts only while this flag is on.
    requires: str | None = None


#: In dependency order: a flag stands after the one it requires.
FLAGS = (
    Flag("python_workers"),
    Flag("queues_json_messages", "no_queues_json_messages", "2024-03-18"),
    Flag("python_workers_force_new_vendor_path", None, "2025-08-11"),
    Flag("python_no_global_handlers", "disable_python_no_global_handlers", "2025-08-14"),
    Flag("python_workflows", "disable_python_workflows", "2025-09-20", "python_workers"),
    Flag("python_workers_20250116", "no_python_workers_20250116", "2025-09-29", "python_workers"),
    Flag(
        "python_dedicated_snapshot",
        "disable_python_dedicated_snapshot",
        "2025-10-16",
        "python_workers_20250116",
    ),
    Flag(
        "assets_navigation_prefers_asset_serving",
        "assets_navigation_has_no_effect",
        "2025-04-01",
    ),
    Flag("enable_ctx_exports", "disable_ctx_exports", "2025-11-17"),
    Flag("enable_fast_jsg_struct", "disable_fast_jsg_struct", "2025-12-03"),
    Flag(
        "python_check_rng_state", "disable_python_check_rng_state", "2025-12-16", "python_workers"
    ),
    Flag(
        "python_request_headers_preserve_commas",
        "disable_python_request_headers_preserve_commas",
        "2026-02-17",
    ),
    Flag("delete_all_deletes_alarm", "delete_all_preserves_alarm", "2026-02-24"),
    Flag(
        "python_workflows_implicit_dependencies",
        "no_python_workflows_implicit_dependencies",
        "2026-02-25",
        "python_workers",
    ),
    Flag("queue_expose_error_codes", "no_queue_expose_error_codes", "2026-03-12"),
    Flag("websocket_standard_binary_type", "no_websocket_standard_binary_type", "2026-03-17"),
    Flag("web_socket_auto_reply_to_close", "web_socket_manual_reply_to_close", "2026-04-07"),
    Flag("enable_python_external_sdk", "disable_python_external_sdk", "2026-04-21"),
    Flag(
        "python_process_pth_files",
        "disable_python_process_pth_files",
        "2026-05-26",
        "python_workers",
    ),
    Flag("python_workers_314", "no_python_workers_314", "2026-09-08", "python_workers"),
    Flag("python_shared_standard_library", None, "2026-11-19", "python_workers_314"),
    Flag("queue_consumer_no_wait_for_wait_until", "queue_consumer_wait_for_wait_until"),
)

#: The newest runtime wins; flags that name one mean at least that Python.
_PYTHON_VERSIONS = (
    ("python_workers_20260817", "3.14"),
    ("python_workers_314", "3.14"),
    ("python_workers_20260610", "3.14"),
    ("python_workers_20250116", "3.13"),
)
_OLDEST_PYTHON = "3.12"


def resolve(*, date: str, flags: Sequence[str]) -> Compatibility:
    """The enabled flags and the Python they mean; dates compare as text, being ISO 8601.

    Counts ``python_workers`` as given, because nothing but a Python Worker runs here.
    """
    given = {*flags, "python_workers"}
    disables = {flag.disable for flag in FLAGS if flag.disable}
    enabled = given - disables
    for flag in FLAGS:
        by_date = flag.since is not None and date >= flag.since
        implied = flag.requires is None or flag.requires in enabled
        if by_date and implied:
            enabled.add(flag.enable)
        if flag.disable in given:
            enabled.discard(flag.enable)
    version = next((name for flag, name in _PYTHON_VERSIONS if flag in enabled), _OLDEST_PYTHON)
    return Compatibility(date=date, flags=frozenset(enabled), python_version=version)


def read_compatibility(environment: Environment, report: Report, *, today: str) -> Compatibility:
    """Reads ``compatibility_date`` and ``compatibility_flags`` and reports what is wrong there."""
    flags = _read_flags(environment, report)
    date = _read_date(environment, report, today=today)
    return resolve(date=date, flags=flags)


def _read_date(environment: Environment, report: Report, *, today: str) -> str:
    field = environment.get("compatibility_date")
    if field is None:
        report.warning(
            f"No compatibility_date was specified. Using today's date: {today}.\n"
            f'Add one to your configuration file: compatibility_date = "{today}"'
        )
        return today
    date, at = field
    if not isinstance(date, str):
        report.error(
            f'Expected "compatibility_date" to be of type string but got {quoted(date)}.', at
        )
    elif any(dash in date for dash in "–—"):
        report.error(
            '"compatibility_date" field should use ISO-8601 accepted hyphens (-) rather than '
            "en-dashes (–) or em-dashes (—).",
            at,
        )
    elif not is_iso_date(date):
        report.error(
            '"compatibility_date" field should be a valid ISO-8601 date (YYYY-MM-DD), but got '
            f"{quoted(date)}.",
            at,
        )
    else:
        if date > today:
            report.warning(
                f'"compatibility_date" {date} is in the future, which is refused when the Worker '
                f"is deployed before that day. Use {today} or an earlier date.",
                at,
            )
        return date
    return today


def _read_flags(environment: Environment, report: Report) -> list[str]:
    field = environment.get("compatibility_flags")
    if field is None:
        return []
    flags, at = field
    if not isinstance(flags, list) or not all(isinstance(flag, str) for flag in flags):
        report.error(
            f'Expected "compatibility_flags" to be of type string array but got {quoted(flags)}.',
            at,
        )
        return []
    for flag in FLAGS:
        if flag.enable in flags and flag.disable in flags:
            report.error(
                f"Compatibility flags are mutually contradictory: {flag.enable} vs {flag.disable}",
                (*at, flags.index(flag.disable)),
            )
    for index, name in enumerate(flags):
        if name in flags[:index]:
            report.error(f"Compatibility flag specified multiple times: {name}", (*at, index))
    return flags


def is_iso_date(text: str) -> bool:
    """Whether this is a day of the calendar written YYYY-MM-DD."""
    parts = text.split("-")
    if [len(part) for part in parts] != [4, 2, 2] or not all(_is_digits(part) for part in parts):
        return False
    year, month, day = map(int, parts)
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    return 1 <= month <= 12 and 1 <= day <= days[month - 1]


def _is_digits(text: str) -> bool:
    return text.isascii() and text.isdigit()
