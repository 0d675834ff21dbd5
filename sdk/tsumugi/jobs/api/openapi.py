"""The OpenAPI 3.1 document, made of the routes and of the models that check their bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from tsumugi._version import __version__
from tsumugi.jobs.api import models

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Literal

    from pydantic import BaseModel

    from tsumugi.jobs.api.routing import Route

_REFERENCE: Final = "#/components/schemas/{model}"
#: What each refusal means; its body is an ``Error``.
REFUSALS: Final = {
    400: "Bad input; problems lists the fields",
    401: "Not authorized",
    404: "There is none",
    405: "The path takes other methods; allowed lists them",
    409: "The job is in a state where this cannot be done",
    410: "The job left its shard",
    500: "Some shards did not take it; failed_shards lists them",
    501: "Not configured; missing lists what",
    502: "Analytics Engine did not answer the question",
    503: "A binding or a migration is missing (missing lists them), or what is asked does not "
    "answer now",
}
#: Forms of what stands in a path.
_FORMS: Final = {
    "id": {"pattern": r"^[A-Za-z_$][A-Za-z0-9_$.-]*#(0|[1-9][0-9]{0,8}):[0-9a-f]{28}$"}
}
#: Of every endpoint.
ALWAYS: Final = (401,)
_SECURITY: Final = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "cloudflareAccess": {
        "type": "apiKey",
        "in": "header",
        "name": "Cf-Access-Jwt-Assertion",
    },
}


class _Concise(GenerateJsonSchema):
    """Without titles that only repeat the name of a field."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def default_schema(self, schema: Any) -> dict[str, Any]:
        # Null as a default says that the field may be left out, which "required" says already.
        described = super().default_schema(schema)
        if described.get("default", ...) is None:
            del described["default"]
        return described


def document(routes: Sequence[Route]) -> dict[str, Any]:
    """The whole document, as JSON."""
    schemas, references = _schemas(routes)
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, references)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Tsumugi jobs", "version": __version__},
        "paths": paths,
        "components": {"schemas": schemas, "securitySchemes": _SECURITY},
        "security": [{name: []} for name in _SECURITY],
    }


type _References = Mapping[type[BaseModel], Mapping[str, Any]]


def _schemas(routes: Sequence[Route]) -> tuple[dict[str, Any], _References]:
    # Bodies as they are read: fields with a default may be left out. Answers hold every field.
    used: dict[type[BaseModel], Literal["validation", "serialization"]] = {
        models.Error: "validation"
    }
    for route in routes:
        if route.body is not None:
            used[route.body] = "validation"
        if route.answer is not None:
            used[route.answer] = "serialization"
    by_model, shared = models_json_schema(
        list(used.items()), ref_template=_REFERENCE, schema_generator=_Concise
    )
    references = {model: by_model[model, mode] for model, mode in used.items()}
    return dict(sorted(shared["$defs"].items())), references


def _operation(route: Route, references: _References) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.summary,
        "responses": dict(_responses(route, references)),
    }
    if route.description:
        operation["description"] = route.description
    if parameters := [*_path_parameters(route), *_query_parameters(route)]:
        operation["parameters"] = parameters
    if route.body is not None:
        schema: Mapping[str, Any] = references[route.body]
        if route.null_body:
            schema = {"anyOf": [schema, {"type": "null"}]}
        operation["requestBody"] = {"required": True, "content": _json(schema)}
    return operation


def _responses(route: Route, references: _References) -> Iterator[tuple[str, Any]]:
    answer = {} if route.answer is None else references[route.answer]
    description = "Enqueued" if route.status == 201 else "Done"
    yield str(route.status), {"description": description, "content": _json(answer)}
    for status in sorted({*ALWAYS, *route.refusals}):
        content = _json(references[models.Error])
        yield str(status), {"description": REFUSALS[status], "content": content}


def _path_parameters(route: Route) -> Iterator[dict[str, Any]]:
    for segment in route.segments:
        if segment.startswith("{"):
            name = segment.strip("{}")
            schema = {"type": "string", **_FORMS.get(name, {})}
            yield {"name": name, "in": "path", "required": True, "schema": schema}


def _query_parameters(route: Route) -> Iterable[dict[str, Any]]:
    if route.query is None:
        return
    schema = route.query.model_json_schema(schema_generator=_Concise)
    for name, described in schema["properties"].items():
        parameter: dict[str, Any] = {"name": name, "in": "query", "required": False}
        if text := described.pop("description", None):
            parameter["description"] = text
        parameter["schema"] = _given(_inlined(described, schema.get("$defs", {})))
        yield parameter


def _given(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a value that is there: leaving a parameter out is what null means here."""
    kinds = [kind for kind in schema.get("anyOf", ()) if kind != {"type": "null"}]
    if len(kinds) != 1:
        return schema
    given: dict[str, Any] = {**schema, **kinds[0]}
    return {name: value for name, value in given.items() if name not in ("anyOf", "default")}


def _inlined(schema: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_inlined(item, definitions) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inlined(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    return {name: _inlined(item, definitions) for name, item in schema.items()}


def _json(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
