"""What a performer declares, and what is refused while the module loads."""

from __future__ import annotations

import dataclasses
import json
import types
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, cast

import pytest
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, computed_field
from tsumugi.jobs.core.backoff import FixedBackoff
from tsumugi.jobs.core.model import Guarantee
from tsumugi.jobs.payloads import NO_MODEL, PayloadError
from tsumugi.jobs.performer import Performer, remote
from tsumugi.jobs.registry import (
    PerformerError,
    Registry,
    UnknownPerformer,
    payload_model,
    registered_as,
)
from tsumugi.jobs.wire import Json  # noqa: TC002  # performers here are read at run time

if TYPE_CHECKING:
    from decimal import Decimal

    from tsumugi.jobs.context import JobContext


class Mail(BaseModel):
    to: str
    subject: str = ""


class SendMail(Performer[Mail]):
    async def perform(self, payload: Mail, ctx: JobContext) -> dict[str, str]:
        return {"sent": payload.to}


class ByAnnotation(Performer):  # type: ignore[type-arg]
    def perform(self, payload: list[int], ctx: JobContext) -> int:
        return sum(payload)


class AnyJson(Performer[Any]):
    async def perform(self, payload: Any, ctx: JobContext) -> Any:
        return payload


class Unsaid(Performer):  # type: ignore[type-arg]
    async def perform(self, payload, ctx):  # type: ignore[no-untyped-def]
        return payload


class Explicit(Performer["Json"]):
    async def perform(self, payload: Json, ctx: JobContext) -> None: ...


class Named(Performer["Mail"]):
    async def perform(self, payload: Mail, ctx: JobContext) -> None: ...


class Logged[T](Performer[T]):
    pass


class ThroughABase(Logged[Mail]):
    async def perform(self, payload: Mail, ctx: JobContext) -> None: ...


class Pair[A, B](Performer[B]):
    pass


class ThroughTwo(Pair[int, Mail]):
    async def perform(self, payload: Mail, ctx: JobContext) -> None: ...


class Inherited(SendMail):
    pass


@pytest.mark.parametrize(
    ("performer", "model"),
    [
        (SendMail, Mail),
        (ByAnnotation, list[int]),
        (AnyJson, NO_MODEL),
        (Unsaid, NO_MODEL),
        (Explicit, NO_MODEL),
        (Named, Mail),
        (ThroughABase, Mail),
        (ThroughTwo, Mail),
        (Inherited, Mail),
        (remote("BILLING", "Charge", payload=Mail), Mail),
        (remote("BILLING", "Charge"), NO_MODEL),
        (remote("BILLING", SendMail), Mail),
    ],
)
def test_the_payload_model_is_found(performer: type[Performer[Any]], model: object) -> None:
    assert payload_model(performer) == model


def test_a_performer_is_called_after_its_class_or_its_binding() -> None:
    class Other(SendMail):
        binding = "MAIL"

    assert [one.binding for one in (SendMail, Inherited, Other)] == [
        "SendMail",
        "Inherited",
        "MAIL",
    ]


def test_class_attributes_are_the_defaults_of_its_jobs() -> None:
    class Charge(SendMail):
        requires = ("concurrency_key",)
        max_attempts = 7
        backoff = FixedBackoff(5_000)
        timeout_ms = None
        guarantee = "at-most-once"

    registered = registered_as(Charge)
    assert registered.requires == {"concurrency_key"}
    assert (registered.defaults.max_attempts, registered.defaults.timeout_ms) == (7, None)
    assert registered.defaults.backoff == FixedBackoff(5_000)
    assert registered.defaults.guarantee is Guarantee.AT_MOST_ONCE


def with_attributes(**attributes: Any) -> type[Performer[Any]]:
    return type("Wrong", (SendMail,), {"__module__": __name__, **attributes})


def without_ctx(self: Any, payload: Any) -> None: ...


async def yielding(self: Any, payload: Any, ctx: Any) -> Any:
    yield 1


