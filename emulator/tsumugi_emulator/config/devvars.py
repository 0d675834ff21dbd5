"""Choose and read the files with local secrets: .dev.vars or else .env. Merges nothing else.

Wrangler's rules: .dev.vars.<environment> replaces .dev.vars; only if neither exists are .env files
read, each overriding the one before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tsumugi_emulator.config.diagnostics import Diagnostic, Severity
from tsumugi_emulator.config.files import is_file, read_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path


class DevVars(NamedTuple):
    values: Mapping[str, str]
    #: The files that were read, weakest first.
    read: tuple[Path, ...]
    #: Every file whose appearance or change would change the values.
    candidates: tuple[Path, ...]
    diagnostics: tuple[Diagnostic, ...]


NO_DEV_VARS: Final = DevVars({}, (), (), ())


def read_dev_vars(
    directory: Path,
    *,
    environment: str | None,
    environ: Mapping[str, str],
    env_files: Sequence[Path] = (),
) -> DevVars:
    """The variables for ``directory``, which is that of the configuration file.

    ``env_files`` are the ``--env-file`` options: they replace the usual .env files, and no
    .dev.vars is read.
    """
    secret = [] if env_files else _dev_vars_paths(directory, environment)
    dotenv = [directory / file for file in env_files] or _dotenv_paths(directory, environment)
    if environ.get("CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV", "").lower() == "false":
        dotenv = []
    candidates = (*secret, *dotenv)
    chosen = next((path for path in secret if is_file(path)), None)
    if chosen is not None:
        values, diagnostics = _read([chosen])
        return DevVars(
            values=values, read=(chosen,), candidates=candidates, diagnostics=tuple(diagnostics)
        )
    existing = [path for path in dotenv if is_file(path)]
    raw, diagnostics = _read(existing)
    missing = [path for path in dotenv if env_files and path not in existing]
    diagnostics += (_missing(path) for path in missing)
    include_process = environ.get("CLOUDFLARE_INCLUDE_PROCESS_ENV", "").lower() == "true"
    process = environ if dotenv and include_process else {}
    return DevVars(
        values=_expanded(raw, process),
        read=tuple(existing),
        candidates=candidates,
        diagnostics=tuple(diagnostics),
    )


def _dev_vars_paths(directory: Path, environment: str | None) -> list[Path]:
    """Strongest first."""
    names = [".dev.vars"]
    if _is_file_name_part(environment):
        names.insert(0, f".dev.vars.{environment}")
    return [directory / name for name in names]


def _dotenv_paths(directory: Path, environment: str | None) -> list[Path]:
    """Weakest first."""
    names = [".env", ".env.local"]
    if _is_file_name_part(environment):
        names += [f".env.{environment}", f".env.{environment}.local"]
    return [directory / name for name in names]


def _is_file_name_part(environment: str | None) -> bool:
    """Whether the environment's name stays a name in a path, and does not leave the directory."""
    return bool(environment) and not any(mark in (environment or "") for mark in "/\\\0")


def _read(paths: Iterable[Path]) -> tuple[dict[str, str], list[Diagnostic]]:
    values: dict[str, str] = {}
    diagnostics: list[Diagnostic] = []
    for path in paths:
        text = read_text(path)
        if isinstance(text, Diagnostic):
            diagnostics.append(text)
            continue
        # Most projects have none of these files, and their start need not pay for the reader.
        from tsumugi_emulator.config.dotenv import parse_dotenv

        file = parse_dotenv(text)
        values.update(file.values)
        diagnostics += (
            Diagnostic(
                severity=Severity.WARNING,
                message="This line is ignored: it is not of the form KEY=value.",
                path=path,
                line=line,
                column=1,
            )
            for line in file.ignored_lines
        )
    return values, diagnostics


def _expanded(values: Mapping[str, str], process: Mapping[str, str]) -> Mapping[str, str]:
    """The values with their references replaced, and the process's own, which win."""
    if not values:
        return process
    from tsumugi_emulator.config.dotenv import expand  # as in _read

    return {**expand(values, environ=process), **process}


def _missing(path: Path) -> Diagnostic:
    return Diagnostic(
        severity=Severity.WARNING,
        message="There is no such file, so --env-file adds no variables.",
        path=path,
    )
