"""How objects are reset (python-workers-verified 1.2, 3.1), and what is undone with them."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from object_harness import WORKER, ObjectsUnderTest, answer_of, objects_child, with_main
from object_programs import BOX, TRAITS
from tsumugi_emulator.durable.ids import from_name, namespace_key
from tsumugi_emulator.durable.object_failure import storage_failure
from tsumugi_emulator.worker import frames


def test_abort_breaks_the_stub_and_a_new_stub_finds_a_new_instance(tmp_path: Path) -> None:
    code = """
        stub = env.BOX.getByName("a")
        first = await stub.which()
        aborted = await outcome(stub.abort("why"))
        still = await outcome(stub.which())
        fresh = env.BOX.getByName("a")
        return [first, aborted, still, await fresh.which(), await fresh.stored()]
    """
    assert answer_of(tmp_path, BOX, code) == [1, "Error: why", "Error: why", 2, {"before": 1}]


def test_abort_without_a_reason_has_productions_text(tmp_path: Path) -> None:
    got = answer_of(tmp_path, BOX, 'return await outcome(env.BOX.getByName("a").abort())')
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
    assert answer_of(tmp_path, BOX + TRAITS, code) == [reset, reset, reset, ["remote"]]


def test_abort_ends_the_other_calls_too(tmp_path: Path) -> None:
    code = """
        slow = asyncio.ensure_future(outcome(env.BOX.getByName("a").slow()))
        await asyncio.sleep(0)
        await outcome(env.BOX.getByName("a").abort("gone"))
        return await slow
    """
    assert answer_of(tmp_path, BOX, code) == "Error: gone"


def test_a_failing_critical_section_resets_the_object(tmp_path: Path) -> None:
    code = """
        stub = env.BOX.getByName("a")
        await stub.which()
        failed = await outcome(stub.blocked_failure())
        fresh = env.BOX.getByName("a")
        return [failed, await outcome(stub.which()), await fresh.which(), await fresh.stored()]
    """
    failed, still, number, stored = answer_of(tmp_path, BOX, code)
    assert failed.startswith("Error: PythonError: Traceback (most recent call last):")
    assert failed.strip().endswith("ValueError: inside")
    assert still == failed
    assert (number, stored) == (2, {})


def test_what_a_critical_section_returns_is_passed_as_it_is(tmp_path: Path) -> None:
    got = answer_of(tmp_path, BOX, 'return await env.BOX.getByName("a").results()')
    assert got == repr([(1, {"a": 2}), {"b": (1,)}])


def test_a_critical_section_must_be_a_function(tmp_path: Path) -> None:
    got = answer_of(tmp_path, BOX, 'return await env.BOX.getByName("a").try_block()')
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
    with objects_child(with_main(source + TRAITS, code), tmp_path) as child:
        number = child.start_fetch()
        child.loop.run_until_complete(child.clock.settle())
        child.wait(30_000)
        text = child.answer_to(number).body.decode()
    assert "blockConcurrencyWhile() in a Durable Object waited for too long" in text
    assert "['remote', 'overloaded', 'durableObjectReset']" in text


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
    with objects_child(with_main(source, code), tmp_path) as child:
        child.start_fetch()
        child.loop.run_until(lambda: has_open_section(child), "the transaction")
        child.loop.run_until_idle()  # it has written
        (key,) = child.objects._live
        if is_reset:
            child.objects.wanted(frames.ObjectWanted(key, True))
        child.objects.close()
    seen = answer_of(tmp_path, source, 'return await env.BOX.getByName("a").all()')
    assert seen == [{"before": 1}, None]


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
    assert answer_of(tmp_path, source, 'return await env.BOX.getByName("a").keep()') is None
    (path,) = tmp_path.rglob(f"{from_name(namespace_key(WORKER, 'Box'), 'a')}.sqlite")
    path.write_bytes(b"no database" * 1000)
    path.with_name(f"{path.name}-wal").unlink(missing_ok=True)
    text, known, beside = answer_of(tmp_path, source, code)
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
