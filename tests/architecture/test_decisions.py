"""Decision records: numbered, short, in one form, and listed in the index."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DECISIONS = Path(__file__).parents[2] / "docs" / "decisions"
INDEX = DECISIONS / "README.md"
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


def test_the_index_lists_every_record_once_under_its_title() -> None:
    listed = re.findall(r"^- \[(\d{4})\]\((\S+)\) (.+)$", INDEX.read_text(), re.MULTILINE)
    titles = {path.name: path.read_text().splitlines()[0] for path in RECORDS}
    told = [(name, re.sub(r"# (ADR-)?\d{4}[.:]? ", "", title)) for name, title in titles.items()]
    assert sorted((name, title) for _, name, title in listed) == sorted(told)
    assert [name for number, name, _ in listed if not name.startswith(number)] == []


def test_every_record_cited_in_code_or_in_docs_exists() -> None:
    root = DECISIONS.parents[1]
    numbers = {record.name[:4] for record in RECORDS}
    files = [
        path
        for folder in ("sdk", "emulator", "benchmarks", "templates", "tests", "docs")
        for path in (root / folder).rglob("*")
        if path.suffix in (".py", ".mjs", ".js", ".md") and "node_modules" not in path.parts
    ]
    cited = {
        (str(path.relative_to(root)), number)
        for path in files
        for number in re.findall(r"ADR-(\d{4})", path.read_text())
    }
    assert {place for place in cited if place[1] not in numbers} == set()
