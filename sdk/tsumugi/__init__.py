"""Queues and jobs for Cloudflare Python Workers. Runs deployed and under ``tsumugi dev``.

Importing it reads no clock, no chance and no environment, and needs no Workers runtime. The jobs
half (``Tsumugi``, ``Performer`` and what belongs to them) is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

from tsumugi._version import __version__
from tsumugi.backoff import MAX_DELAY_S, Backoff, exponential_backoff
from tsumugi.queues import (
    ContentType,
    Message,
    MessageBatch,
    MessageSendRequest,
    MetricsMetadata,
    Queue,
    QueueMetrics,
    SendResult,
)
from tsumugi.routes import RouteError, UnknownQueue, consumes
from tsumugi.settlement import Reject, Retry

if TYPE_CHECKING:
    from tsumugi.consumer import QueueConsumer
    from tsumugi.jobs.api.access import cloudflare_access
    from tsumugi.jobs.api.auth import bearer_auth
    from tsumugi.jobs.api.services import MetricsAccess
    from tsumugi.jobs.app import Tsumugi
    from tsumugi.jobs.client.enqueueing import Job, PartlyEnqueued
    from tsumugi.jobs.client.fan_out import PartialFailure
    from tsumugi.jobs.context import JobContext
    from tsumugi.jobs.core.backoff import ExponentialBackoff, FixedBackoff
    from tsumugi.jobs.core.bucket import Rate
    from tsumugi.jobs.core.model import Guarantee, Policy
    from tsumugi.jobs.core.options import OptionError
    from tsumugi.jobs.core.retention import Retention
    from tsumugi.jobs.entrypoint import Entrypoint
    from tsumugi.jobs.job_shard import JobShard
    from tsumugi.jobs.payloads import PayloadError
    from tsumugi.jobs.performer import Performer, remote
    from tsumugi.jobs.registry import UnknownPerformer
    from tsumugi.jobs.settings import Binding, EnvNames
    from tsumugi.jobs.stubs import MissingBinding, ShardError

__all__ = [
    "MAX_DELAY_S",
    "Backoff",
    "Binding",
    "ContentType",
    "Entrypoint",
    "EnvNames",
    "ExponentialBackoff",
    "FixedBackoff",
    "Guarantee",
    "Job",
    "JobContext",
    "JobShard",
    "Message",
    "MessageBatch",
    "MessageSendRequest",
    "MetricsAccess",
    "MetricsMetadata",
    "MissingBinding",
    "OptionError",
    "PartialFailure",
    "PartlyEnqueued",
    "PayloadError",
    "Performer",
    "Policy",
    "Queue",
    "QueueConsumer",
    "QueueMetrics",
    "Rate",
    "Reject",
    "Retention",
    "Retry",
    "RouteError",
    "SendResult",
    "ShardError",
    "Tsumugi",
    "UnknownPerformer",
    "UnknownQueue",
    "__version__",
    "bearer_auth",
    "cloudflare_access",
    "consumes",
    "exponential_backoff",
    "remote",
]


#: Resolved at each use, because their base classes are the runtime's (ADR-0031).
_OF_THE_RUNTIME: Final = {
    "Entrypoint": "jobs.entrypoint",
    "JobShard": "jobs.job_shard",
    "QueueConsumer": "consumer",
}
#: Where the names of the jobs half are.
_JOBS: Final = {
    "Binding": "settings",
    "EnvNames": "settings",
    "ExponentialBackoff": "core.backoff",
    "FixedBackoff": "core.backoff",
    "Guarantee": "core.model",
    "Job": "client.enqueueing",
    "JobContext": "context",
    "MetricsAccess": "api.services",
    "MissingBinding": "stubs",
    "OptionError": "core.options",
    "PartialFailure": "client.fan_out",
    "PartlyEnqueued": "client.enqueueing",
    "PayloadError": "payloads",
    "Performer": "performer",
    "Policy": "core.model",
    "Rate": "core.bucket",
    "Retention": "core.retention",
    "ShardError": "stubs",
    "Tsumugi": "app",
    "UnknownPerformer": "registry",
    "bearer_auth": "api.auth",
    "cloudflare_access": "api.access",
    "remote": "performer",
}


def __getattr__(name: str) -> Any:
    if name in _OF_THE_RUNTIME:
        return getattr(importlib.import_module(f"tsumugi.{_OF_THE_RUNTIME[name]}"), name)
    # A Worker without jobs pays nothing for them (ADR-0140).
    if name in _JOBS:
        value = getattr(importlib.import_module(f"tsumugi.jobs.{_JOBS[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
