"""The command's first lines: `tsumugi dev` starts its child before anything slow is imported."""

from __future__ import annotations

import sys


def main() -> None:
    try:
        _main(sys.argv[1:])
    except KeyboardInterrupt:  # before anything was up that would have to be stopped
        sys.exit(130)


def _main(arguments: list[str]) -> None:
    early = None
    if arguments[:1] == ["dev"] and not {"-h", "--help"}.intersection(arguments):
        from tsumugi_emulator.worker.spawn import start

        # It loads the boundary on the other core while this process reads the configuration; if
        # there is nothing to run, it ends with this process.
        early = start()
    from tsumugi_emulator.cli.commands import cli

    cli(prog_name="tsumugi", obj=early)
