from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tsumugi_emulator.config import queues

if TYPE_CHECKING:
    from conftest import Project

EXAMPLE = Path(__file__).parents[3] / "wrangler.jsonc.example"


@pytest.mark.parametrize("environment", [None, "staging"])
def test_the_example_loads_without_a_word(project: Project, environment: str | None) -> None:
    project.write("wrangler.jsonc", EXAMPLE.read_text(encoding="utf-8"))
    project.write(".dev.vars", "API_TOKEN=x")
    project.write("public/index.html", "")
    assert project.load(environment=environment).diagnostics == ()


def test_the_example_states_every_consumer_range_and_default() -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    for field, lowest, highest, _ in queues.CONSUMER_NUMBERS:
        before, _, _ = text.partition(f'"{field}"')
        assert f"{lowest} to {highest}" in before.rsplit("\n        //", 1)[1]
