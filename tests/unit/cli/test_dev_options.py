"""What ``tsumugi dev`` makes of its options before it starts anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import tsumugi_emulator.cli.dev as dev
from click.testing import CliRunner
from tsumugi_emulator.cli.commands import cli
from tsumugi_emulator.cli.dev_options import DevOptions, read_configuration

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = '{"name": "w", "main": "entry.py", "compatibility_date": "2026-11-01"}'


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[DevOptions]:
    """The options of each ``tsumugi dev``, which runs nothing."""
    found: list[DevOptions] = []
    monkeypatch.setattr(dev, "run", lambda options, _early: found.append(options) or 0)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "entry.py").touch()
    (tmp_path / "wrangler.json").write_text(CONFIG)
    return found


def test_an_env_file_takes_the_place_of_dev_vars(asked: list[DevOptions], tmp_path: Path) -> None:
    (tmp_path / ".dev.vars").write_text("WHERE=dev.vars\nKEPT=no")
    (tmp_path / "one.env").write_text("WHERE=one\nONE=1")
    (tmp_path / "two.env").write_text("WHERE=two")
    CliRunner().invoke(cli, ["dev", "--env-file", "one.env", "--env-file", "two.env"])
    config = read_configuration(asked[0], None).config
    assert config is not None
    assert config.vars == {"WHERE": "two", "ONE": "1"}


def test_without_an_env_file_the_usual_ones_are_read(
    asked: list[DevOptions], tmp_path: Path
) -> None:
    (tmp_path / ".dev.vars").write_text("WHERE=dev.vars")
    CliRunner().invoke(cli, ["dev"])
    config = read_configuration(asked[0], None).config
    assert config is not None
    assert config.vars == {"WHERE": "dev.vars"}
