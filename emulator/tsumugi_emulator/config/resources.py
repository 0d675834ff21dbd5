"""Reads the blocks of KV, D1, R2, Analytics Engine, rate limits and version metadata.

Pure: reports faults, in wrangler's words where it has some, and returns values.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.config.model import (
    AnalyticsDataset,
    D1Database,
    KvNamespace,
    R2Bucket,
    RateLimit,
    Resources,
)
from tsumugi_emulator.config.report import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tsumugi_emulator.config.document import ValuePath
    from tsumugi_emulator.config.environments import Environment
    from tsumugi_emulator.config.report import Report

_KV_FIELDS = frozenset({"binding", "id", "preview_id", "remote"})
_D1_FIELDS = frozenset(
    {
        "binding", "database_id", "database_internal_env", "database_name", "migrations_dir",
        "migrations_table", "preview_database_id", "remote",
    }
)  # fmt: skip
_R2_FIELDS = frozenset({"binding", "bucket_name", "jurisdiction", "preview_bucket_name", "remote"})
_ANALYTICS_FIELDS = frozenset({"binding", "dataset"})
_RATE_LIMIT_FIELDS = frozenset({"name", "namespace_id", "simple", "type"})
_BUCKET_NAME = re.compile(r"[a-z0-9][a-z0-9-]{1,61}[a-z0-9]")
_BUCKET_NAMES = (
    "Bucket names must begin and end with an alphanumeric character, only contain lowercase "
    "letters, numbers, and hyphens, and be between 3 and 63 characters long."
)
#: Seconds over which the platform counts.
RATE_LIMIT_PERIODS_S = (10, 60)


def read_resources(environment: Environment, report: Report, *, worker: str) -> Resources:
    """The resources of one environment; entries with faults are left out.

    ``worker`` names what a binding leaves unnamed, as deploying it would.
    """

    def entries[T](field: str, read: Callable[[_Entry, str], T | None]) -> tuple[T, ...]:
        found = (read(entry, worker) for entry in _entries(environment, field, report))
        return tuple(item for item in found if item is not None)

    return Resources(
        kv_namespaces=entries("kv_namespaces", _read_kv),
        d1_databases=entries("d1_databases", _read_d1),
        r2_buckets=entries("r2_buckets", _read_r2),
        analytics_datasets=entries("analytics_engine_datasets", _read_analytics),
        rate_limits=(*entries("ratelimits", _read_rate_limit), *_unsafe(environment, report)),
        version_metadata=_read_version_metadata(environment, report),
    )


class _Entry:
    """One entry of a block: its value, how messages name it, and its checks."""

    __slots__ = ("at", "failed", "label", "report", "value")

    def __init__(self, value: dict[str, Any], label: str, at: ValuePath, report: Report) -> None:
        self.value = value
        self.label = label
        self.at = at
        self.report = report
        self.failed = False

    def error(self, message: str, *key: str) -> None:
        self.failed = True
        self.report.error(f'"{self.label}" bindings {message}.', (*self.at, *key))

    def required(self, key: str, verb: str = "should") -> str:
        text = self.value.get(key)
        if isinstance(text, str) and text:
            return text
        self.error(f'{verb} have a string "{key}" field but got {quoted(self.value)}', key)
        return ""

    def optional(self, key: str) -> str | None:
        text = self.value.get(key)
        if key in self.value and not (isinstance(text, str) and text):
            self.error(
                f'should, optionally, have a string "{key}" field but got {quoted(self.value)}', key
            )
            return None
        return text

    def known(self, fields: Iterable[str]) -> None:
        self.report.unexpected(self.label, self.at, given=self.value, known=fields)


def _entries(environment: Environment, field: str, report: Report) -> list[_Entry]:
    found = environment.get(field)
    if found is None:
        return []
    block, at = found
    label = environment.label(field)
    if not isinstance(block, list):
        report.error(f'The field "{label}" should be an array but got {quoted(block)}.', at)
        return []
    return _objects(block, field, label, at, report)


def _objects(
    block: list[Any], field: str, label: str, at: ValuePath, report: Report
) -> list[_Entry]:
    found = []
    for index, value in enumerate(block):
        place = (*at, index)
        if isinstance(value, dict):
            found.append(_Entry(value, f"{label}[{index}]", place, report))
        else:
            report.error(f'"{field}" bindings should be objects, but got {quoted(value)}', place)
    return found


def _resource_name(worker: str, binding: str) -> str:
    return f"{worker}-{binding.lower().replace('_', '-')}"


def _read_kv(entry: _Entry, worker: str) -> KvNamespace | None:
    binding = entry.required("binding")
    identity, preview = entry.optional("id"), entry.optional("preview_id")
    entry.known(_KV_FIELDS)
    if entry.failed:
        return None
    return KvNamespace(binding=binding, id=preview or identity or _resource_name(worker, binding))


def _read_d1(entry: _Entry, worker: str) -> D1Database | None:
    binding = entry.required("binding")
    identity, preview = entry.optional("database_id"), entry.optional("preview_database_id")
    name = entry.optional("database_name")
    directory, table = entry.optional("migrations_dir"), entry.optional("migrations_table")
    entry.known(_D1_FIELDS)
    if entry.failed:
        return None
    unnamed = _resource_name(worker, binding)
    defaults = D1Database(binding=binding, name=name or unnamed, id="")
    return D1Database(
        binding=binding,
        name=defaults.name,
        id=preview or identity or defaults.name,
        migrations_dir=directory or defaults.migrations_dir,
        migrations_table=table or defaults.migrations_table,
    )


def _read_r2(entry: _Entry, worker: str) -> R2Bucket | None:
    binding = entry.required("binding")
    bucket, preview = entry.optional("bucket_name"), entry.optional("preview_bucket_name")
    entry.known(_R2_FIELDS)
    for field, name in (("bucket_name", bucket), ("preview_bucket_name", preview)):
        if name is not None and not _BUCKET_NAME.fullmatch(name):
            entry.failed = True
            fault = f"{entry.label}.{field}={quoted(name)} is invalid. {_BUCKET_NAMES}"
            entry.report.error(fault, (*entry.at, field))
    if entry.failed:
        return None
    return R2Bucket(binding=binding, bucket=preview or bucket or _resource_name(worker, binding))


def _read_analytics(entry: _Entry, _worker: str) -> AnalyticsDataset | None:
    binding, dataset = entry.required("binding"), entry.optional("dataset")
    entry.known(_ANALYTICS_FIELDS)
    return None if entry.failed else AnalyticsDataset(binding=binding, dataset=dataset or binding)


def _read_rate_limit(entry: _Entry, _worker: str = "") -> RateLimit | None:
    binding = entry.required("name", "must")
    namespace = entry.required("namespace_id", "must")
    entry.known(_RATE_LIMIT_FIELDS)
    simple = entry.value.get("simple")
    if not isinstance(simple, dict):
        entry.error(f'must have a "simple" configuration object but got {quoted(entry.value)}')
        return None
    limit, period_s = simple.get("limit"), simple.get("period")
    if not _is_number(limit):
        entry.error(f'"simple.limit" must be a number but got {quoted(simple)}', "simple")
    if not _is_number(period_s):
        entry.error(
            f'"simple.period" is required and must be a number but got {quoted(simple)}', "simple"
        )
    elif period_s not in RATE_LIMIT_PERIODS_S:
        entry.error(f'"simple.period" must be either 10 or 60 but got {quoted(period_s)}', "simple")
    if entry.failed or limit is None or period_s is None:
        return None
    return RateLimit(
        binding=binding, namespace_id=namespace, limit=int(limit), period_s=int(period_s)
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _unsafe(environment: Environment, report: Report) -> tuple[RateLimit, ...]:
    """Rate limits in their older place; what else is unsafe is not emulated."""
    found = environment.get("unsafe")
    listed = found[0].get("bindings") if found is not None and isinstance(found[0], dict) else None
    if found is None or not isinstance(listed, list):
        return ()
    at = (*found[1], "bindings")
    label = f"{environment.label('unsafe')}.bindings"
    entries = [
        _Entry(value, f"{label}[{index}]", (*at, index), report)
        for index, value in enumerate(listed)
        if isinstance(value, dict) and value.get("type") == "ratelimit"
    ]
    limits = (_read_rate_limit(entry) for entry in entries)
    return tuple(limit for limit in limits if limit is not None)


def _read_version_metadata(environment: Environment, report: Report) -> str | None:
    found = environment.get("version_metadata")
    if found is None:
        return None
    block, at = found
    label = environment.label("version_metadata")
    binding = block.get("binding") if isinstance(block, dict) else None
    if not isinstance(binding, str) or not binding:
        report.error(
            f'"{label}" bindings should have a string "binding" field but got {quoted(block)}.', at
        )
        return None
    return binding
