"""What a performer says its payload is, and what its perform takes, are the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Protocol, TypedDict

import pytest
from pydantic import BaseModel, Field
from tsumugi.jobs.performer import Performer
from tsumugi.jobs.registry import PerformerError, payload_model, registered_as


class Base(BaseModel):
    id: int


class Order(Base):
    cents: int = 0


class Other(BaseModel):
    text: str


class Row(TypedDict):
    id: int


class HasId(Protocol):
    id: int


def taking(model: Any, annotation: Any) -> type[Performer[Any]]:
    async def perform(self: Any, payload: Any, ctx: Any) -> None: ...

    perform.__annotations__["payload"] = annotation
    body = {"perform": perform, "__module__": __name__}
    return type("Work", (Performer,), {"__orig_bases__": (Performer[model],), **body})


@pytest.mark.parametrize(
    ("model", "annotation", "said"),
    [
        (Order, Other, "a Performer[Order], and its perform takes Other: write the same"),
        (Order, "Other", "takes Other"),
        (Order, dict[str, object], "takes dict[str, object]"),
        (None, dict[str, object], "a Performer[None], and its perform takes dict[str, object]"),
        (list[Order], Order, "Performer[list["),
        (Base, Order, "takes Order"),
    ],
)
def test_a_perform_that_takes_something_else_is_refused(
    model: Any, annotation: Any, said: str
) -> None:
    with pytest.raises(PerformerError) as refused:
        registered_as(taking(model, annotation))
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("model", "annotation"),
    [
        (Order, Order),
        (Order, "Order"),
        (Order, Base),
        (Order, object),
        (Order, Any),
        (Order, Order | None),
        (Order, "NotThere"),
        (Order, HasId),
        (Order, Annotated[Order, Field()]),
        (Annotated[int, Field(ge=1)], int),
        (int, float),
        (None, None),
        (dict[str, int], Mapping[str, int]),
        (list[int], Sequence[int]),
        (Row, Row),
        (Row, dict),
        (Order | Other, Order),
    ],
)
def test_a_perform_that_may_take_it_is_left_alone(model: Any, annotation: Any) -> None:
    assert payload_model(taking(model, annotation)) == (type(None) if model is None else model)


def test_a_perform_without_an_annotation_takes_what_the_performer_says() -> None:
    class Work(Performer[Order]):
        async def perform(self, payload, ctx):  # type: ignore[no-untyped-def]
            return None

    assert payload_model(Work) is Order


def test_an_annotation_is_read_where_perform_was_written() -> None:
    # A base class of another module brought it: "Order" is another class there.
    there: dict[str, Any] = {"Order": Other}
    exec("async def perform(self, payload: 'Order', ctx): ...", there)
    body = {"perform": there["perform"], "__module__": __name__}
    bases = {"__orig_bases__": (Performer[Other],)}
    assert payload_model(type("Work", (Performer,), {**body, **bases})) is Other
