"""Who may use the queues API: tokens in a file that only their owner may read (ADR-0083)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tsumugi_emulator.tokens import FILE, READ, SCOPES, WRITE, Tokens

if TYPE_CHECKING:
    from pathlib import Path

NOW_MS = 1_700_000_000_000


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    return Tokens(tmp_path / "state")


def test_a_token_allows_what_it_was_made_for(tokens: Tokens) -> None:
    _, text = tokens.create("reader", [READ], now_ms=NOW_MS)
    assert tokens.scopes_of(text) == {READ}
    assert tokens.scopes_of(text + "x") is None
    assert tokens.scopes_of("") is None


def test_the_file_has_no_text_of_a_token_and_is_its_owners_alone(
    tokens: Tokens, tmp_path: Path
) -> None:
    _, text = tokens.create("token", SCOPES, now_ms=NOW_MS)
    path = tmp_path / "state" / FILE
    assert text not in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    assert [other.name for other in path.parent.iterdir()] == [FILE]


def test_another_process_knows_a_token_and_its_end_at_once(tokens: Tokens, tmp_path: Path) -> None:
    other = Tokens(tmp_path / "state")
    token, text = tokens.create("token", [WRITE], now_ms=NOW_MS)
    assert other.scopes_of(text) == {WRITE}
    assert tokens.revoke(token.id) == [token]
    assert other.scopes_of(text) is None


def test_revoking_a_name_ends_every_token_of_that_name_and_no_other(tokens: Tokens) -> None:
    first = tokens.create("ci", SCOPES, now_ms=NOW_MS)[1]
    second = tokens.create("ci", SCOPES, now_ms=NOW_MS)[1]
    kept = tokens.create("mine", SCOPES, now_ms=NOW_MS)[1]
    assert len(tokens.revoke("ci")) == 2
    assert [tokens.scopes_of(text) for text in (first, second)] == [None, None]
    assert tokens.scopes_of(kept) == set(SCOPES)
    assert tokens.revoke("ci") == []


def test_the_first_start_makes_a_token_and_no_later_one_even_if_it_was_revoked(
    tokens: Tokens,
) -> None:
    text = tokens.create_default(now_ms=NOW_MS)
    assert text is not None
    assert tokens.scopes_of(text) == set(SCOPES)
    assert tokens.create_default(now_ms=NOW_MS) is None
    tokens.revoke("default")
    assert tokens.create_default(now_ms=NOW_MS) is None


def test_a_passing_token_is_in_no_file_and_ends_with_its_process(
    tokens: Tokens, tmp_path: Path
) -> None:
    text = tokens.create_passing("session", now_ms=NOW_MS)
    assert tokens.scopes_of(text) == set(SCOPES)
    assert tokens.all() == []
    assert Tokens(tmp_path / "state").scopes_of(text) is None


@pytest.mark.parametrize("broken", ["", "[", "{}", "[1]", '[{"id": "x"}]', "null"])
def test_a_file_that_somebody_broke_lets_nobody_in(
    tokens: Tokens, tmp_path: Path, broken: str
) -> None:
    _, text = tokens.create("token", SCOPES, now_ms=NOW_MS)
    path = tmp_path / "state" / FILE
    path.write_text(broken)
    os.utime(path, ns=(NOW_MS, NOW_MS))
    assert tokens.scopes_of(text) is None
