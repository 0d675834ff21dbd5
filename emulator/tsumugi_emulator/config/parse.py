"""From a parsed document to one Worker's configuration, and every fault in it. Pure.

Sees no file, clock or process environment: paths are computed, never looked at, and "today" is an
argument. The parts live in queues.py, resources.py, bindings.py, variables.py, compatibility.py
and environments.py; this module is the order in which they are asked.
"""

from __future__ import annotations

import os.path
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tsumugi_emulator.config import (
    bindings,
    durable_objects,
    environments,
    fields,
    queues,
    resources,
    services,
    upload,
    variables,
)
from tsumugi_emulator.config.compatibility import read_compatibility
from tsumugi_emulator.config.model import DevSettings, WorkerConfig
from tsumugi_emulator.config.report import Report, quoted

if TYPE_CHECKING:
    from tsumugi_emulator.config.bindings import NamedBinding
    from tsumugi_emulator.config.document import Document
    from tsumugi_emulator.config.environments import Environment
    from tsumugi_emulator.config.model import Resources
    from tsumugi_emulator.config.variables import RequiredSecrets

_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")
_MAX_PORT = 65_535


class Parsed(NamedTuple):
    #: None if the document has errors.
    config: WorkerConfig | None
    report: Report
    required_secrets: RequiredSecrets | None
    bindings: list[NamedBinding]


def parse(document: Document, *, path: Path, environment: str | None, today: str) -> Parsed:
    """Reads the document that stands in ``path``. Reports all faults, not only the first."""
    report = Report(path, document)
    root = document.value
    if not isinstance(root, dict):
        report.error(f"The configuration should be an object but got {quoted(root)}.")
        return Parsed(None, report, None, [])
    for duplicate, offset in document.duplicates:
        report.warning_at(
            f'The key "{duplicate[-1]}" is given twice; the last one counts.',
            document.at_offset(offset),
        )
    _check_fields(root, report)
    chosen = environments.select(root, report, name=environment)
    if chosen.is_section:
        _check_unused_top_level(chosen.top(), report)
        report.section = f'"env.{chosen.name}" environment configuration'
        report.unexpected(
            f"env.{chosen.name}",
            ("env", chosen.name or ""),
            given=root["env"][chosen.name],
            known=fields.ENVIRONMENT,
        )
        environments.check_inheritance(root, chosen, report)
    return _read(root, chosen, report, path=path, today=today)


def _read(
    root: dict[str, Any], chosen: Environment, report: Report, *, path: Path, today: str
) -> Parsed:
    name = _read_name(root, chosen, report, directory=path.parent)
    main = _read_main(chosen, report, path)
    compatibility = read_compatibility(chosen, report, today=today)
    _check_python_flag(chosen, report, main)
    producers, consumers = queues.read_queues(chosen, report, worker=name)
    values = variables.read_vars(chosen, report)
    required = variables.read_required_secrets(chosen, report)
    crons = _read_crons(chosen, report)
    bindings.check_names(named := bindings.find_bindings(chosen), report)
    stored = resources.read_resources(chosen, report, worker=name)
    objects = durable_objects.read_durable_objects(chosen, report, worker=name)
    elsewhere = _read_elsewhere(chosen, report, directory=path.parent)
    unsupported = bindings.unsupported(named, report, emulated=_limited(stored))
    _check_ignored(root, chosen, report, named)
    report.section = None
    dev = _read_dev(root, report)
    if report.has_errors or main is None:
        return Parsed(None, report, required, named)
    config = WorkerConfig(
        path=path,
        name=name,
        main=main,
        environment=chosen.name,
        compatibility=compatibility,
        vars=values,
        secret_names=frozenset(),
        producers=producers,
        consumers=consumers,
        crons=crons,
        resources=stored,
        durable_objects=objects,
        unsupported=unsupported,
        dev=dev,
        watched_files=(),
        **elsewhere,
    )
    return Parsed(config, report, required, named)


def _limited(stored: Resources) -> frozenset[str]:
    """Rate limits are emulated wherever they were configured."""
    return frozenset(limit.binding for limit in stored.rate_limits)


def _read_elsewhere(chosen: Environment, report: Report, *, directory: Path) -> dict[str, Any]:
    """Fields about what is called, and what is served before the Worker."""
    return {
        "object_classes": durable_objects.created_classes(chosen, report),
        "services": services.read_services(chosen, report),
        "assets": services.read_assets(chosen, report, directory=directory),
        "upload": upload.read_upload(chosen, report, directory=directory),
    }


def _check_fields(root: dict[str, Any], report: Report) -> None:
    for field, message in fields.REMOVED.items():
        if field in root:
            report.error_at_key(message, (field,))
    known = fields.TOP_LEVEL | fields.REMOVED.keys()
    report.unexpected("top-level", (), given=root, known=known)
    environments.check_sections(root, report)


def _check_unused_top_level(top: Environment, report: Report) -> None:
    """A chosen environment replaces these blocks, but their errors still stop a deployment."""
    unused = report.fork()
    queues.read_queues(top, unused, worker="")
    resources.read_resources(top, unused, worker="")
    durable_objects.read_durable_objects(top, unused, worker="")
    services.read_services(top, unused)
    variables.read_vars(top, unused)
    # Warnings about a block that is not used would only be noise.
    report.adopt_errors(unused)


