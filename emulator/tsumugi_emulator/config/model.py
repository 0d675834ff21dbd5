"""What one Worker's configuration means once read. Values only: no files, no defaults by clock.

Two equal configurations compare equal, which is how a reload knows that nothing changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

type JsonValue = bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueProducer:
    """A binding that sends to a queue."""

    binding: str
    queue: str
    #: None means "not configured"; 0 is a configured delay of zero.
    delivery_delay_s: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueConsumer:
    """What the Worker wants delivered from a queue; the defaults are the platform's."""

    queue: str
    max_batch_size: int = 10
    max_batch_timeout_s: float = 5
    max_retries: int = 3
    dead_letter_queue: str | None = None
    #: None lets the broker choose, as the platform does.
    max_concurrency: int | None = None
    retry_delay_s: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KvNamespace:
    binding: str
    #: Names the local file.
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class D1Database:
    binding: str
    #: What `tsumugi d1` calls it, besides its binding.
    name: str
    #: Names the local file.
    id: str
    #: Relative to the configuration file.
    migrations_dir: str = "migrations"
    migrations_table: str = "d1_migrations"


@dataclass(frozen=True, slots=True, kw_only=True)
class R2Bucket:
    binding: str
    bucket: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalyticsDataset:
    binding: str
    dataset: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit:
    """At most ``limit`` calls for each key within ``period_s``."""

    binding: str
    namespace_id: str
    limit: int
    period_s: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """Bindings to what is stored or counted, besides queues."""

    kv_namespaces: tuple[KvNamespace, ...] = ()
    d1_databases: tuple[D1Database, ...] = ()
    r2_buckets: tuple[R2Bucket, ...] = ()
    analytics_datasets: tuple[AnalyticsDataset, ...] = ()
    rate_limits: tuple[RateLimit, ...] = ()
    #: The binding with the version's id, if there is one.
    version_metadata: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DurableObjectBinding:
    """A namespace of Durable Objects."""

    binding: str
    class_name: str
    #: The Worker that has the class, if it is another one.
    script: str | None = None
    #: What the class was called when it was created: its objects are filed under that.
    first_class_name: str
    has_sql: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class DurableObjectClass:
    """A class that a migration has created here, whether or not it is bound."""

    name: str
    first_name: str
    has_sql: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceBinding:
    """A binding to an entrypoint of a Worker, perhaps this one."""

    binding: str
    service: str
    #: None is the default entrypoint.
    entrypoint: str | None = None
    #: ``ctx.props`` of the callee.
    props: Mapping[str, JsonValue] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Assets:
    """Static files in front of the Worker."""

    directory: Path
    binding: str | None = None
    html_handling: str = "auto-trailing-slash"
    not_found_handling: str = "none"
    #: True, or patterns of paths (``/api/*``, ``!/api/docs/*``).
    run_worker_first: bool | tuple[str, ...] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadRule:
    """Files that match one of the globs are uploaded as this type."""

    #: Wrangler's name: "Text", "Data", "PythonModule" and others.
    type: str
    globs: tuple[str, ...]
    #: Whether later rules of the same type count, too.
    fallthrough: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """Which files deploying uploads besides ``main`` and the Python files around it."""

    rules: tuple[UploadRule, ...] = ()
    #: Globs within ``python_modules``.
    excluded: tuple[str, ...] = ("**/*.pyc",)
    #: Where module names start; None is the folder of ``main``.
    base_dir: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsupportedBinding:
    """A binding that is configured and raises when it is used."""

    #: Wrangler's name for the type, such as "KV Namespace".
    kind: str
    binding: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DevSettings:
    """Where to listen, if the configuration says so."""

    ip: str | None = None
    port: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compatibility:
    """Which of the runtime's behaviours apply."""

    date: str
    #: Every enabled flag: by date, by implication and by name, less the disabled ones.
    flags: frozenset[str]
    #: "3.12", "3.13" or "3.14"
    python_version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerConfig:
    """One Worker in one environment, free of errors."""

    #: The configuration file; relative paths in it start from its directory.
    path: Path
    name: str
    main: Path
    environment: str | None
    compatibility: Compatibility
    vars: Mapping[str, JsonValue]
    #: Names in ``vars`` whose values must not be printed.
    secret_names: frozenset[str]
    producers: tuple[QueueProducer, ...]
    consumers: tuple[QueueConsumer, ...]
    crons: tuple[str, ...]
    resources: Resources
    unsupported: tuple[UnsupportedBinding, ...]
    durable_objects: tuple[DurableObjectBinding, ...] = ()
    object_classes: tuple[DurableObjectClass, ...] = ()
    services: tuple[ServiceBinding, ...] = ()
    assets: Assets | None = None
    upload: Upload = Upload()
    dev: DevSettings
    #: Files whose change or appearance changes this configuration.
    watched_files: tuple[Path, ...]