@pytest.mark.parametrize(
    ("performer", "said"),
    [
        (with_attributes(max_attempts=0), "Wrong: max_attempts: must be a whole number from 1"),
        (with_attributes(timeout_ms=1.5), "Wrong: timeout_ms: must be a whole number"),
        (with_attributes(backoff=5), "Wrong: backoff is an ExponentialBackoff(...) or a Fixed"),
        (with_attributes(guarantee="exactly-once"), "'at-least-once' or 'at-most-once'"),
        (with_attributes(requires="unique_key"), 'requires = ("concurrency_key",)'),
        (with_attributes(requires=("payload",)), "requires names 'payload'"),
        (with_attributes(binding="SEND MAIL"), "cannot name a binding"),
        (with_attributes(perform=without_ctx), "must accept (self, payload, ctx)"),
        (with_attributes(perform=yielding), "contains a yield"),
        (type("Empty", (Performer,), {}), "add async def perform(self, payload, ctx)"),
        (Mail, "classes that derive from tsumugi.Performer"),
        (SendMail(None), "classes that derive from tsumugi.Performer"),
    ],
)
def test_a_performer_that_could_never_work_is_refused(performer: Any, said: str) -> None:
    with pytest.raises(PerformerError) as refused:
        registered_as(performer)
    assert said in str(refused.value)
    # What is said is all there is to say: no other traceback stands before it.
    assert refused.value.__cause__ is None


def test_a_model_that_is_only_there_for_type_checkers_is_refused() -> None:
    class Pay(Performer):  # type: ignore[type-arg]
        async def perform(self, payload: Decimal, ctx: JobContext) -> None: ...

    with pytest.raises(PerformerError, match=r"(?s)Pay.*import it at module level"):
        registered_as(Pay)


def test_a_model_that_pydantic_cannot_validate_is_refused() -> None:
    class Socket: ...

    class Dial(Performer[Socket]):
        async def perform(self, payload: Socket, ctx: JobContext) -> None: ...

    with pytest.raises(PerformerError, match="Dial: Socket cannot be a payload model"):
        registered_as(Dial)


def test_two_performers_of_one_name_are_refused() -> None:
    with pytest.raises(PerformerError, match=r"two performers are called 'SendMail'.*`binding`"):
        Registry([SendMail, remote("BILLING", "SendMail")])


def test_a_performer_is_found_by_its_class_or_its_name() -> None:
    registry = Registry([SendMail, AnyJson])
    assert registry.of(SendMail) is registry.of("SendMail")
    with pytest.raises(UnknownPerformer, match=r"'Charge'.*performers=.*known: AnyJson, SendMail"):
        registry.of("Charge")
    with pytest.raises(UnknownPerformer, match="Named"):
        registry.of(Named)
    with pytest.raises(TypeError, match="the performer's class or its name"):
        registry.of(cast("Any", SendMail(None)))


def test_another_class_of_a_known_name_is_unknown() -> None:
    namesake = type("SendMail", (Performer,), {"perform": SendMail.perform})
    with pytest.raises(UnknownPerformer):
        Registry([SendMail]).of(namesake)


def test_a_remote_performer_takes_over_what_its_class_declares() -> None:
    class Charge(SendMail):
        requires = ("unique_key",)

    there = remote("BILLING", Charge, max_attempts=9)
    registered = registered_as(there)
    assert (registered.name, registered.service) == ("Charge", "BILLING")
    assert (registered.requires, registered.defaults.max_attempts) == ({"unique_key"}, 9)
    with pytest.raises(TypeError, match="leave payload out"):
        remote("BILLING", Charge, payload=Mail)


# -- Payloads ------------------------------------------------------------------------------------


def codec(model: Any) -> Any:
    body = {"perform": Unsaid.perform, "__module__": __name__}
    performer = types.new_class("P", (Performer[model],), exec_body=lambda ns: ns.update(body))
    return registered_as(performer).codec


class Event(BaseModel):
    model_config = ConfigDict(strict=True)
    at: datetime
    data: bytes = b""
    tags: set[str] = set()

    @computed_field  # type: ignore[prop-decorator]
    @property
    def count(self) -> int:
        return len(self.tags)


