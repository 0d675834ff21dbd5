"""Python 3.14 evaluates annotations when asked: names for type checkers alone are not needed."""

from __future__ import annotations

import sys
import textwrap
from types import ModuleType
from typing import Any

import pytest
from child_harness import child
from tsumugi.jobs.registry import PerformerError, Registry, payload_model
from tsumugi.signatures import signature_of

pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 14), reason="older Pythons evaluate annotations at once"
)


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    made = ModuleType("lazy_worker")
    monkeypatch.setitem(sys.modules, made.__name__, made)
    return made


def run(module: ModuleType, source: str) -> Any:
    code = compile(textwrap.dedent(source), "worker.py", "exec", dont_inherit=True)
    exec(code, module.__dict__)
    return module.__dict__


PERFORMER = """
from typing import TYPE_CHECKING
from tsumugi.jobs.performer import Performer
if TYPE_CHECKING:
    from tsumugi import JobContext
class Order: ...
class Ship(Performer):
    async def perform(self, payload: {annotation}, ctx: JobContext) -> None: ...
"""


def test_what_a_function_takes_is_known_without_its_types(module: ModuleType) -> None:
    function = run(module, "def f(self, a: Missing, b: list[Missing] = ()) -> Missing: ...")["f"]
    assert list(signature_of(function).parameters) == ["self", "a", "b"]


@pytest.mark.parametrize("annotation", ["dict[str, int]", "list['Order']"])
def test_a_performer_reads_the_annotation_of_its_payload_alone(
    module: ModuleType, annotation: str
) -> None:
    ship = run(module, PERFORMER.format(annotation=annotation))["Ship"]
    expected = {"dict[str, int]": dict[str, int], "list['Order']": list[module.Order]}
    assert payload_model(ship) == expected[annotation]


@pytest.mark.parametrize("annotation", ["Missing", "list[Missing]"])
def test_a_payload_that_is_not_there_is_refused_by_name(
    module: ModuleType, annotation: str
) -> None:
    ship = run(module, PERFORMER.format(annotation=annotation))["Ship"]
    with pytest.raises(
        PerformerError, match=r"'Missing' is not defined.*import it at module level"
    ):
        Registry([ship])


def test_a_consumer_takes_messages_of_a_type_it_does_not_have(module: ModuleType) -> None:
    source = """
        from tsumugi import QueueConsumer, consumes
        class Worker(QueueConsumer):
            @consumes("orders")
            async def order(self, body: Missing, message: Missing) -> None: ...
    """
    assert run(module, source)["Worker"]


HANDLERS = """
from workers import Response, WorkerEntrypoint
class Default(WorkerEntrypoint):
    async def fetch(self, request{fetch}):
        return Response("ok")
    async def queue(self, batch: Missing, env: Missing, ctx: Missing) -> Missing: ...
"""


def test_a_strict_handler_is_not_asked_for_its_types() -> None:
    with child(HANDLERS.format(fetch="")) as it:
        assert it.warnings == []
        assert it.fetch().body == b"ok"


def test_a_relaxed_handler_is_as_in_production() -> None:
    with child(HANDLERS.format(fetch=": Missing")) as it:
        assert "NameError: name 'Missing' is not defined" in it.fetch().summary
