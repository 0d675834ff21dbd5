"""Two Workers that call each other: requests, methods, functions, objects, queues, and crashes."""

from __future__ import annotations

import os
import signal
import threading
from typing import TYPE_CHECKING, Any

import pytest
from dev_session import Dev, Project, eventually, needs_process_ids

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

type MakeProject = Callable[..., Project]
type RunDev = Callable[..., Dev]

BOTH = ("-c", "wrangler.json", "-c", "../callee/wrangler.json")


def start(project: MakeProject, dev: RunDev, *arguments: str) -> Dev:
    project("callee", at="callee")
    return dev(project("caller", at="caller"), *(arguments or BOTH)).ready()


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dev]:
    """Both Workers, for tests that change nothing."""
    root: Path = tmp_path_factory.mktemp("services")
    Project.of_worker("callee", root / "callee")
    session = Dev(Project.of_worker("caller", root / "caller"), *BOTH)
    yield session.ready()
    session.close()


def run(session: Dev, code: str) -> Any:
    """What the caller's code returns."""
    response = session.post("/run", content=code)
    assert response.status_code == 200, response.text
    try:
        return eval(response.text)
    except Exception:
        return response.text


@pytest.mark.parametrize(
    ("call", "result"),
    [
        ("add(1, 2)", 3),
        ("echo({'a': [1, None, 1.5, True, 'x']})", {"a": [1, None, 1.5, True, "x"]}),
        ("show({1, 2})", "{1, 2}"),
        ("show(b'abc')", "<memory at"),
        ("echo('\\ud800')", "\ud800"),
        ("nope()", "TypeError: Method nope does not exist"),
        ("alarm()", "TypeError: 'alarm' is a reserved method and cannot be called over RPC."),
        ("add(1)", "Error: PythonError: Traceback"),
        ("pair()", "Error: PythonError: Traceback"),
        ("boom()", "Error: PythonError: Traceback"),
    ],
)
def test_methods_answer_from_the_other_process(pair: Dev, call: str, result: Any) -> None:
    found = run(pair, f"return await outcome(env.CALLEE.{call})")
    if isinstance(result, str) and len(result) > 1:
        assert found.startswith(result)
    else:
        assert found == result


def test_a_value_that_contains_itself_crosses_and_only_python_refuses_it(pair: Dev) -> None:
    """Structured clones have no trouble with it; the SDK's conversion in the callee recurses."""
    code = """
import js
loop = js.Object.new()
loop.me = loop
return [await outcome(env.CALLEE.echo(loop)), await outcome(self.ctx.exports.Own.take(loop))]
"""
    there, here = run(pair, code)
    assert "RecursionError: maximum recursion depth exceeded" in there
    assert "RecursionError: maximum recursion depth exceeded" in here


@needs_process_ids
def test_each_worker_has_a_process_of_its_own(pair: Dev) -> None:
    pids = run(pair, "return [os.getpid(), await env.SELF.pid(), await env.CALLEE.pid()]")
    assert pids[0] == pids[1] != pids[2]


def test_a_remote_error_has_the_callees_lines(pair: Dev) -> None:
    text = run(pair, "return await outcome(env.CALLEE.boom())")
    assert "callee/src/entry.py" in text
    assert text.rstrip().endswith("ValueError: bad value")


def test_more_than_32_mib_is_refused(pair: Dev) -> None:
    text = run(pair, "return await outcome(env.CALLEE.echo('x' * 33554433))")
    assert "limited to 32MiB" in text


def test_a_named_entrypoint_gets_the_bindings_props(pair: Dev) -> None:
    assert run(pair, "return await env.NAMED.whoami()") == "caller"


def test_requests_and_answers_cross_whole(pair: Dev) -> None:
    code = """
response = await env.CALLEE.fetch("http://callee/x", method="PUT", body="content")
return [response.status, response.headers["x-callee"], await response.text()]
"""
    assert run(pair, code) == [201, "yes", "PUT content"]


def test_a_failed_request_is_an_error_at_the_caller(pair: Dev) -> None:
    text = run(pair, "return await outcome(env.CALLEE.fetch('http://callee/boom'))")
    assert text.startswith("AbortError: ")
    assert "ValueError: bad request" in text


@pytest.mark.parametrize("size", [1, 65_536, 65_537, 3_000_000])
def test_bodies_of_any_size_stream_both_ways(pair: Dev, size: int) -> None:
    body = os.urandom(size)
    assert pair.post("/proxy", content=body).content == body
    pieces = (body[at : at + 10_000] for at in range(0, size, 10_000))
    assert pair.post("/proxy", content=pieces).content == body


def test_a_body_nobody_reads_holds_up_nothing(pair: Dev) -> None:
    code = """
response = await env.CALLEE.fetch("http://callee/ignore", method="POST", body=b"x" * 2_000_000)
return await response.text()
"""
    assert run(pair, code) == "not read"


def test_an_answer_nobody_reads_holds_up_nothing(pair: Dev) -> None:
    code = """
body = b"x" * 2_000_000
await env.CALLEE.fetch("http://callee/echo", method="POST", body=body)
"""
    assert run(pair, code) is None


