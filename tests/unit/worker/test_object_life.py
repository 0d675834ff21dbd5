"""How objects begin and leave memory (python-workers-verified 1.2, 3.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from object_harness import WORKER, answer_of, objects_child, with_main
from object_programs import BOX, TRAITS
from tsumugi_emulator.durable.ids import from_name, namespace_key
from tsumugi_emulator.worker import frames

if TYPE_CHECKING:
    from pathlib import Path


def test_one_object_is_one_instance_while_it_is_used(tmp_path: Path) -> None:
    code = """
        a, b = env.BOX.getByName("a"), env.BOX.getByName("b")
        again = env.BOX.get(env.BOX.idFromName("a"))
        return [await a.which(), await b.which(), await again.which()]
    """
    assert answer_of(tmp_path, BOX, code) == [1, 2, 1]


def test_an_object_knows_its_name(tmp_path: Path) -> None:
    code = """
        named, unique = env.BOX.getByName("a"), env.BOX.get(env.BOX.newUniqueId())
        return [(await named.who())[0], (await unique.who())[0]]
    """
    assert answer_of(tmp_path, BOX, code) == ["a", None]


def test_the_name_is_known_after_a_restart_even_to_an_object_found_by_its_id(
    tmp_path: Path,
) -> None:
    answer_of(tmp_path, BOX, 'return await env.BOX.getByName("a").stored()')
    object_id = from_name(namespace_key(WORKER, "Box"), "a")
    code = f"""
        ns = env.BOX
        return await ns.get(ns.idFromString("{object_id}")).who()
    """
    assert answer_of(tmp_path, BOX, code) == ["a", object_id]


WHICH = 'return await env.BOX.getByName("a").which()'


def test_an_idle_object_leaves_memory_after_ten_seconds(tmp_path: Path) -> None:
    with objects_child(with_main(BOX, WHICH), tmp_path) as child:
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
    with objects_child(with_main(BOX, code), tmp_path) as child:
        child.text()
        assert len(child.objects._live) == 200


def test_an_object_is_asked_for_before_its_first_use_and_waits(tmp_path: Path) -> None:
    with objects_child(with_main(BOX, WHICH), tmp_path) as child:
        child.grant = False
        number = child.start_fetch()
        child.loop.run_until_complete(child.clock.settle())
        (asked,) = child.sent_of(frames.AcquireObject)
        assert child.sent_of(frames.Response) == []
        child.loop.call_soon(child.objects.granted, frames.ObjectGranted(asked.key, False))
        assert child.answer_to(number).body == b"1"


def test_an_object_wanted_elsewhere_leaves_when_its_calls_have_ended(tmp_path: Path) -> None:
    code = 'return await env.BOX.getByName("a").slow()'
    with objects_child(with_main(BOX, code), tmp_path) as child:
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
    with objects_child(with_main(BOX + TRAITS, code), tmp_path) as child:
        number = child.start_fetch()
        child.loop.run_until_complete(child.clock.settle())
        (asked,) = child.sent_of(frames.AcquireObject)
        child.objects.wanted(frames.ObjectWanted(asked.key, True))
        text = child.answer_to(number).body.decode()
    assert "Durable Object reset because its code was updated." in text
    assert "['remote', 'retryable', 'durableObjectReset']" in text


def test_a_draining_child_lets_go_at_once(tmp_path: Path) -> None:
    with objects_child(with_main(BOX, WHICH), tmp_path) as child:
        child.text()
        child.objects.drain()
        assert len(child.sent_of(frames.ReleaseObject)) == 1
        assert child.text() == "2"
        assert len(child.sent_of(frames.ReleaseObject)) == 2


def test_starting_opens_no_object(tmp_path: Path) -> None:
    answer_of(tmp_path, BOX, 'return await env.BOX.getByName("a").stored()')
    with objects_child(with_main(BOX, WHICH), tmp_path) as child:
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
