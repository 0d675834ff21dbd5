"""Whatever a file says, reading it ends in a configuration or in errors with places."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given, strategies as st
from tsumugi_emulator.config import fields
from tsumugi_emulator.config.diagnostics import render
from tsumugi_emulator.config.jsonc import parse_jsonc
from tsumugi_emulator.config.parse import parse

KEYS = [
    "queues", "producers", "consumers", "queue", "binding", "bindings", "name", "type", "main",
    "max_batch_size", "max_batch_timeout", "max_retries", "dead_letter_queue", "max_concurrency",
    "retry_delay", "delivery_delay", "compatibility_date", "compatibility_flags", "vars", "env",
    "secrets", "required", "triggers", "crons", "dev", "ip", "port", "staging",
]  # fmt: skip
STRINGS = ["a", "jobs", "http_pull", "src/entry.py", "2026-01-01", "python_workers", ""]

leaves = st.sampled_from([None, True, 0, 1, -1, 100, 1e9, 0.5, *STRINGS])
values: Any = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)
    ),
    max_leaves=25,
)
roots = st.dictionaries(st.sampled_from([*KEYS, *sorted(fields.BINDING_KINDS)]), values, max_size=8)


@given(roots, st.sampled_from([None, "staging", "other"]))
def test_any_configuration_is_read_or_refused_with_places(
    root: dict[str, Any], environment: str | None
) -> None:
    path = Path("/project/wrangler.jsonc")
    document = parse_jsonc(json.dumps(root, indent=1))
    parsed = parse(document, path=path, environment=environment, today="2026-11-29")
    found = parsed.report.diagnostics
    assert (parsed.config is None) == any(item.severity == "error" for item in found)
    assert all(item.line and item.column for item in found)
    assert len({(item.message, item.line, item.column) for item in found}) == len(found)
    assert bool(render(found)) == bool(found)


@given(roots)
def test_reading_leaves_the_document_as_it_is(root: dict[str, Any]) -> None:
    document = parse_jsonc(json.dumps(root))
    parse(document, path=Path("/project/wrangler.jsonc"), environment="staging", today="2026-11-29")
    assert document.value == root


def test_a_cron_expression_nobody_could_fire_is_an_error_at_its_place() -> None:
    from tsumugi_emulator.config.parse import _cron_fault

    assert _cron_fault("*/5 * * * *") is None
    assert _cron_fault("* * * * 0") == "weekday '0' is not a number from 1 to 7"
