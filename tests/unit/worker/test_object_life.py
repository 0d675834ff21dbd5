"""How objects begin, are reset and leave memory (python-workers-verified 1.2, 3.1)."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path
from typing import Any

import apsw
import pytest
from object_harness import WORKER, ObjectsUnderTest, objects_child
from tsumugi_emulator.durable.ids import from_name, namespace_key
from tsumugi_emulator.durable.object_failure import storage_failure
from tsumugi_emulator.worker import frames

MAIN = """
async def main(env):
{code}
"""


def program(source: str, code: str) -> str:
    body = textwrap.indent(textwrap.dedent(code), "    ")
    return textwrap.dedent(source) + MAIN.replace("{code}", body)


def answer(directory: Path, source: str, code: str) -> Any:
    with objects_child(program(source, code), directory) as child:
        text = child.text()
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


BOX = """
class Box(DurableObject):
    made = 0

    def __init__(self, ctx, env):
        super().__init__(ctx, env)
        Box.made += 1
        self.number = Box.made

    async def which(self):
        return self.number

    async def who(self):
        return [self.ctx.id.name, str(self.ctx.id)]

    async def abort(self, reason=None):
        await self.ctx.storage.put("before", 1)
        self.ctx.abort(reason) if reason else self.ctx.abort()

    async def blocked_failure(self):
        async def fail():
            raise ValueError("inside")
        await self.ctx.blockConcurrencyWhile(fail)
        await self.ctx.storage.put("after", 1)

    async def stored(self):
        return await self.ctx.storage.list()

    async def slow(self):
        await asyncio.sleep(0.01)
        return "slow"

    async def block(self, value):
        return await self.ctx.blockConcurrencyWhile(value)

    async def try_block(self):
        texts = []
        async def nothing():
            pass
        coroutine = nothing()
        for value in (coroutine, 5):
            try:
                self.ctx.blockConcurrencyWhile(value)
            except JsException as error:
                texts.append(str(error))
        coroutine.close()
        return texts

    async def results(self):
        block = self.ctx.blockConcurrencyWhile
        async def pair():
            return (1, {"a": 2})
        return repr([await block(pair), await block(lambda: {"b": (1,)})])
"""


# -- Identity --------------------------------------------------------------------------------------


TRAITS = """
async def traits(awaitable):
    try:
        await awaitable
    except JsException as error:
        names = ("remote", "retryable", "overloaded", "durableObjectReset")
        return [name for name in names if getattr(error, name, False)]
