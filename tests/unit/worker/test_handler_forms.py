"""Every form a handler may be written in: run here, warned about or refused as production does."""

from __future__ import annotations

import pytest
from child_harness import CURRENT_FLAGS, child
from tsumugi_emulator.worker import frames
from tsumugi_emulator.worker.program import ProgramError

IMPORTS = "from workers import Response, WorkerEntrypoint\n"
LEGACY_FLAGS = CURRENT_FLAGS - {"python_no_global_handlers"}
PRODUCTION_TEXT = "Default.queue() takes 2 positional arguments but 4 were given"


def queue_worker(signature: str, *, kind: str = "async def", first: str = "batch") -> str:
    return f"""{IMPORTS}
class Default(WorkerEntrypoint):
    {kind} queue({signature}):
        {first}.messages[0].ack()
"""


@pytest.mark.parametrize("kind", ["async def", "def"])
@pytest.mark.parametrize(
    "signature",
    ["self, batch, env, ctx", "self, batch, env=None, ctx=None", "self, batch, *args"],
)
def test_the_forms_production_takes_run_without_a_warning(signature: str, kind: str) -> None:
    with child(queue_worker(signature, kind=kind), strict=True) as it:
        assert it.queue().explicit_acks == ["id-0"]
        assert it.program.warnings == []


def test_the_documented_form_runs_with_one_warning_that_quotes_production_and_the_fix() -> None:
    with child(queue_worker("self, batch")) as it:
        assert it.queue().explicit_acks == ["id-0"]
        assert it.queue().explicit_acks == ["id-0"]
        (warning,) = it.program.warnings
    assert PRODUCTION_TEXT in warning
    assert "async def queue(self, batch, env=None, ctx=None)" in warning


def test_the_documented_form_fails_as_in_production_under_strict() -> None:
    with child(queue_worker("self, batch"), strict=True) as it:
        result = it.queue()
    assert (result.outcome, result.explicit_acks) == ("exception", [])
    assert f"TypeError: {PRODUCTION_TEXT}" in result.error


def test_the_env_and_ctx_parameters_of_a_class_are_none() -> None:
    source = f"""{IMPORTS}
class Default(WorkerEntrypoint):
    async def fetch(self, request, env="E", ctx="C"):
        return Response(repr((env, ctx)))
"""
    with child(source) as it:
        assert it.fetch().body == b"(None, None)"


def test_fetch_may_leave_its_request_out() -> None:
    source = f"""{IMPORTS}
class Default(WorkerEntrypoint):
    async def fetch(self):
        return Response("relaxed")
"""
    with child(source) as it:
        assert it.fetch().body == b"relaxed"


def test_a_handler_that_yields_never_runs_and_is_named() -> None:
    source = f"""{IMPORTS}
class Default(WorkerEntrypoint):
    async def queue(self, batch, env=None, ctx=None):
        yield batch.messages[0].retry()
"""
    with child(source) as it:
        result = it.queue()
        (warning,) = it.program.warnings
    assert (result.outcome, list(result.retries)) == ("ok", [])
    assert "contains `yield`" in warning


def test_top_level_functions_run_where_the_compatibility_date_allows_them() -> None:
    source = """
from js import Response
async def on_fetch(request, env):
    return Response.new(request.method + " " + str(env.QUEUE is not None))
def on_queue(batch):
    batch.messages[0].ack()
"""
    with child(source, flags=LEGACY_FLAGS) as it:
        assert it.program.handlers() == ["fetch", "queue"]
        assert it.fetch().body == b"GET True"
        assert it.queue().explicit_acks == ["id-0"]


def test_top_level_functions_are_refused_by_name_where_it_does_not() -> None:
    source = "async def on_queue(batch):\n    pass\n"
    with pytest.raises(ProgramError, match="Top-level on_queue is ignored"), child(source):
        pass


def test_a_class_and_top_level_functions_cannot_both_be_the_entrypoint() -> None:
    source = queue_worker("self, batch, env, ctx") + "\nasync def on_fetch(request):\n    pass\n"
    with (
        pytest.raises(ProgramError, match="Cannot define multiple default entrypoints"),
        child(source, flags=LEGACY_FLAGS),
    ):
        pass


def test_a_request_to_a_worker_without_fetch_fails_with_productions_text() -> None:
    with child(queue_worker("self, batch, env, ctx")) as it:
        failed = it.fetch()
    assert isinstance(failed, frames.Failed)
    assert "Method fetch does not exist" in failed.summary
