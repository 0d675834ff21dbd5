"""The OpenAPI document against the standard, the routes and the models."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

import pytest
from jobs_api_harness import DOCUMENT, NOW, Api, Request, check_schema
from openapi_spec_validator import OpenAPIV31SpecValidator
from pydantic import ValidationError
from tsumugi.jobs.api import handler, models
from tsumugi.jobs.api.routes import ROUTES
from tsumugi.jobs.api.routing import find_route

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tsumugi.jobs.api.routing import Route


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def test_the_document_is_valid_openapi_3_1() -> None:
    OpenAPIV31SpecValidator(DOCUMENT).validate()
    assert DOCUMENT["openapi"].startswith("3.1")


def test_every_route_is_documented_and_every_documented_route_is_served() -> None:
    routes = {(route.method, route.path): route for route in ROUTES}
    assert len(routes) == len(ROUTES)
    assert {(method, path) for method, path, _ in operations()} == set(routes)
    for method, path, operation in operations():
        segments = re.sub(r"\{\w+\}", "value", path).strip("/").split("/")
        route, given = find_route(ROUTES, method, segments)
        assert route.name == operation["operationId"]
        assert len(given) == path.count("{")


def test_operations_have_names_of_their_own() -> None:
    names = [operation["operationId"] for _, _, operation in operations()]
    assert len(set(names)) == len(names)


def test_the_document_is_served() -> None:
    assert Api().get("/api/openapi.json").body == DOCUMENT


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_parameters_are_those_of_the_path_and_of_the_query_model(route: Route) -> None:
    operation = DOCUMENT["paths"][route.path][route.method.lower()]
    found = {(one["in"], one["name"]) for one in operation.get("parameters", [])}
    wanted = {("path", name) for name in re.findall(r"\{(\w+)\}", route.path)}
    if route.query is not None:
        wanted |= {("query", name) for name in route.query.model_fields}
    assert found == wanted
    assert ("requestBody" in operation) == (route.body is not None)


def accepted(model: Any, body: Any) -> bool:
    try:
        model.model_validate(body)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("CreateJobRequest", {"binding": "A", "payload": None}),
        ("CreateJobRequest", {"binding": "A", "payload": [1], "timeoutMs": None, "maxAttempts": 1}),
        ("CreateJobRequest", {"binding": "A"}),
        ("CreateJobRequest", {"binding": "A", "payload": 1, "maxAttempts": 0}),
        ("CreateJobRequest", {"binding": "A", "payload": 1, "max_attempts": 1}),
        ("CreateJobRequest", {"binding": "A", "payload": 1, "uniqueKey": ""}),
        (
            "CreateJobRequest",
            {"binding": "A", "payload": 1, "backoff": {"kind": "fixed", "delayMs": 1}},
        ),
        ("CreateJobRequest", {"binding": "A", "payload": 1, "backoff": {"kind": "fixed"}}),
        ("BulkRequest", {"ids": []}),
        ("BulkRequest", {"ids": ["a"]}),
        ("BulkRequest", {"state": "LOST"}),
        ("BulkRequest", {"created_from": 1.5}),
        ("RescheduleRequest", {"runAt": -1}),
        ("PolicyChange", {"paused": "yes"}),
        ("PolicyChange", {"rate": {"tokens": 1, "intervalMs": 1}}),
        ("PolicyChange", {"rate": {"tokens": 1, "per_ms": 1}}),
    ],
)
def test_the_document_says_of_bodies_what_the_models_check(name: str, body: Any) -> None:
    try:
        check_schema({"$ref": f"#/components/schemas/{name}"}, body)
        documented = True
    except AssertionError:
        documented = False
    assert documented == accepted(getattr(models, name), body)


def test_refusals_are_documented_as_errors() -> None:
    for _, _, operation in operations():
        assert "401" in operation["responses"]
        for status, response in operation["responses"].items():
            schema = response["content"]["application/json"]["schema"]
            if int(status) >= 400:
                assert schema == {"$ref": "#/components/schemas/Error"}


def test_a_path_that_is_not_there_and_a_method_it_does_not_take() -> None:
    api = Api()
    assert api.get("/api/nothing").status == 404
    assert api.get("/api").status == 404
    answer = api.ask("DELETE", "/api/jobs")
    assert (answer.status, answer.body["allowed"]) == (405, ["GET", "POST"])
    assert answer.headers == {"allow": "GET, POST, HEAD"}
    assert api.ask("OPTIONS", "/api/bindings/Mail/policy/reset").headers == {"allow": "POST"}
    assert api.ask("GET", "/api/jobs/bulk-retry").headers == {"allow": "POST"}
    assert api.get("/api/jobs/").status == 200


def test_head_is_answered_as_get_is() -> None:
    api = Api()
    for path, status in (("/api/jobs", 200), ("/api/bindings/Mail/policy/reset", 405)):
        request = Request("HEAD", f"https://worker.test{path}")
        answer = asyncio.run(handler.answer(request, api.env, api.services, now_ms=NOW))
        assert answer.status == status


def test_a_method_that_the_runtime_does_not_know_is_one_the_path_does_not_take() -> None:
    class Odd(Request):
        @property
        def method(self) -> str:
            raise KeyError("PROPFIND")

        @method.setter
        def method(self, value: str) -> None: ...

    api = Api()
    request = Odd("PROPFIND", "https://worker.test/api/jobs")
    answer = asyncio.run(handler.answer(request, api.env, api.services, now_ms=0))
    assert (answer.status, "not PROPFIND" in answer.body["error"]) == (405, True)


def test_a_query_of_countless_fields_is_refused() -> None:
    answer = Api().get("/api/jobs", state=["FAILED"] * 51)
    assert answer.status == 400