"""


def test_one_object_is_one_instance_while_it_is_used(tmp_path: Path) -> None:
    code = """
        a, b = env.BOX.getByName("a"), env.BOX.getByName("b")
        again = env.BOX.get(env.BOX.idFromName("a"))
        return [await a.which(), await b.which(), await again.which()]
    """
    assert answer(tmp_path, BOX, code) == [1, 2, 1]


def test_an_object_knows_its_name(tmp_path: Path) -> None:
    code = """
        named, unique = env.BOX.getByName("a"), env.BOX.get(env.BOX.newUniqueId())
        return [(await named.who())[0], (await unique.who())[0]]
    """
    assert answer(tmp_path, BOX, code) == ["a", None]


def test_the_name_is_known_after_a_restart_even_to_an_object_found_by_its_id(
    tmp_path: Path,
) -> None:
    answer(tmp_path, BOX, 'return await env.BOX.getByName("a").stored()')
    object_id = from_name(namespace_key(WORKER, "Box"), "a")
    code = f"""
        ns = env.BOX
        return await ns.get(ns.idFromString("{object_id}")).who()
    """
    assert answer(tmp_path, BOX, code) == ["a", object_id]


# -- Reset -----------------------------------------------------------------------------------------


def test_abort_breaks_the_stub_and_a_new_stub_finds_a_new_instance(tmp_path: Path) -> None:
    code = """
        stub = env.BOX.getByName("a")
        first = await stub.which()
        aborted = await outcome(stub.abort("why"))
        still = await outcome(stub.which())
        fresh = env.BOX.getByName("a")
        return [first, aborted, still, await fresh.which(), await fresh.stored()]
    """
    assert answer(tmp_path, BOX, code) == [1, "Error: why", "Error: why", 2, {"before": 1}]


def test_abort_without_a_reason_has_productions_text(tmp_path: Path) -> None:
    got = answer(tmp_path, BOX, 'return await outcome(env.BOX.getByName("a").abort())')
    assert got == "Error: Application called abort() to reset Durable Object."


def test_an_error_tells_that_its_object_was_reset(tmp_path: Path) -> None:
    code = """
        stub = env.BOX.getByName("a")
        await stub.which()
        return [await traits(stub.blocked_failure()), await traits(stub.which()),
                await traits(env.BOX.getByName("a").abort("why")),
                await traits(env.BOX.getByName("a").nope())]
    """
    reset = ["remote", "durableObjectReset"]
    assert answer(tmp_path, BOX + TRAITS, code) == [reset, reset, reset, ["remote"]]


def test_abort_ends_the_other_calls_too(tmp_path: Path) -> None:
    code = """
        slow = asyncio.ensure_future(outcome(env.BOX.getByName("a").slow()))
        await asyncio.sleep(0)
        await outcome(env.BOX.getByName("a").abort("gone"))
        return await slow
    """
    assert answer(tmp_path, BOX, code) == "Error: gone"


def test_a_failing_critical_section_resets_the_object(tmp_path: Path) -> None:
    code = """
        stub = env.BOX.getByName("a")
        await stub.which()
        failed = await outcome(stub.blocked_failure())
        fresh = env.BOX.getByName("a")
        return [failed, await outcome(stub.which()), await fresh.which(), await fresh.stored()]
    """
    failed, still, number, stored = answer(tmp_path, BOX, code)
    assert failed.startswith("Error: PythonError: Traceback (most recent call last):")
    assert failed.strip().endswith("ValueError: inside")
    assert still == failed
    assert (number, stored) == (2, {})


def test_what_a_critical_section_returns_is_passed_as_it_is(tmp_path: Path) -> None:
    got = answer(tmp_path, BOX, 'return await env.BOX.getByName("a").results()')
    assert got == repr([(1, {"a": 2}), {"b": (1,)}])


def test_a_critical_section_must_be_a_function(tmp_path: Path) -> None:
    got = answer(tmp_path, BOX, 'return await env.BOX.getByName("a").try_block()')
    text = (
        "TypeError: Failed to execute 'blockConcurrencyWhile' on 'DurableObjectState': parameter 1 "
        "is not of type 'function'."
    )
    assert got == [text, text]


def test_a_critical_section_of_30_seconds_resets_the_object(tmp_path: Path) -> None:
    source = BOX + "\n    async def hang(self):\n        await self.block(asyncio.Event().wait)\n"
    code = """
        stub = env.BOX.getByName("a")
        return [await outcome(stub.hang()), await traits(stub.which())]
    """
    with objects_child(program(source + TRAITS, code), tmp_path) as child:
        number = child.start_fetch()
        child.loop.run_until_complete(child.clock.settle())
        child.wait(30_000)
        text = child.answer_to(number).body.decode()
    assert "blockConcurrencyWhile() in a Durable Object waited for too long" in text
    assert "['remote', 'overloaded', 'durableObjectReset']" in text


# -- Construction ----------------------------------------------------------------------------------

CONSTRUCTED = """
class Ready(DurableObject):
    def __init__(self, ctx, env):
        super().__init__(ctx, env)
        self.value = None
        async def load():
            await asyncio.sleep(0.01)
            self.value = "loaded"
        self.ctx.blockConcurrencyWhile(load)

    async def get(self):
        return self.value

class Boom(DurableObject):
    def __init__(self, ctx, env):
        raise ValueError("ctor-boom")

    async def get(self):
        return 1

