"""Find and read the configuration of one Worker. Decides nothing about its meaning: parse.py does.

A user's mistake, including a file that is missing, is a diagnostic and never an exception.
"""

from __future__ import annotations

import os.path
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tsumugi_emulator.config import variables
from tsumugi_emulator.config.devvars import NO_DEV_VARS, DevVars, read_dev_vars
from tsumugi_emulator.config.diagnostics import Diagnostic, Severity, has_errors
from tsumugi_emulator.config.document import TextError
from tsumugi_emulator.config.files import is_file, read_text
from tsumugi_emulator.config.parse import Parsed, parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tsumugi_emulator.config.document import Document
    from tsumugi_emulator.config.model import Assets, WorkerConfig

#: In wrangler's order. Each is looked for all the way up before the next one.
CONFIG_NAMES = ("wrangler.json", "wrangler.jsonc", "wrangler.toml")
#: In the directory of assets: they say how these are served.
RULE_FILES = ("_headers", "_redirects")


class Loaded(NamedTuple):
    #: None if there is any error.
    config: WorkerConfig | None
    diagnostics: tuple[Diagnostic, ...]
    #: What to watch in order to load again, also when there are errors.
    watched_files: tuple[Path, ...] = ()
    #: The files variables were read from, to be told at start.
    dev_vars_files: tuple[Path, ...] = ()


def load(
    *,
    config_path: Path | None,
    environment: str | None,
    cwd: Path,
    environ: Mapping[str, str],
    today: str,
    vars: Mapping[str, str] | None = None,  # noqa: A002 - named after the option and the field
    env_files: Sequence[Path] = (),
    local_values: bool = True,
) -> Loaded:
    """The configuration as wrangler would see it from ``cwd``, or everything that is wrong with it.

    ``today`` is the date (YYYY-MM-DD) that stands in for a missing compatibility date. ``vars``
    are ``--var`` options and ``env_files`` are ``--env-file`` options. Without ``local_values``
    it is the configuration that is deployed: .dev.vars, .env and the environment do not count.
    """
    cwd = cwd.absolute()
    found = config_path if config_path is not None else find_config(cwd)
    if found is None:
        return _nothing_found(cwd)
    path = Path(os.path.normpath(cwd / found))
    document = _read_document(path)
    if isinstance(document, Diagnostic):
        return Loaded(config=None, diagnostics=(document,), watched_files=(path,))
    # An empty --env chooses the top level even when CLOUDFLARE_ENV is set.
    name = environ.get("CLOUDFLARE_ENV") if environment is None else environment
    parsed = parse(document, path=path, environment=name or None, today=today)
    dev_vars = (
        read_dev_vars(path.parent, environment=name, environ=environ, env_files=env_files)
        if local_values
        else None
    )
    outside = _Outside(dev_vars=dev_vars, options=vars or {}, environ=environ)
    return _completed(path, parsed, outside)


def find_config(cwd: Path) -> Path | None:
    """The first file wrangler would choose, walking up from ``cwd``."""
    directories = (cwd, *cwd.parents)
    for name in CONFIG_NAMES:
        for directory in directories:
            candidate = directory / name
            if is_file(candidate):
                return candidate
    return None


class _Outside(NamedTuple):
    """What comes from outside the configuration file."""

    #: None: only what the configuration says counts.
    dev_vars: DevVars | None
    options: Mapping[str, str]
    environ: Mapping[str, str]


def _completed(path: Path, parsed: Parsed, outside: _Outside) -> Loaded:
    report, config = parsed.report, parsed.config
    dev_vars = outside.dev_vars or NO_DEV_VARS
    diagnostics = [*report.diagnostics, *dev_vars.diagnostics]
    watched = (path, *dev_vars.candidates)
    if config is not None and config.assets is not None:
        # They are obeyed at once; reading them again here tells what is wrong with them.
        watched += tuple(config.assets.directory / name for name in RULE_FILES)
    if config is not None and outside.dev_vars is None:
        diagnostics += [*_main_faults(config), *_assets_faults(config)]
    elif config is not None:
        merged = variables.merge(
            config.vars,
            from_files=dev_vars.values,
            from_options=outside.options,
            environ=outside.environ,
            required=parsed.required_secrets,
        )
        already = len(report.diagnostics)
        variables.report_missing_secrets(merged, parsed.required_secrets, report)
        diagnostics += report.diagnostics[already:]
        diagnostics += _clashes(parsed, merged, dev_vars)
        diagnostics += _main_faults(config)
        diagnostics += _assets_faults(config)
        config = replace(
            config,
            vars=merged.values,
            secret_names=merged.secret_names,
            watched_files=watched,
        )
    return Loaded(
        config=None if has_errors(diagnostics) else config,
        diagnostics=tuple(diagnostics),
        watched_files=watched,
        dev_vars_files=dev_vars.read,
    )


