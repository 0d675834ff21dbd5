"""Which endpoint answers a request, and what it is given. Knows no endpoint and runs none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from tsumugi.jobs.api.models import Problem
from tsumugi.jobs.api.values import Refused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from tsumugi.jobs.api.values import Answer, ApiRequest

#: Characters of a body. The largest payload is far smaller; more would only be parsed.
MAX_BODY_LENGTH: Final = 4_000_000
#: Faults of a request that an answer lists.
MAX_PROBLEMS: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """An endpoint, and what is said of it. ``{name}`` in a path is any one segment."""

    method: str
    path: str
    #: ``async (call, *segments, [query], [body])``.
    endpoint: Callable[..., Awaitable[Answer]]
    name: str
    summary: str
    description: str = ""
    query: type[BaseModel] | None = None
    body: type[BaseModel] | None = None
    #: ``null`` is a body, too.
    null_body: bool = False
    status: int = 200
    answer: type[BaseModel] | None = None
    #: Statuses of its refusals, beside those of every endpoint.
    refusals: tuple[int, ...] = ()

    @property
    def segments(self) -> tuple[str, ...]:
        return tuple(self.path.strip("/").split("/"))

    def given(self, segments: Sequence[str]) -> list[str] | None:
        """What stands for its ``{names}``; None if it is another path."""
        if len(segments) != len(self.segments):
            return None
        given = []
        for own, other in zip(self.segments, segments, strict=True):
            if own.startswith("{"):
                given.append(other)
            elif own != other:
                return None
        return given

    def arguments(self, request: ApiRequest, given: Sequence[str]) -> list[Any]:
        """What the endpoint takes after the call. Raises ``Refused``."""
        arguments: list[Any] = list(given)
        if self.query is not None:
            arguments.append(_checked(self.query.model_validate, _fields(self.query, request)))
        if self.body is not None:
            arguments.append(self._body(request.body))
        return arguments

    def _body(self, text: str) -> BaseModel | None:
        assert self.body is not None
        if len(text) > MAX_BODY_LENGTH:
            raise Refused(400, f"the body has more than {MAX_BODY_LENGTH} characters")
        if not text.strip():
            # Not taken for {}, which means all jobs where jobs are filtered.
            raise Refused(400, "the body is empty: send a JSON object")
        try:
            # Without NaN and infinities, which are no JSON and which no shard could be sent.
            value = from_json(text, allow_inf_nan=False)
        except ValueError as error:
            raise Refused(400, f"the body is no JSON: {error}") from None
        if self.null_body and value is None:
            return None
        model: BaseModel = _checked(self.body.model_validate, value)
        return model


def find_route(
    routes: Sequence[Route], method: str, segments: Sequence[str]
) -> tuple[Route, list[str]]:
    """The first route that fits. Raises ``Refused``: 404, or 405 that says what fits.

    A path that is spelled out is that path alone: "bulk-retry" is no job's id.
    """
    allowed: list[str] = []
    fitting = [(route, given) for route in routes if (given := route.given(segments)) is not None]
    spelled_out = [one for one in fitting if not one[1]]
    for route, given in spelled_out or fitting:
        if route.method == method:
            return route, given
        allowed.append(route.method)
    path = "/".join(("", *segments))
    if not allowed:
        raise Refused(404, f"there is no {path}; GET /api/openapi.json lists what there is")
    refused = Refused(405, f"{path} takes {', '.join(allowed)}, not {method}", allowed=allowed)
    with_head = [*allowed, "HEAD"] if "GET" in allowed else allowed
    refused.headers = {"allow": ", ".join(with_head)}
    raise refused


def _fields(model: type[BaseModel], request: ApiRequest) -> Mapping[str, Any]:
    """Query fields as the model takes them: several of one name where it has a list."""
    several = {
        name for name, field in model.model_fields.items() if "list[" in str(field.annotation)
    }
    fields: dict[str, Any] = {}
    for name, value in request.query:
        if name in several:
            fields.setdefault(name, []).append(value)
        else:
            fields[name] = value
    return fields


def _checked(validate: Callable[[Any], Any], value: Any) -> Any:
    try:
        return validate(value)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False)
        # Beside what a field has to be, it "should be None" where leaving it out is meant.
        telling = [one for one in errors if one["type"] != "none_required"] or errors
        problems = [
            Problem(field=_field(value, one["loc"]), problem=_said(one))
            for one in telling[:MAX_PROBLEMS]
        ]
        first = problems[0]
        raise Refused(
            400,
            f"{first.field}: {first.problem}",
            problems=[problem.model_dump() for problem in problems],
        ) from None


def _field(value: Any, place: Sequence[int | str]) -> str:
    """The path of a field as who sent it knows it: pydantic names members of unions in between."""
    path: list[str] = []
    for depth, part in enumerate(place):
        is_last = depth == len(place) - 1
        if isinstance(part, int):
            path.append(str(part))
            value = value[part] if isinstance(value, list) and part < len(value) else None
        elif isinstance(value, dict) and (part in value or is_last):
            path.append(part)
            value = value.get(part)
    return ".".join(path) or "body"


def _said(error: Mapping[str, Any]) -> str:
    match error["type"]:
        case "extra_forbidden":
            return "there is no such field; check its spelling"
        case "missing":
            return "is required"
        case "model_type" | "model_attributes_type" | "dict_type":
            return "should be a JSON object"
        case _:
            return str(error["msg"]).removeprefix("Value error, ")
