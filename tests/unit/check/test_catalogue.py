from __future__ import annotations

import re
import sysconfig
from pathlib import Path

import pytest
from tsumugi_emulator.check import examine, findings, judge, report, runtime_modules
from tsumugi_emulator.check.findings import RULES

ROOT = Path(__file__).parents[3]
TESTS = Path(__file__).parent


def test_the_page_of_all_rules_is_made_from_them() -> None:
    assert (ROOT / "docs" / "checks.md").read_text() == report.catalogue(), (
        "python -m tsumugi_emulator.check.catalogue > docs/checks.md"
    )


def test_every_rule_belongs_to_a_theme() -> None:
    assert examine.NOT_PYTHON.code in RULES
    assert judge.UNUSED.code in RULES
    assert {code for code in RULES if not re.fullmatch(r"TSU\d{3}", code)} == set()
    assert {code[3] for code in RULES} <= report.THEMES.keys()


@pytest.mark.parametrize("code", sorted(RULES))
def test_a_rule_is_found_somewhere_in_the_tests(code: str) -> None:
    tests = "".join(path.read_text() for path in TESTS.glob("test_*.py"))
    assert code in tests


@pytest.mark.parametrize("code", sorted(RULES))
def test_a_rule_fits_the_page(code: str) -> None:
    rule = RULES[code]
    assert "|" not in rule.title + rule.production
    assert "\n" not in rule.title + rule.production
    assert not rule.title.endswith(".")
    assert rule.production.endswith((".", "`", "."))


def test_a_code_is_given_once() -> None:
    with pytest.raises(findings.DuplicateCodeError, match="TSU101"):
        findings.error("TSU101", "Another", "Nothing.")


def test_the_names_of_workers_are_the_sdks() -> None:
    workers = Path(sysconfig.get_path("purelib")) / "workers"
    text = (workers / "__init__.py").read_text()
    listed = re.search(r"__all__ = \[(.*?)\]", text, re.DOTALL)
    assert listed is not None
    assert set(re.findall(r'"(\w+)"', listed[1])) == runtime_modules.WORKERS_NAMES
    modules = {
        path.stem
        for path in workers.iterdir()
        if path.suffix in (".py", "") and not path.stem.startswith("_") and path.stem != "py"
    }
    assert modules == runtime_modules.WORKERS_MODULES
