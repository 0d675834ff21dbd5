"""From a configuration to what reading the code depends on. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsumugi_emulator.check.facts import Settings
from tsumugi_emulator.check.surfaces import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tsumugi_emulator.config.model import WorkerConfig


def settings_of(config: WorkerConfig, *, has_sdk: bool) -> Settings:
    """``has_sdk`` says whether the runtime SDK is in python_modules."""
    return Settings(
        sdk_converts=has_sdk or "enable_python_external_sdk" in config.compatibility.flags,
        python_version=config.compatibility.python_version,
        flags=config.compatibility.flags,
        bindings=dict(_bindings(config)),
    )


def _bindings(config: WorkerConfig) -> Iterator[tuple[str, Kind]]:
    for name, value in config.vars.items():
        yield name, Kind.JSON_VAR if isinstance(value, dict) else Kind.OTHER_BINDING
    for unsupported in config.unsupported:
        yield unsupported.binding, Kind.OTHER_BINDING
    stored = config.resources
    kinds = (
        (config.producers, Kind.QUEUE),
        (config.durable_objects, Kind.NAMESPACE),
        (config.services, Kind.SERVICE),
        (stored.kv_namespaces, Kind.KV),
        (stored.d1_databases, Kind.D1),
        (stored.r2_buckets, Kind.R2),
        (stored.analytics_datasets, Kind.ANALYTICS),
        (stored.rate_limits, Kind.RATE_LIMIT),
    )
    for bindings, kind in kinds:
        for one in bindings:
            yield one.binding, kind
    if stored.version_metadata is not None:
        yield stored.version_metadata, Kind.OTHER_BINDING
    if config.assets is not None and config.assets.binding is not None:
        yield config.assets.binding, Kind.SERVICE