class Bare(DurableObject):
    def __init__(self, ctx, env):
        self.kinds = [type(ctx).__name__, type(env).__name__, hasattr(self, "env")]

    async def get(self):
        return self.kinds
"""


def test_a_section_in_the_constructor_delays_the_first_call(tmp_path: Path) -> None:
    code = """
        stub = env.READY.getByName("a")
        return await asyncio.gather(stub.get(), stub.get())
    """
    assert answer(tmp_path, CONSTRUCTED, code) == ["loaded", "loaded"]


def test_a_constructor_that_raises_fails_every_call(tmp_path: Path) -> None:
    code = """
        return [await outcome(env.BOOM.getByName("a").get()) for _ in range(2)]
    """
    for failed in answer(tmp_path, CONSTRUCTED, code):
        assert failed.startswith("Error: PythonError: Traceback")
        assert failed.strip().endswith("ValueError: ctor-boom")


def test_a_constructor_gets_wrapped_arguments(tmp_path: Path) -> None:
    got = answer(tmp_path, CONSTRUCTED, 'return await env.BARE.getByName("a").get()')
    assert got == ["DurableObjectContext", "_EnvWrapper", False]


# -- Work that goes on -----------------------------------------------------------------------------

TASKS = """
class Tasks(DurableObject):
    done = []

    async def later(self):
        async def work():
            await asyncio.sleep(0.005)
            await self.ctx.storage.put("done", 1)
        self.task = asyncio.create_task(work())

    async def wait_until_coroutine(self):
        async def never():
            Tasks.done.append("ran")
        self.ctx.waitUntil(never())
        await asyncio.sleep(0.005)
        return Tasks.done

    async def wait_until_proxy(self):
        async def work():
            await asyncio.sleep(0.005)
            await self.ctx.storage.put("done", 2)
        self.ctx.waitUntil(create_proxy(asyncio.ensure_future(work())))

    async def send(self):
        self.env.QUEUE.send({"un": "awaited"})

    async def stored(self):
        await asyncio.sleep(0.01)
        return await self.ctx.storage.get("done")
"""


@pytest.mark.parametrize(("method", "stored"), [("later", 1), ("wait_until_proxy", 2)])
def test_what_an_object_left_running_finishes(method: str, stored: int, tmp_path: Path) -> None:
    code = f"""
        stub = env.TASKS.getByName("a")
        await stub.{method}()
        return await stub.stored()
    """
    assert answer(tmp_path, TASKS, code) == stored


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
def test_a_coroutine_given_to_wait_until_never_runs_and_says_so(tmp_path: Path) -> None:
    code = 'return await env.TASKS.getByName("a").wait_until_coroutine()'
    with objects_child(program(TASKS, code), tmp_path) as child:
        assert child.text() == "[]"
        (warning,) = child.warnings
    assert "This borrowed proxy was automatically destroyed" in warning


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_send_nobody_awaits_leaves_an_object(tmp_path: Path) -> None:
    code = """
        await env.TASKS.getByName("a").send()
        await env.TASKS.getByName("a").stored()
    """
    with objects_child(program(TASKS, code), tmp_path) as child:
        child.text()
        assert child.messages_sent == [b'{"un":"awaited"}']


def test_a_call_may_wait_for_whatever_a_later_one_does(tmp_path: Path) -> None:
    source = """
class Bell(DurableObject):
    def __init__(self, ctx, env):
        super().__init__(ctx, env)
        self.rung = asyncio.Event()

    async def wait(self):
        await self.rung.wait()
        return "heard"

    async def ring(self):
        self.rung.set()
        return "rung"

async def main(env):
    bell = env.BELL.getByName("a")
    return await (bell.ring() if env.RINGS else bell.wait())