def _read_name(
    root: dict[str, Any], chosen: Environment, report: Report, *, directory: Path
) -> str:
    """The Worker's name; without one, the directory's, as a name."""
    for environment in (chosen.top(), chosen) if chosen.is_section else (chosen,):
        field = environment.get("name")
        if field is not None and not is_worker_name(field[0]):
            report.error(
                'Expected "name" to be of type string, alphanumeric and lowercase with dashes '
                f"only but got {quoted(field[0])}.",
                field[1],
            )
            return "worker"
    if own := chosen.own("name"):
        return str(own)
    name = str(root.get("name") or _name_from(directory.name))
    if chosen.name is None:
        return name
    if not is_worker_name(chosen.name):
        report.error(
            f'The environment "{chosen.name}" makes the Worker\'s name "{name}-{chosen.name}", but '
            "names are alphanumeric and lowercase with dashes only. Rename the environment, or "
            'give it a "name" of its own.',
            ("env", chosen.name),
        )
    return f"{name}-{chosen.name}"


def is_worker_name(name: Any) -> bool:
    """Wrangler's rule; the empty name means the same as none."""
    return isinstance(name, str) and not name.startswith("-") and _NAME_CHARACTERS.issuperset(name)


def _name_from(directory_name: str) -> str:
    name = "".join(
        character if character in _NAME_CHARACTERS else "-" for character in directory_name.lower()
    )
    return name.strip("-") or "worker"


def _read_main(chosen: Environment, report: Report, path: Path) -> Path | None:
    field = chosen.get("main")
    if field is None or field[0] == "":
        report.error(
            "Missing entry-point to Worker script or to assets directory.\n"
            'Add the path of the Python file with your Worker: "main": "src/entry.py"'
        )
        return None
    main, at = field
    if not isinstance(main, str):
        report.error(f'Expected "main" to be of type string but got {quoted(main)}.', at)
        return None
    if not main.endswith(".py"):
        report.error(
            f'"main" is {quoted(main)}, but only Python Workers run here. Point it at a .py file.',
            at,
        )
        return None
    return Path(os.path.normpath(path.parent / main))


def _check_python_flag(chosen: Environment, report: Report, main: Path | None) -> None:
    field = chosen.get("compatibility_flags")
    flags = field[0] if field is not None else []
    if main is not None and isinstance(flags, list) and "python_workers" not in flags:
        report.warning(
            "The `python_workers` compatibility flag is required to use Python. The Worker runs "
            "here without it, but cannot be deployed.\n"
            'Add it to the configuration: "compatibility_flags": ["python_workers"]',
            field[1] if field is not None else (),
            code="TSU602",
        )


def _check_ignored(
    root: dict[str, Any], chosen: Environment, report: Report, named: list[NamedBinding]
) -> None:
    """What puzzles people when nothing happens: remote bindings, older static files, a build."""
    bindings.check_remote(named, report)
    build = chosen.get("build")
    if build is not None and isinstance(build[0], dict) and build[0].get("command"):
        report.warning('"build.command" is ignored: run it yourself before.', build[1])
    if root.get("site") is not None:
        report.warning_at_key(
            '"site" is ignored: Workers Sites are not served here. Use "assets" instead.', ("site",)
        )


def _read_crons(chosen: Environment, report: Report) -> tuple[str, ...]:
    field = chosen.get("triggers")
    if field is None:
        return ()
    triggers, at = field
    if not isinstance(triggers, dict):
        report.error(f'Expected "triggers" to be of type object but got {quoted(triggers)}.', at)
        return ()
    report.unexpected("triggers", at, given=triggers, known=("crons", "events"))
    crons = triggers.get("crons", [])
    if not isinstance(crons, list):
        report.error(
            f'Expected "triggers.crons" to be of type array, but got {quoted(triggers)}.',
            (*at, "crons"),
        )
        return ()
    for index, cron in enumerate(crons):
        if not isinstance(cron, str):
            report.error(
                f'Expected "triggers.crons[{index}]" to be of type string but got {quoted(cron)}.',
                (*at, "crons", index),
            )
            continue
        if fault := _cron_fault(cron):
            report.error(f'"triggers.crons[{index}]": {fault}.', (*at, "crons", index))
    return tuple(str(cron) for cron in crons)


def _cron_fault(text: str) -> str | None:
    # Imported by those who have crons: a start without them stays as quick.
    from tsumugi_emulator.cron.expression import CronError, parse

    try:
        parse(text)
    except CronError as error:
        return str(error)
    return None


def _read_dev(root: dict[str, Any], report: Report) -> DevSettings:
    dev = root.get("dev", {})
    if not isinstance(dev, dict):
        report.error(f'The field "dev" should be an object but got {quoted(dev)}.', ("dev",))
        return DevSettings()
    report.unexpected("dev", ("dev",), given=dev, known=fields.DEV)
    ip, port = dev.get("ip"), dev.get("port")
    if "ip" in dev and not isinstance(ip, str):
        report.error(f'Expected "dev.ip" to be of type string but got {quoted(ip)}.', ("dev", "ip"))
        ip = None
    if "port" in dev and (not isinstance(port, int) or isinstance(port, bool)):
        report.error(
            f'Expected "dev.port" to be of type number but got {quoted(port)}.', ("dev", "port")
        )
        port = None
    elif port is not None and not 0 <= port <= _MAX_PORT:
        report.error(
            f'"dev.port" has an invalid value {port}. Must be between 0 and {_MAX_PORT}.',
            ("dev", "port"),
        )
    return DevSettings(ip=ip, port=port)
