"""A client of an API that knows nothing but its OpenAPI document, and believes it.

What it sends and what it gets must be as the document says.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from jsonschema import Draft202012Validator

if TYPE_CHECKING:
    import httpx


class DocumentClient:
    """``call("getJob", id=...)``: path and query parameters by name, ``body`` as JSON."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client
        answer = client.get("/api/openapi.json")
        assert answer.status_code == 200, answer.text
        self.document = answer.json()
        self.operations = {
            operation["operationId"]: (method, path, operation)
            for path, methods in self.document["paths"].items()
            for method, operation in methods.items()
        }
        #: Operations that were answered, with the status.
        self.called: set[tuple[str, int]] = set()

    def call(self, name: str, body: Any = ..., *, status: int | None = None, **given: Any) -> Any:
        """The answer's body. ``status`` is the documented success unless it is said."""
        method, path, operation = self.operations[name]
        query = {}
        for parameter in operation.get("parameters", ()):
            if parameter["name"] not in given:
                assert not parameter["required"], f"{name} needs {parameter['name']}"
                continue
            value = given.pop(parameter["name"])
            self._check(parameter["schema"], value)
            if parameter["in"] == "path":
                path = path.replace(f"{{{parameter['name']}}}", quote(value, safe=""))
            else:
                query[parameter["name"]] = value
        assert not given, f"{name} takes no {', '.join(given)}"
        options: dict[str, Any] = {"params": query}
        if body is not ...:
            options |= {"content": json.dumps(body)}
            options |= {"headers": {"content-type": "application/json"}}
            self._check(_schema(operation["requestBody"]), body)
        response = self._client.request(method, path, **options)
        self.called.add((name, response.status_code))
        responses = operation["responses"]
        assert str(response.status_code) in responses, f"{name}: {response.text}"
        self._check(_schema(responses[str(response.status_code)]), response.json())
        expected = status or min(int(one) for one in responses)
        assert response.status_code == expected, f"{name}: {response.text}"
        return response.json()

    def _check(self, schema: Any, value: Any) -> None:
        whole = {**schema, "components": self.document["components"]}
        errors = [
            f"{list(error.absolute_path)}: {error.message}"
            for error in Draft202012Validator(whole).iter_errors(value)
        ]
        assert not errors, errors


def _schema(described: Any) -> Any:
    return described["content"]["application/json"]["schema"]
