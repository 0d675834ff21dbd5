"""Rows as a table with borders, as wrangler shows query results. Knows no colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Empty for no rows. The first row's keys are the columns."""
    if not rows:
        return ""
    heads = list(rows[0])
    cells = [heads, *([_cell(row.get(head)) for head in heads] for row in rows)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(heads))]

    def line(left: str, middle: str, right: str) -> str:
        return left + middle.join("─" * (width + 2) for width in widths) + right

    body = [
        "│" + "│".join(f" {text:<{width}} " for text, width in zip(row, widths, strict=True)) + "│"
        for row in cells
    ]
    between = f"\n{line('├', '┼', '┤')}\n"
    return "\n".join([line("┌", "┬", "┐"), between.join(body), line("└", "┴", "┘")])


def _cell(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bytes):
        return str(list(value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value)) if abs(value) < 1e21 else repr(value)
    return str(value).replace("\n", " ")
