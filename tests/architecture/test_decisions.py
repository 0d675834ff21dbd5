"""Decision records: numbered, short, in one form, and listed where there is an index."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DECISIONS = Path(__file__).parents[2] / "docs" / "decisions"
INDEX_NAMES = ("README.md", "index.md")
RECORDS = sorted(DECISIONS.glob("[0-9]*.md"))
LONGEST = 40


@pytest.mark.parametrize("record", RECORDS, ids=lambda path: path.stem)
class TestADecisionRecord:
    def test_is_named_by_number_and_subject(self, record: Path) -> None:
        assert re.fullmatch(r"\d{4}(-[a-z0-9]+)+\.md", record.name)

    def test_opens_with_its_number_and_title(self, record: Path) -> None:
        first = record.read_text().splitlines()[0]
        assert re.match(rf"# (ADR-)?{record.name[:4]}[.:]? \S", first), first

    def test_says_situation_decision_and_consequences(self, record: Path) -> None:
        headings = re.findall(r"^## (.+)$", record.read_text(), re.MULTILINE)
        assert headings == ["Situation", "Decision", "Consequences"]

    def test_is_short(self, record: Path) -> None:
        assert len(record.read_text().splitlines()) <= LONGEST


def test_no_number_is_used_twice() -> None:
    numbers = [record.name[:4] for record in RECORDS]
    assert len(numbers) == len(set(numbers))


def test_the_index_lists_every_record() -> None:
    index = next((DECISIONS / name for name in INDEX_NAMES if (DECISIONS / name).exists()), None)
    if index is None:
        return  # the folder listing serves as the index until one is written
    text = index.read_text()
    assert [record.name for record in RECORDS if record.name not in text] == []


def test_every_record_cited_in_code_exists() -> None:
    root = DECISIONS.parents[1]
    numbers = {record.name[:4] for record in RECORDS}
    cited = {
        (str(path.relative_to(root)), number)
        for path in (root / "sdk").rglob("*.py")
        for number in re.findall(r"ADR-(\d{4})", path.read_text())
    }
    assert {place for place in cited if place[1] not in numbers} == set()
