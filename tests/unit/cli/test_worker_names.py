"""`tsumugi init` makes a name that wrangler and the queues API accept, from any directory's."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st
from tsumugi_emulator.cli.init import MAX_NAME_LENGTH, worker_name
from tsumugi_emulator.config.parse import is_worker_name


@pytest.mark.parametrize(
    ("directory", "name"),
    [
        ("my-worker", "my-worker"),
        ("My Worker", "my-worker"),
        ("a  b..c", "a-b-c"),
        ("under_score", "under_score"),
        ("-_edges_-", "edges"),
        ("日本", "my-worker"),
        ("", "my-worker"),
        ("x" * 99, "x" * MAX_NAME_LENGTH),
    ],
)
def test_a_directory_names_its_worker(directory: str, name: str) -> None:
    assert worker_name(directory) == name


@given(st.text(max_size=120))
def test_every_name_made_is_accepted(directory: str) -> None:
    name = worker_name(directory)
    assert is_worker_name(name)
    assert name[0].isalnum()
    assert name[-1].isalnum()
    assert len(f"{name}-jobs-dlq") <= 63
