"""Read queue messages as dispatches of jobs. Pure; looks up no performer and acknowledges nothing.

The check is of shape alone: whether a dispatch still counts is the shard's to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from tsumugi.jobs.core.ids import MalformedJobId, parse_job_id
from tsumugi.jobs.wire import DELIVERY_VERSION, Json, loads


class Malformed(ValueError):
    """A message that is no dispatch of a job."""


class _LeftBehind:
    def __repr__(self) -> str:
        return "LEFT_BEHIND"


#: The payload was too large for a message: its shard has it.
LEFT_BEHIND: Final[Any] = _LeftBehind()


@dataclass(slots=True)
class Dispatched:
    """One dispatch of one job, as it arrived."""

    job_id: str
    binding: str
    #: The name of the object that keeps the job, ``<binding>#<n>``.
    shard: str
    #: The local part of the id.
    local: str
    epoch: int
    attempt: int
    timeout_ms: int | None
    #: At-most-once: to be claimed before it is performed.
    claim: bool
    expires_ms: int | None
    traceparent: str | None
    payload: Json


def read_dispatch(body: object) -> Dispatched:
    """The dispatch in the body of a message. Raises ``Malformed``."""
    if not isinstance(body, str):
        raise Malformed(f"the body is a {type(body).__name__}, not a text")
    try:
        fields = loads(body)
    except ValueError as error:
        raise Malformed(f"the body is no JSON: {error}") from error
    if not isinstance(fields, dict):
        raise Malformed("the body is no JSON object")
    get = fields.get
    if get("v") != DELIVERY_VERSION:
        raise Malformed(f"its version is {get('v')!r}, and this is version {DELIVERY_VERSION}")
    job_id = get("job")
    try:
        job = parse_job_id(job_id if type(job_id) is str else repr(job_id))
    except MalformedJobId as error:
        raise Malformed(str(error)) from error
    for name in ("epoch", "attempt"):
        if type(get(name)) is not int:
            raise Malformed(f"{name} is {get(name)!r}, not a whole number")
    for name in ("timeout_ms", "expires_ms"):
        if get(name) is not None and type(get(name)) is not int:
            raise Malformed(f"{name} is {get(name)!r}, not a number of milliseconds")
    return Dispatched(
        fields["job"],
        job.binding,
        fields["job"][: -len(job.local) - 1],
        job.local,
        fields["epoch"],
        fields["attempt"],
        get("timeout_ms"),
        get("claim") is True,
        get("expires_ms"),
        get("traceparent"),
        get("payload", LEFT_BEHIND),
    )