def test_a_response_can_be_an_argument_and_a_result(pair: Dev) -> None:
    code = """
response = await env.CALLEE.reply("text")
return [response.headers["x-rpc"], await env.CALLEE.read(response)]
"""
    assert run(pair, code) == ["1", "text"]


class TestFunctions:
    def test_a_function_is_called_back_across_processes(self, pair: Dev) -> None:
        assert run(pair, "return await env.CALLEE.call(lambda v: v * 2, 21)") == 42
        assert run(pair, "return await env.CALLEE.call_late(str.upper)") == "LATE"

    def test_its_error_comes_back(self, pair: Dev) -> None:
        code = """
def fail():
    raise KeyError("why")
return await outcome(env.CALLEE.call(fail))
"""
        assert "KeyError: 'why'" in run(pair, code)

    def test_a_function_can_be_returned_and_called(self, pair: Dev) -> None:
        code = """
add = await env.CALLEE.counter()
return [await add(2), await add(3)]
"""
        assert run(pair, code) == [2, 5]

    def test_a_function_can_be_passed_on(self, pair: Dev) -> None:
        code = """
add = await env.CALLEE.counter()
return [await env.CALLEE.call(add, 1), await env.CALLEE.call(add, 2)]
"""
        assert run(pair, code) == [1, 3]

    def test_a_function_of_an_event_that_is_over_is_gone(self, pair: Dev) -> None:
        assert run(pair, "workers.kept = await env.CALLEE.counter()") is None
        text = run(pair, "return await outcome(workers.kept(1))")
        assert text == "Error: RPC stub used after being disposed."


class TestObjectsOfAnotherWorker:
    def test_they_are_called_where_their_class_is(self, pair: Dev) -> None:
        code = """
stub = env.COUNTER.getByName("one")
return [await stub.bump(1), await stub.bump(2)]
"""
        assert run(pair, code) == [1, 3]

    def test_their_calls_run_in_order(self, pair: Dev) -> None:
        code = """
stub = env.COUNTER.getByName("ordered")
return await asyncio.gather(*(stub.note(number) for number in range(10)))
"""
        assert run(pair, code) == [[n + 1, n] for n in range(10)]

    def test_they_answer_requests(self, pair: Dev) -> None:
        code = """
stub = env.COUNTER.getByName("web")
return await (await stub.fetch("http://x/", method="POST", body="hi")).text()
"""
        assert run(pair, code) == "object web: hi"

    def test_they_call_functions_back(self, pair: Dev) -> None:
        code = "return await env.COUNTER.getByName('fn').call(lambda name: name + '!')"
        assert run(pair, code) == "fn!"

    def test_a_stub_of_one_can_be_passed_on(self, pair: Dev) -> None:
        code = "return await env.CALLEE.forward(env.COUNTER.getByName('passed'))"
        assert run(pair, code) == 10

    def test_a_stub_stays_broken_once_its_object_was_reset(self, pair: Dev) -> None:
        code = """
stub = env.COUNTER.getByName("reset")
return [
    await outcome(stub.reset()),
    await outcome(stub.note(1)),
    await traits(stub.note(1)),
    await env.COUNTER.getByName("reset").note(2),
]
"""
        reset = ["remote", "durableObjectReset"]
        assert run(pair, code) == ["Error: on purpose", "Error: on purpose", reset, [1, 2]]

    def test_their_alarms_run(self, pair: Dev) -> None:
        run(pair, "await env.COUNTER.getByName('alarmed').wake(1)")
        pair.wait_for("alarm of alarmed")

    def test_ids_are_those_of_the_class_as_it_was_created(self, pair: Dev) -> None:
        code = "return str(env.COUNTER.idFromName('one'))"
        from tsumugi_emulator.durable.ids import from_name, namespace_key

        assert run(pair, code) == from_name(namespace_key("callee", "OldCounter"), "one")


def test_env_can_be_imported(pair: Dev) -> None:
    code = (
        "return [imported_env.GREETING, await imported_env.CALLEE.add(1, 1), workers.env.GREETING]"
    )
    assert run(pair, code) == ["hello", 2, "hello"]


def test_exports_reach_the_own_classes(pair: Dev) -> None:
    assert run(pair, "return await self.ctx.exports.Own.pid() == os.getpid()") is True
    assert run(pair, "return list(self.ctx.props.object_keys())") == []


def test_exports_reach_objects_and_objects_have_exports(pair: Dev) -> None:
    found = run(pair, "return await env.CALLEE.own_object('exported')")
    assert found == ["LoopbackDurableObjectNamespace", "nobody"]


def test_messages_go_from_one_worker_to_the_other(pair: Dev) -> None:
    run(pair, "await env.JOBS.send({'n': 7})")
    pair.wait_for("consumed 7")


def test_a_call_nobody_waits_for_ends_with_its_caller(pair: Dev) -> None:
    run(pair, "asyncio.ensure_future(env.CALLEE.slow())\nawait asyncio.sleep(0.05)")
    pair.wait_for("slow begins")
    pair.wait_for("slow ends")