"""
    with objects_child(source, tmp_path) as child:
        child.env._props["RINGS"] = False
        waiting = child.start_fetch()
        child.loop.run_until_idle()
        assert child.objects.events.active, "nothing can wake it now, and it waits"
        child.env._props["RINGS"] = True
        assert child.text() == "'rung'"
        assert child.answer_to(waiting).body == b"'heard'"


# -- Memory and ownership --------------------------------------------------------------------------

WHICH = 'return await env.BOX.getByName("a").which()'


def test_an_idle_object_leaves_memory_after_ten_seconds(tmp_path: Path) -> None:
    with objects_child(program(BOX, WHICH), tmp_path) as child:
        assert child.text() == "1"
        child.wait(9_000)
        assert child.text() == "1"
        child.wait(9_000)
        assert child.sent_of(frames.ReleaseObject) == []
        child.wait(2_000)
        assert len(child.sent_of(frames.ReleaseObject)) == 1
        assert child.text() == "2"


def test_only_so_many_idle_objects_stay_in_memory(tmp_path: Path) -> None:
    code = """
        for n in range(210):
            await env.BOX.getByName(str(n)).which()
    """
    with objects_child(program(BOX, code), tmp_path) as child:
        child.text()
        assert len(child.objects._live) == 200


def test_an_object_is_asked_for_before_its_first_use_and_waits(tmp_path: Path) -> None:
    with objects_child(program(BOX, WHICH), tmp_path) as child:
        child.grant = False
        number = child.start_fetch()
        child.loop.run_until_complete(child.clock.settle())
        (asked,) = child.sent_of(frames.AcquireObject)
        assert child.sent_of(frames.Response) == []
        child.loop.call_soon(child.objects.granted, frames.ObjectGranted(asked.key, False))
        assert child.answer_to(number).body == b"1"


def test_an_object_wanted_elsewhere_leaves_when_its_calls_have_ended(tmp_path: Path) -> None:
    code = 'return await env.BOX.getByName("a").slow()'
    with objects_child(program(BOX, code), tmp_path) as child:
        number = child.start_fetch()
        child.loop.run_until_complete(child.clock.settle())
        (asked,) = child.sent_of(frames.AcquireObject)
        child.objects.wanted(frames.ObjectWanted(asked.key, False))
        assert child.sent_of(frames.ReleaseObject) == []
        assert child.answer_to(number).body == b"'slow'"
        assert child.sent_of(frames.ReleaseObject) == [frames.ReleaseObject(asked.key)]


def test_an_object_that_must_go_is_reset(tmp_path: Path) -> None:
    code = """
        stub = env.BOX.getByName("a")
        return [await outcome(stub.slow()), await traits(stub.which())]
    """
    with objects_child(program(BOX + TRAITS, code), tmp_path) as child:
        number = child.start_fetch()
        child.loop.run_until_complete(child.clock.settle())
        (asked,) = child.sent_of(frames.AcquireObject)
        child.objects.wanted(frames.ObjectWanted(asked.key, True))
        text = child.answer_to(number).body.decode()
    assert "Durable Object reset because its code was updated." in text
    assert "['remote', 'retryable', 'durableObjectReset']" in text


def test_a_draining_child_lets_go_at_once(tmp_path: Path) -> None:
    with objects_child(program(BOX, WHICH), tmp_path) as child:
        child.text()
        child.objects.drain()
        assert len(child.sent_of(frames.ReleaseObject)) == 1
        assert child.text() == "2"
        assert len(child.sent_of(frames.ReleaseObject)) == 2


def test_starting_opens_no_object(tmp_path: Path) -> None:
    answer(tmp_path, BOX, 'return await env.BOX.getByName("a").stored()')
    with objects_child(program(BOX, WHICH), tmp_path) as child:
        assert child.sent_of(frames.AcquireObject) == []
        assert child.objects._live == {}


def test_an_object_stays_in_memory_as_long_as_somebody_has_a_function_of_it(
    tmp_path: Path,
) -> None:
    source = """
