"""What a payload must be, and its way to JSON and back. Knows no job and sends nothing.

A payload crosses as JSON. With a model, pydantic writes and reads it (in its JSON mode, so that
strict models read times and ids from texts); without one it is plain JSON.
"""

from __future__ import annotations

import inspect
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from tsumugi.jobs.wire import PAYLOAD_BYTES, Json, dumps

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

#: Stands for a performer that takes any JSON.
NO_MODEL: Final = inspect.Parameter.empty


class PayloadError(ValueError):
    """A payload that its performer cannot take. The text names faults, never values."""


class Codec(Protocol):
    """How the payloads of one performer are written and read."""

    def dump(self, payload: object) -> str:
        """Its JSON text. Raises ``PayloadError``."""
        ...

    def load(self, value: Json) -> Any:
        """What the performer is given for a payload that came. Raises ``PayloadError``."""
        ...

    def rewrite(self, value: Json) -> str:
        """The JSON text of a payload that came as JSON. Raises ``PayloadError``."""
        ...


def codec_for(model: object, *, performer: str) -> Codec:
    """The codec of a performer. Without a model (``NO_MODEL``) it takes any JSON.

    Raises ``TypeError`` for a model that pydantic cannot validate.
    """
    return JsonCodec(performer) if model is NO_MODEL else ModelCodec(model, performer)


class JsonCodec:
    """Any JSON, handed on as it is."""

    def __init__(self, performer: str) -> None:
        self._performer = performer

    def dump(self, payload: object) -> str:
        if hasattr(payload, "model_dump"):
            raise PayloadError(
                f"{self._performer} has no payload model and takes plain JSON, not a "
                f"{type(payload).__name__}: declare class {self._performer}"
                f"(Performer[{type(payload).__name__}])"
            )
        try:
            text = dumps(payload)
        except (TypeError, ValueError, RecursionError) as error:
            raise PayloadError(
                f"the payload for {self._performer} is not JSON ({error}): give dicts, lists, "
                f"texts, numbers, booleans and None, or give {self._performer} a payload model"
            ) from error
        return _checked(text, self._performer)

    def load(self, value: Json) -> Any:
        return value

    def rewrite(self, value: Json) -> str:
        return self.dump(value)


class ModelCodec:
    """Whatever pydantic validates: a model, a dataclass, a ``TypedDict``, ``list[int]``."""

    def __init__(self, model: Any, performer: str) -> None:
        # Kept, because importing within a function costs as much as validating a small payload.
        from pydantic import TypeAdapter, ValidationError
        from pydantic.errors import PydanticUndefinedAnnotation, PydanticUserError
        from pydantic_core import PydanticSerializationError

        self._performer = performer
        self._name = "None" if model is type(None) else getattr(model, "__name__", str(model))
        try:
            self._adapter: TypeAdapter[Any] = TypeAdapter(model)
        except (PydanticUserError, PydanticUndefinedAnnotation) as error:
            raise TypeError(
                f"{performer}: {self._name} cannot be a payload model: {error.message}"
            ) from error
        self._invalid = ValidationError
        self._unwritable = (PydanticSerializationError, RecursionError)
        #: Of these an instance was validated when it was made.
        self._instances = model if isinstance(model, type) and _validates_itself(model) else None
        self._came_back = False

    def dump(self, payload: object) -> str:
        try:
            if self._instances is None or not isinstance(payload, self._instances):
                payload = self._adapter.validator.validate_python(payload)
            # By alias and without computed fields: what ``load`` reads.
            written = self._adapter.serializer.to_json(
                payload, by_alias=True, round_trip=True, warnings="error"
            )
        except self._invalid as error:
            raise self._refused(error, "the payload") from error
        except self._unwritable as error:
            raise PayloadError(
                f"the payload for {self._performer} cannot be written as JSON: {error}"
            ) from error
        if not self._came_back:
            self._check_it_comes_back(written)
        return _checked(written.decode(), self._performer)

    def load(self, value: Json) -> Any:
        try:
            return self._adapter.validator.validate_json(dumps(value))
        except self._invalid as error:
            raise self._refused(error, "the payload") from error

    def rewrite(self, value: Json) -> str:
        return self.dump(self.load(value))

    def _check_it_comes_back(self, written: bytes) -> None:
        """Once: a model that writes other names than it reads would fail every job, later."""
        try:
            self._adapter.validator.validate_json(written)
        except self._invalid as error:
            raise self._refused(
                error, f"{self._name} does not read what it writes as JSON: what it wrote"
            ) from error
        self._came_back = True

    def _refused(self, error: ValidationError, what: str) -> PayloadError:
        from tsumugi.bodies import faults_of

        return PayloadError(
            f"{self._performer} takes {self._name}, and {what} is not one: {faults_of(error)}"
        )


def _validates_itself(model: type) -> bool:
    if hasattr(model, "__pydantic_validator__"):
        return True
    # A standard dataclass checks nothing.
    return is_dataclass(model) and hasattr(model, "__pydantic_decorators__")


def _checked(text: str, performer: str) -> str:
    size_bytes = len(text.encode())
    if size_bytes > PAYLOAD_BYTES:
        raise PayloadError(
            f"the payload for {performer} has {size_bytes} bytes as JSON, and {PAYLOAD_BYTES} are "
            "the most: store the data (R2, KV, D1) and enqueue where it is"
        )
    return text
