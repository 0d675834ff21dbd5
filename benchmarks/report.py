"""The table and the JSON document. Pure: figures in, text out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchmarks.targets import Figure

#: ``samples[tool][row][key]`` is what each repetition measured.
type Samples = dict[str, dict[str, dict[str, list[float]]]]

_HEADS = ("", "", "tsumugi", "wrangler", "ratio", "target", "")


def results(samples: Samples, figures: Sequence[Figure]) -> list[dict[str, Any]]:
    """One entry for each measured figure: the best of the runs, the ratio, the verdict."""
    return [
        _result(figure, samples)
        for figure in figures
        if any(figure.row in rows for rows in samples.values())
    ]


def table(entries: Iterable[dict[str, Any]]) -> str:
    """The entries as aligned text."""
    rows = [_HEADS, *(_cells(entry) for entry in entries)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADS))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column < 2 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def document(entries: list[dict[str, Any]], facts: dict[str, Any]) -> str:
    """The entries as JSON, for programs."""
    return json.dumps({**facts, "figures": entries}, indent=2)


def _result(figure: Figure, samples: Samples) -> dict[str, Any]:
    # A tool that did not get through the work has no figure for how long it took.
    runs = {
        tool: rows[figure.row][figure.key]
        for tool, rows in samples.items()
        if figure.key in rows.get(figure.row, {})
    }
    best = {tool: figure.best(values) for tool, values in runs.items()}
    ours, peer = best.get("tsumugi"), best.get("wrangler")
    return {
        "row": figure.row,
        "figure": figure.label,
        "unit": figure.unit,
        "tsumugi": ours,
        "wrangler": peer,
        "ratio": ours / peer if ours is not None and peer else None,
        "target": figure.target_text(),
        "met": False if ours is None else figure.meets(ours, peer),
        "runs": runs,
    }


def _cells(entry: dict[str, Any]) -> tuple[str, ...]:
    ratio, met = entry["ratio"], entry["met"]
    shows = _yes_or_no if not entry["unit"] else _number
    return (
        f"({entry['row']})",
        entry["figure"],
        "-" if entry["tsumugi"] is None else f"{shows(entry['tsumugi'])} {entry['unit']}".rstrip(),
        "-" if entry["wrangler"] is None else shows(entry["wrangler"]),
        "" if ratio is None or not entry["unit"] else f"{ratio:.2f}x",
        entry["target"] if entry["unit"] else "yes",
        "" if met is None else "ok" if met else "miss",
    )


def _number(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.3f}"


def _yes_or_no(value: float) -> str:
    return "yes" if value else "no"