def _nothing_found(cwd: Path) -> Loaded:
    message = (
        f"Could not find a configuration file in {cwd} or above it.\n"
        "Create wrangler.jsonc, wrangler.json or wrangler.toml there (`tsumugi init` does), or "
        "name one with --config."
    )
    fault = Diagnostic(severity=Severity.ERROR, message=message)
    candidates = tuple(cwd / name for name in CONFIG_NAMES)
    return Loaded(config=None, diagnostics=(fault,), watched_files=candidates)


def _read_document(path: Path) -> Document | Diagnostic:
    if path.suffix not in (".json", ".jsonc", ".toml"):
        message = "A configuration file is named *.json, *.jsonc or *.toml."
        return Diagnostic(severity=Severity.ERROR, message=message, path=path)
    text = read_text(path)
    if isinstance(text, Diagnostic):
        return text
    try:
        # A start pays only for the reader it needs.
        if path.suffix == ".toml":
            from tsumugi_emulator.config.toml import parse_toml

            return parse_toml(text)
        from tsumugi_emulator.config.jsonc import parse_jsonc

        return parse_jsonc(text)
    except TextError as exc:
        return Diagnostic(
            severity=Severity.ERROR,
            message=exc.message,
            path=path,
            line=exc.line,
            column=exc.column,
        )


def _clashes(
    parsed: Parsed, merged: variables.Variables, dev_vars: DevVars
) -> Iterator[Diagnostic]:
    """Variables from outside the configuration that take the name of a binding in it."""
    kinds = {named.name: named.label for named in parsed.bindings if named.field != "vars"}
    for name in sorted(merged.secret_names & kinds.keys()):
        yield Diagnostic(
            severity=Severity.ERROR,
            message=(
                f"{name} assigned to Environment Variable and {kinds[name]} bindings. Rename the "
                "variable, or the binding in the configuration."
            ),
            path=dev_vars.read[-1] if name in dev_vars.values and dev_vars.read else None,
        )


def _main_faults(config: WorkerConfig) -> Iterator[Diagnostic]:
    if is_file(config.main):
        return
    shown = os.path.relpath(config.main, config.path.parent)
    if config.main.is_dir():
        message = (
            f'The provided entry-point path, "{shown}", points to a directory, rather than a file.'
        )
    else:
        message = f'The entry-point file at "{shown}" was not found.'
    yield Diagnostic(
        severity=Severity.ERROR,
        message=f'{message}\nCreate it, or change "main".',
        path=config.path,
    )


def _assets_faults(config: WorkerConfig) -> Iterator[Diagnostic]:
    if config.assets is None:
        return
    if config.assets.directory.is_dir():
        yield from _rule_faults(config.assets)
        yield from _size_faults(config.assets)
        return
    yield Diagnostic(
        severity=Severity.ERROR,
        message=(
            'The directory specified by the "assets.directory" field in your configuration file '
            f"does not exist:\n{config.assets.directory}\nCreate it, or change the field."
        ),
        path=config.path,
    )


def _rule_faults(assets: Assets) -> Iterator[Diagnostic]:
    """Lines of ``_headers`` and ``_redirects`` that are not obeyed, here or deployed."""
    if not any(is_file(assets.directory / name) for name in RULE_FILES):
        return
    from tsumugi_emulator.assets.rule_files import RuleFiles

    for path, fault in RuleFiles(assets.directory, html_handling=assets.html_handling).faults():
        yield Diagnostic(
            severity=Severity.WARNING,
            message=f"{fault.message}\n{fault.text}" if fault.text else fault.message,
            path=path,
            line=fault.line_number,
        )


def _size_faults(assets: Assets) -> Iterator[Diagnostic]:
    from tsumugi_emulator.assets.files import AssetFiles

    for path, size in AssetFiles(assets.directory).too_large():
        yield Diagnostic(
            severity=Severity.ERROR,
            message=(
                "Asset too large.\nCloudflare Workers supports assets with sizes of up to 25 MiB, "
                f"and this file has {size / 1024**2:.1f} MiB. If it is no asset, name it in "
                '".assetsignore".'
            ),
            path=path,
        )