class Counter(DurableObject):
    async def counter(self):
        total = 0
        def add(by):
            nonlocal total
            total += by
            return total
        return add

async def main(env):
    add = await env.COUNTER.getByName("a").counter()
    await add(1)
    await env.GATE[0]
    return await add(1)
"""
    with objects_child(source, tmp_path) as child:
        opens = child.loop.create_future()
        child.env._props["GATE"] = [opens]
        number = child.start_fetch()
        child.loop.run_until_complete(child.clock.settle())
        child.wait(30_000)
        assert child.objects._live, "it is held"
        opens.set_result(None)
        assert child.answer_to(number).body == b"2"
        child.wait(30_000)
        assert not child.objects._live


def has_open_section(child: ObjectsUnderTest) -> bool:
    return any(live.gate.locked for live in child.objects._live.values())


@pytest.mark.parametrize("is_reset", [True, False])
def test_an_open_transaction_is_undone_with_its_object(is_reset: bool, tmp_path: Path) -> None:
    source = f"""{BOX}
    async def half(self):
        await self.ctx.storage.put("before", 1)
        async def work(txn):
            await txn.put("half", 1)
            await self.ctx.storage.put("other half", 1)
            await self.ctx.storage.setAlarm(9e12)
            await asyncio.sleep(60)
        await asyncio.sleep(0.004)
        await self.ctx.storage.transaction(work)

    async def alarm(self):
        pass

    async def all(self):
        return [await self.ctx.storage.list(), await self.ctx.storage.getAlarm()]
"""
    code = 'return await outcome(env.BOX.getByName("a").half())'
    with objects_child(program(source, code), tmp_path) as child:
        child.start_fetch()
        child.loop.run_until(lambda: has_open_section(child), "the transaction")
        child.loop.run_until_idle()  # it has written
        (key,) = child.objects._live
        if is_reset:
            child.objects.wanted(frames.ObjectWanted(key, True))
        child.objects.close()
    seen = answer(tmp_path, source, 'return await env.BOX.getByName("a").all()')
    assert seen == [{"before": 1}, None]


# -- Files that cannot be used ---------------------------------------------------------------------


@pytest.mark.parametrize("found_by", ['getByName("a")', "get(ns.idFromString(str(named)))"])
def test_a_file_that_cannot_be_used_is_named_and_breaks_nothing_else(
    found_by: str, tmp_path: Path
) -> None:
    code = f"""
        ns = env.BOX
        named = ns.idFromName("a")
        return [await outcome(ns.{found_by}.keep()), await traits(ns.{found_by}.keep()),
                await ns.getByName("b").keep()]
    """
    keep = "    async def keep(self):\n        await self.ctx.storage.put('k', 1)\n"
    source = f"{BOX}\n{keep}{TRAITS}"
    assert answer(tmp_path, source, 'return await env.BOX.getByName("a").keep()') is None
    (path,) = tmp_path.rglob(f"{from_name(namespace_key(WORKER, 'Box'), 'a')}.sqlite")
    path.write_bytes(b"no database" * 1000)
    path.with_name(f"{path.name}-wal").unlink(missing_ok=True)
    text, known, beside = answer(tmp_path, source, code)
    assert text == (
        f"Error: internal error: the storage of this object, {path}, cannot be used: file is not a "
        "database: the file is damaged: move it away, and the object begins anew."
    )
    assert known == ["remote", "durableObjectReset"]
    assert beside is None


@pytest.mark.parametrize(
    ("error", "step"),
    [
        (apsw.BusyError("database is locked"), "close the program that has the file open."),
        (apsw.FullError("database or disk is full"), "make room on the disk."),
        (apsw.ReadOnlyError("readonly"), "the file must be there for this user to read and write."),
        (apsw.InternalError("odd"), "cannot be used: odd."),
    ],
)
def test_what_to_do_about_a_file_is_told(error: apsw.Error, step: str) -> None:
    assert storage_failure(Path("/state/a.sqlite"), error).endswith(step)
