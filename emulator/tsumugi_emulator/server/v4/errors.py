"""What the API refuses, with its code and HTTP status. Not the queues' own refusals: QueueError.

Codes: https://developers.cloudflare.com/queues/reference/error-codes/ and the generic ones of the
v4 API. Those the documentation does not name are listed in ADR-0082.
"""

from __future__ import annotations


class ApiError(Exception):
    """An answer that is not a success; ``pointer`` names the field at fault."""

    def __init__(
        self, message: str, *, code: int, http_status: int, pointer: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.http_status = http_status
        self.pointer = pointer


def unauthorized(why: str, *, http_status: int) -> ApiError:
    return ApiError(f"Unauthorized: {why}", code=10106, http_status=http_status)


def malformed_json(why: str) -> ApiError:
    return ApiError(f"request body is not JSON: {why}", code=10208, http_status=400)


def invalid_body(why: str, *, pointer: str = "") -> ApiError:
    where = f"{pointer}: " if pointer else ""
    return ApiError(
        f"request body is invalid: {where}{why}", code=10207, http_status=400, pointer=pointer
    )


def body_too_large(limit_bytes: int) -> ApiError:
    return ApiError(f"request body is larger than {limit_bytes} bytes", code=10205, http_status=413)


def too_many(what: str, count: int, limit: int) -> ApiError:
    return ApiError(f"{count} {what} exceed the limit of {limit}", code=10206, http_status=413)


def batch_size_invalid(value: object, highest: int) -> ApiError:
    return ApiError(
        f"batch_size {value} is invalid: must be a whole number from 1 to {highest}",
        code=10206,
        http_status=400,
        pointer="/batch_size",
    )


def delay_invalid(value: object, highest: int, *, pointer: str) -> ApiError:
    return ApiError(
        f"delay_seconds {value} is invalid: must be a whole number from 0 to {highest}",
        code=10203,
        http_status=400,
        pointer=pointer,
    )


def consumer_settings_invalid(why: str, *, pointer: str) -> ApiError:
    return ApiError(
        f"The specified consumer settings are invalid: {why}",
        code=100127,
        http_status=400,
        pointer=pointer,
    )


def queue_settings_invalid(why: str, *, pointer: str) -> ApiError:
    return ApiError(
        f"The specified queue settings are invalid: {why}",
        code=100128,
        http_status=400,
        pointer=pointer,
    )


def query_invalid(name: str, value: str, *, lowest: int, highest: int) -> ApiError:
    return ApiError(
        f'query parameter {name}="{value}" is invalid: must be a whole number from {lowest} to '
        f"{highest}",
        code=10207,
        http_status=400,
    )


def queue_id_malformed(queue_id: str) -> ApiError:
    return ApiError(
        f'queue id "{queue_id[:64]}" is malformed: it has 32 hexadecimal digits',
        code=10107,
        http_status=400,
    )


def no_route(path: str) -> ApiError:
    return ApiError(
        f"Could not route to {path[:200]}, perhaps your object identifier is invalid?",
        code=7003,
        http_status=404,
    )


def method_not_allowed(method: str) -> ApiError:
    return ApiError(f"Method {method} not available for that URI.", code=7001, http_status=405)


def internal(summary: str) -> ApiError:
    return ApiError(f"Internal error: {summary}", code=15000, http_status=500)
