"""A request and an answer as plain values, and the refusal of one by the other. No runtime here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tsumugi.jobs.api.services import Services

#: More is no question to this API, and would only be parsed.
MAX_QUERY_FIELDS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiRequest:
    method: str
    #: Of the path, decoded, without the empty ones at its ends: an id may hold any character.
    segments: tuple[str, ...]
    query: tuple[tuple[str, str], ...] = ()
    #: The header, for what a body does not say.
    traceparent: str | None = None
    body: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request, what may answer it, and when."""

    request: ApiRequest
    env: Any
    services: Services
    now_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """``body`` becomes JSON."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


class Refused(Exception):
    """The answer is this error. ``more`` lists what a program can act on, beside the text."""

    def __init__(self, status: int, error: str, /, **more: Any) -> None:
        super().__init__(error)
        self.status = status
        self.error = error
        self.more = more
        self.headers: dict[str, str] = {}

    def answer(self) -> Answer:
        return Answer(
            status=self.status, body={"error": self.error, **self.more}, headers=self.headers
        )


def wrong(field: str, problem: str) -> Refused:
    """A 400 about one field of a body."""
    return Refused(400, f"{field}: {problem}", problems=[{"field": field, "problem": problem}])


def method_of(request: Any) -> str:
    """The method of a ``workers.Request``, which knows only those of the standard."""
    try:
        method = request.method
    except KeyError as error:
        return str(error.args[0])
    return str(getattr(method, "value", method))


def segments_of(url: str) -> tuple[str, ...]:
    """``("api", "jobs", "A#0:1")`` of ``https://host/api/jobs/A%230%3A1/?x``."""
    return tuple(unquote(part) for part in urlsplit(url).path.strip("/").split("/"))


def query_of(url: str) -> tuple[tuple[str, str], ...]:
    """Fields in order. One that is empty counts as left out: forms send all they have."""
    try:
        fields = parse_qsl(
            urlsplit(url).query, keep_blank_values=False, max_num_fields=MAX_QUERY_FIELDS
        )
    except ValueError:
        raise Refused(400, f"the query has more than {MAX_QUERY_FIELDS} fields") from None
    return tuple(fields)
