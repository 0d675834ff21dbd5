"""Lists of names and values, as Headers, URLSearchParams and FormData are. No JavaScript values."""

from __future__ import annotations


def with_value[V](pairs: list[tuple[str, V]], name: str, value: V) -> list[tuple[str, V]]:
    """What ``set`` leaves: the value where the name stood first, or at the end; no other of it."""
    kept: list[tuple[str, V]] = []
    is_placed = False
    for pair in pairs:
        if pair[0] != name:
            kept.append(pair)
        elif not is_placed:
            kept.append((name, value))
            is_placed = True
    if not is_placed:
        kept.append((name, value))
    return kept
