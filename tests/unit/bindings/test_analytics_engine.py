"""Analytics Engine: what can be written, and that SQL finds it (limits as workerd words them)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tsumugi_emulator.storage.analytics import query

if TYPE_CHECKING:
    from pathlib import Path

    from binding_harness import Bench


def test_points_are_written_and_found(bench: Bench, tmp_path: Path) -> None:
    answered = bench.run("""
env.AE.writeDataPoint({"blobs": ["a", None], "doubles": [1.5], "indexes": ["i"]})
env.AE.writeDataPoint(blobs=["b"], doubles=[2, True], indexes=["j"])
return env.AE.writeDataPoint()
""")
    assert answered is None
    sql = "SELECT index1, blob1, blob2, double1, double2, timestamp, _sample_interval FROM events"
    answer = query(tmp_path, sql, bench.clock)
    time = "2026-01-01 00:00:00"
    assert answer.rows == [
        ("i", "a", "", 1.5, 0.0, time, 1),
        ("j", "b", "", 2.0, 1.0, time, 1),
        ("", "", "", 0.0, 0.0, time, 1),
    ]


@pytest.mark.parametrize(
    ("point", "text"),
    [
        ("blobs=['x'] * 21", "writeDataPoint(): Maximum of 20 blobs supported."),
        ("doubles=[1] * 21", "writeDataPoint(): Maximum of 20 doubles supported."),
        ("indexes=['a', 'b']", "writeDataPoint(): Maximum of 1 indexes supported."),
        ("indexes=['a' * 97]", "writeDataPoint(): Size of indexes[0] exceeds 96 bytes)."),
        (
            "blobs=['a' * 16385]",
            "writeDataPoint(): Cumulative size of blobs exceeds 16384 bytes).",
        ),
        (
            "5",
            "Failed to execute 'writeDataPoint' on 'AnalyticsEngine': parameter 1 is not of type "
            "'AnalyticsEngineEvent'.",
        ),
    ],
)
def test_a_point_has_limits(bench: Bench, point: str, text: str) -> None:
    body = f"""
try:
    env.AE.writeDataPoint({point})
except JsException as error:
    return [error.name, error.message]
"""
    found: list[Any] = bench.run(body)
    assert found == ["TypeError", text]
