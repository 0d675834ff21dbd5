"""What ``--help`` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner
from tsumugi_emulator.cli.commands import cli

if TYPE_CHECKING:
    from collections.abc import Iterator


def groups(group: click.Group, *names: str) -> Iterator[tuple[str, ...]]:
    """The words that lead to each group of commands, from the whole on."""
    yield names
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from groups(command, *names, name)


@pytest.mark.parametrize("names", [*groups(cli)], ids=" ".join)
def test_every_command_is_summed_up_in_a_line_that_is_not_cut_off(names: tuple[str, ...]) -> None:
    _, commands = CliRunner().invoke(cli, [*names, "--help"]).output.split("Commands:\n")
    lines = commands.splitlines()
    assert [line for line in lines if line.endswith("...")] == []
    assert [line for line in lines if len(line.split()) < 2] == []