def test_a_strict_model_comes_back_as_it_was() -> None:
    event = Event(at=datetime(2026, 1, 2, tzinfo=UTC), data=b"x", tags={"a"})
    text = codec(Event).dump(event)
    assert '"count"' not in text
    assert codec(Event).load(json.loads(text)) == event


def test_a_model_with_aliases_comes_back_as_it_was() -> None:
    class Aliased(BaseModel):
        sender: str = Field(alias="from")

    taken = codec(Aliased)
    assert taken.dump(Aliased(**{"from": "a"})) == '{"from":"a"}'
    assert taken.load({"from": "a"}).sender == "a"


def test_a_model_that_does_not_read_what_it_writes_is_refused_at_its_first_job() -> None:
    class OneWay(BaseModel):
        sender: str = Field(validation_alias=AliasChoices("from", "frm"))

    with pytest.raises(PayloadError, match="does not read what it writes"):
        codec(OneWay).dump(OneWay(**{"from": "a"}))


def test_dicts_are_taken_for_a_model_and_validated() -> None:
    assert codec(Mail).dump({"to": "a"}) == '{"to":"a","subject":""}'
    with pytest.raises(PayloadError, match=r"P takes Mail.*to: Field required"):
        codec(Mail).dump({"subject": "hi"})


def test_a_performer_of_nothing_says_that_it_takes_none() -> None:
    nothing = codec(None)
    assert nothing.dump(None) == "null"
    with pytest.raises(PayloadError, match="P takes None, and the payload is not one"):
        nothing.dump({"a": 1})


def test_values_never_appear_in_what_is_said_about_a_payload() -> None:
    with pytest.raises(PayloadError) as refused:
        codec(Mail).dump({"to": ["secret"]})
    assert "secret" not in str(refused.value)


def test_an_instance_that_was_spoilt_is_refused() -> None:
    mail = Mail(to="a")
    mail.to = cast("Any", 5)
    with pytest.raises(PayloadError, match="cannot be written as JSON"):
        codec(Mail).dump(mail)


class Point(TypedDict):
    x: int


@dataclasses.dataclass
class Plain:
    x: int


@pytest.mark.parametrize(
    ("model", "payload", "text"),
    [
        (list[int], [1, 2], "[1,2]"),
        (Point, {"x": 1}, '{"x":1}'),
        (Plain, Plain(1), '{"x":1}'),
        (Annotated[int, Field(gt=0)], 5, "5"),
        (str, "\N{SNOWMAN}", '"\N{SNOWMAN}"'),
    ],
)
def test_anything_pydantic_validates_can_be_a_payload(
    model: Any, payload: object, text: str
) -> None:
    assert codec(model).dump(payload) == text


def test_a_plain_dataclass_is_validated_although_it_was_made_already() -> None:
    with pytest.raises(PayloadError):
        codec(Plain).dump(Plain(cast("Any", "one")))


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        (object(), "is not JSON"),
        ({"a": {1, 2}}, "is not JSON"),
        (float("nan"), "is not JSON"),
        ("x" * 1_000_000, "1000002 bytes as JSON, and 1000000 are the most"),
        (Mail(to="a"), "declare class AnyJson(Performer[Mail])"),
    ],
)
def test_what_is_no_json_is_refused_for_a_performer_without_a_model(
    payload: object, said: str
) -> None:
    with pytest.raises(PayloadError) as refused:
        registered_as(AnyJson).codec.dump(payload)
    assert said in str(refused.value)


def test_half_a_surrogate_pair_crosses_as_an_escape() -> None:
    text = registered_as(AnyJson).codec.dump({"half": "\ud800"})
    assert text == '{"half":"\\ud800"}'
    assert json.loads(text) == {"half": "\ud800"}
    with pytest.raises(PayloadError, match="cannot be written as JSON"):
        codec(Mail).dump(Mail.model_construct(to="\ud800", subject=""))


def test_a_payload_that_came_as_json_is_read_as_json() -> None:
    assert '"2026-01-02T00:00:00Z"' in codec(Event).rewrite({"at": "2026-01-02T00:00:00Z"})
    with pytest.raises(PayloadError):
        codec(Event).dump({"at": "2026-01-02T00:00:00Z"})  # in Python, strict means strict