def test_workers_that_call_each_other_for_ever_are_stopped(pair: Dev) -> None:
    code = """
count = 0
async def again():
    nonlocal count
    count += 1
    return await env.CALLEE.call(again)
return [await outcome(env.CALLEE.call(again)), count]
"""
    text, count = run(pair, code)
    assert "Subrequest depth limit exceeded." in text
    assert count == 8


def test_what_a_request_invokes_is_counted_across_processes(pair: Dev) -> None:
    told = "has invoked Workers more than 32 times"
    after = pair.mark()
    run(pair, "for _ in range(3): await env.CALLEE.busy(9)")
    run(pair, "await env.CALLEE.add(1, 2)")
    assert told not in pair.output[after:]
    run(pair, "for _ in range(3): await env.CALLEE.busy(10)")
    pair.wait_for(told, after=after)


def test_a_worker_that_requests_itself_over_http_is_stopped(
    project: MakeProject, dev: RunDev
) -> None:
    entry = """
from workers import Response, WorkerEntrypoint, fetch

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        try:
            return await fetch(request.url)
        except Exception as error:
            return Response(str(error))
"""
    session = dev(project(entry=entry)).ready()
    answer = session.get("/")
    assert "Subrequest depth limit exceeded." in answer.text
    assert len(answer.headers.get_list("date")) == 1


def test_a_worker_that_does_not_run_is_named(project: MakeProject, dev: RunDev) -> None:
    session = start(project, dev, "-c", "wrangler.json")
    session.wait_for(r'env\.CALLEE \(Worker "callee"\)')
    text = run(session, "return await outcome(env.CALLEE.add(1, 2))")
    assert text.startswith('Error: The Worker "callee" is not running here.')
    assert '"-c path/to/callee/wrangler.jsonc"' in text
    text = run(session, "return await outcome(env.COUNTER.getByName('x').bump(1))")
    assert text.startswith('Error: The Worker "callee" is not running here.')


def test_a_worker_that_does_not_load_says_why(project: MakeProject, dev: RunDev) -> None:
    callee = project("callee", at="callee")
    callee.write("src/version.py", "VERSION = nope\n")
    session = dev(project("caller", at="caller"), *BOTH).ready()
    text = run(session, "return await outcome(env.CALLEE.add(1, 2))")
    reason = "NameError: name 'nope' is not defined"
    assert text.startswith(f'Error: The Worker "callee" failed to start: {reason}')
    callee.write("src/version.py", "VERSION = 2\n")
    eventually(lambda: run(session, "return await outcome(env.CALLEE.add(1, 2))") == 3, "it loads")
    session.wait_for(r"\[callee\] Reloaded in")


def test_an_unknown_entrypoint_is_told_at_the_start(project: MakeProject, dev: RunDev) -> None:
    project("callee", at="callee")
    services = [{"binding": "WRONG", "service": "callee", "entrypoint": "Nmaed"}]
    session = dev(project("caller", at="caller", services=services), *BOTH)
    session.wait_for(r'env\.WRONG is bound to the entrypoint "Nmaed" of "callee"')
    session.ready()
    text = run(session, "return await outcome(env.WRONG.whoami())")
    assert text.startswith('Error: The Worker "callee" has no entrypoint "Nmaed"')


def test_no_call_fails_while_the_other_worker_reloads(project: MakeProject, dev: RunDev) -> None:
    session = start(project, dev)
    callee = Project(session.project.directory.parent / "callee")
    seen: list[str] = []
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            seen.append(session.get("/version").text)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for version in range(2, 6):
        callee.write("src/version.py", f"VERSION = {version}\n")
        eventually(lambda v=version: str(v) in seen[-4:], f"version {version}")
    stop.set()
    for thread in threads:
        thread.join()
    assert set(seen) == {"1", "2", "3", "4", "5"}


@needs_process_ids
def test_a_killed_callee_is_an_error_and_then_back(project: MakeProject, dev: RunDev) -> None:
    session = start(project, dev)
    pid = run(session, "return await env.CALLEE.pid()")
    found: list[Any] = []
    waiting = threading.Thread(
        target=lambda: found.append(run(session, "return await traits(env.CALLEE.slow())"))
    )
    waiting.start()
    session.wait_for("slow begins")
    os.kill(pid, signal.SIGKILL)
    waiting.join()
    assert found == [["Network connection lost.", "retryable"]]
    assert run(session, "return await env.CALLEE.pid()") != pid


@needs_process_ids
def test_a_killed_caller_ends_its_calls(project: MakeProject, dev: RunDev) -> None:
    session = start(project, dev)
    pid = int(session.get("/pid").text)
    waiting = threading.Thread(
        target=lambda: session.post("/run", content="await env.CALLEE.slow()")
    )
    waiting.start()
    session.wait_for("slow begins")
    os.kill(pid, signal.SIGKILL)
    session.wait_for("slow ends")
    waiting.join()
