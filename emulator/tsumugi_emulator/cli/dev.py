"""``tsumugi dev``: read the configuration, start the child at once, then everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.cli.configuration import show_diagnostics, show_loaded
from tsumugi_emulator.cli.dev_options import RuntimeMissingError, read_configuration, runtime_finder
from tsumugi_emulator.cli.terminal import Terminal
from tsumugi_emulator.worker.spawn import Spawned, Started, WarmOptions, configure, start

if TYPE_CHECKING:
    from tsumugi_emulator.cli.dev_options import DevOptions
    from tsumugi_emulator.config.model import WorkerConfig


def run(options: DevOptions, early: Started | None = None) -> int:
    """Run until told to stop; the process's exit code. ``early`` becomes the first Worker."""
    terminal = Terminal(options.log_level)
    if fault := faulty_variable(options.variables):
        terminal.log("error", fault)
        return 1
    configs = read_all(options, terminal)
    if configs is None:
        return 1
    try:
        warm = [warm_options(config, options) for config in configs]
    except RuntimeMissingError as error:
        terminal.log("error", str(error))
        return 1
    children = [early or start(), *(start() for _ in configs[1:])]
    spawned = [configure(child, what) for child, what in zip(children, warm, strict=True)]
    return _serve(options, configs, spawned, terminal)


def read_all(options: DevOptions, terminal: Terminal) -> list[WorkerConfig] | None:
    """Every Worker's configuration, or None when there is an error in any, after showing all."""
    found = [read_configuration(options, path) for path in options.configs or (None,)]
    for loaded in found:
        show_loaded(loaded, terminal)
    configs = [loaded.config for loaded in found if loaded.config is not None]
    if len(configs) < len(found):
        return None
    if len(configs) > 1 or any(c.services or c.durable_objects for c in configs):
        from tsumugi_emulator.config.together import check_together, missing_workers

        if clashes := check_together(configs):
            show_diagnostics(clashes, terminal)
            return None
        if missing := missing_workers(configs):
            show_diagnostics(missing, terminal)
    return configs


def faulty_variable(variables: tuple[str, ...]) -> str | None:
    """What is wrong with the first ``--var`` that is not KEY:VALUE."""
    for variable in variables:
        name, colon, _ = variable.partition(":")
        if not name or not colon:
            return f'--var {variable}: not of the form KEY:VALUE. Write --var "NAME:value".'
    return None


def warm_options(config: WorkerConfig, options: DevOptions) -> WarmOptions:
    """What a child for ``config`` needs to know before it is told the rest.

    Raises:
        RuntimeMissingError: there is no Pyodide for it.
    """
    found = runtime_finder(options)(config)
    compatibility = config.compatibility
    return WarmOptions(compatibility.python_version, compatibility.flags, options.strict, found)


def _serve(
    options: DevOptions, configs: list[WorkerConfig], spawned: list[Spawned], terminal: Terminal
) -> int:
    # Imported while the child loads the SDK on the other core.
    from tsumugi_emulator.cli.session import Session

    return _run_loop(Session(options, configs, spawned, terminal).run())


def _run_loop(main: Any) -> int:
    try:
        import uvloop
    except ImportError:  # Windows has none
        import asyncio

        result: int = asyncio.run(main)
        return result
    code: int = uvloop.run(main)
    return code
