"""Alarms of objects in the child (python-workers-verified 3.4): handler, info, retries, index."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import pytest
from object_harness import START_MS, WORKER, objects_child
from tsumugi_emulator.durable.alarm_index import AlarmIndex
from tsumugi_emulator.durable.ids import from_name, namespace_key
from tsumugi_emulator.worker import frames

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
class Clocked(DurableObject):
    ran = []
    now_in_it = 0

    async def set(self, ms):
        await self.ctx.storage.setAlarm(ms)

    async def get(self):
        return await self.ctx.storage.getAlarm()

    async def delete(self):
        await self.ctx.storage.deleteAlarm()

    async def fail_in_transaction(self, ms):
        async def work(txn):
            await self.ctx.storage.setAlarm(ms)
            raise ValueError("undone")
        await outcome(self.ctx.storage.transaction(work))

    async def log(self):
        return Clocked.ran

    async def alarm(self, {parameters}):
        Clocked.now_in_it += 1
        assert Clocked.now_in_it == 1
        Clocked.ran.append([{parameters_list}, await self.ctx.storage.getAlarm()])
        Clocked.now_in_it -= 1
        {body}

async def main(env):
    stub = env.CLOCKED.getByName("a")
    {code}
"""
INFO = "info.isRetry, info.retryCount, info.scheduledTime"


def program(code: str, *, body: str = "pass", parameters: str = "info") -> str:
    text = PROGRAM.replace("{code}", code).replace("{body}", body)
    text = text.replace("{parameters_list}", INFO if parameters == "info" else "0")
    return text.replace("self, {parameters}", f"self, {parameters}" if parameters else "self")


def index_rows(directory: Path) -> list[tuple[int, int, int]]:
    index = AlarmIndex.open(directory)
    rows = index.due([namespace_key(WORKER, "Clocked")], now_ms=2**60, limit=10)
    index.close()
    assert all(row.object_id == from_name(row.namespace, "a") for row in rows)
    return [(row.due_ms, row.scheduled_ms, row.retry_count) for row in rows]


DUE = START_MS + 1000


def value(text: str) -> Any:
    return ast.literal_eval(text)


def test_setting_an_alarm_puts_it_into_the_index_and_tells_the_supervisor(tmp_path: Path) -> None:
    with objects_child(program(f"await stub.set({DUE})"), tmp_path) as child:
        child.text()
        assert index_rows(tmp_path) == [(DUE, DUE, 0)]
        assert child.sent_of(frames.AlarmSet) == [frames.AlarmSet(DUE)]


def test_moving_and_deleting_an_alarm_is_followed_by_the_index(tmp_path: Path) -> None:
    with objects_child(program(f"await stub.set({DUE}); await stub.set({DUE + 5})"), tmp_path) as c:
        c.text()
        assert index_rows(tmp_path) == [(DUE + 5, DUE + 5, 0)]
    with objects_child(program("await stub.delete()"), tmp_path) as c:
        c.text()
        assert index_rows(tmp_path) == []


def test_an_alarm_set_in_a_transaction_that_fails_is_not_set(tmp_path: Path) -> None:
    code = f"await stub.fail_in_transaction({DUE}); return await stub.get()"
    with objects_child(program(code), tmp_path) as child:
        assert value(child.text()) is None
        assert index_rows(tmp_path) == []


def test_an_alarm_runs_with_its_info_and_is_over(tmp_path: Path) -> None:
    code = f"await stub.set({DUE}); return [await stub.get(), await stub.log()]"
    with objects_child(program(code), tmp_path) as child:
        child.text()
        child.wait(1000)
        child.run_alarm("Clocked", "a")
        assert index_rows(tmp_path) == []
    with objects_child(program("return await stub.get()"), tmp_path) as child:
        assert value(child.text()) is None


@pytest.mark.parametrize(
    ("parameters", "logged"), [("info", [False, 0, DUE, None]), ("", [0, None])]
)
def test_a_handler_may_take_the_info_or_not(
    parameters: str, logged: list[Any], tmp_path: Path
) -> None:
    set_once = f"await stub.set({DUE}) if not await stub.log() else None; return await stub.log()"
    with objects_child(program(set_once, parameters=parameters), tmp_path) as child:
        child.text()
        child.wait(1000)
        child.run_alarm("Clocked", "a")
        assert value(child.text()) == [logged]


def test_a_handler_that_wants_more_fails_and_is_retried(tmp_path: Path) -> None:
    source = program(f"await stub.set({DUE})", parameters="info, more")
    with objects_child(source, tmp_path) as child:
        child.text()
        child.wait(1000)
        child.run_alarm("Clocked", "a")
        assert "TypeError: missing a required argument: 'more'" in child.logs[-1][1]
        assert index_rows(tmp_path) == [(DUE + 2000, DUE, 1)]


def test_an_alarm_set_in_the_handler_is_kept(tmp_path: Path) -> None:
    body = f"await self.ctx.storage.setAlarm({DUE + 7})"
    code = f"await stub.set({DUE}) if not await stub.log() else None; return await stub.get()"
    with objects_child(program(code, body=body), tmp_path) as child:
        child.text()
        child.wait(1000)
        child.run_alarm("Clocked", "a")
        assert value(child.text()) == DUE + 7
        assert index_rows(tmp_path) == [(DUE + 7, DUE + 7, 0)]


def test_a_failing_handler_is_retried_later_and_keeps_its_time(tmp_path: Path) -> None:
    code = f"await stub.set({DUE}) if not await stub.log() else None; return await stub.get()"
    with objects_child(program(code, body='raise ValueError("x")'), tmp_path) as child:
        child.text()
        child.wait(1000)
        child.run_alarm("Clocked", "a")
        assert value(child.text()) == DUE
        assert index_rows(tmp_path) == [(DUE + 2000, DUE, 1)]
        child.wait(2000)
        child.run_alarm("Clocked", "a", retry_count=1, scheduled_ms=DUE)
        assert index_rows(tmp_path) == [(DUE + 2000 + 4000, DUE, 2)]


def test_after_six_retries_an_alarm_is_given_up(tmp_path: Path) -> None:
    code = f"await stub.set({DUE}) if not await stub.log() else None; return await stub.get()"
    with objects_child(program(code, body='raise ValueError("x")'), tmp_path) as child:
        child.text()
        child.wait(1000)
        child.run_alarm("Clocked", "a", retry_count=6)
        assert index_rows(tmp_path) == []
        assert value(child.text()) is None
        assert "failed 7 times and is given up" in child.logs[-1][1]


def test_an_alarm_that_the_last_attempt_sets_before_it_fails_is_kept(tmp_path: Path) -> None:
    code = f"await stub.set({DUE}) if not await stub.log() else None; return await stub.get()"
    body = f'await self.set({DUE + 7}); raise ValueError("x")'
    with objects_child(program(code, body=body), tmp_path) as child:
        child.text()
        child.wait(1000)
        child.run_alarm("Clocked", "a", retry_count=6)
        assert value(child.text()) == DUE + 7
        assert index_rows(tmp_path) == [(DUE + 7, DUE + 7, 0)]


def test_new_code_that_interrupts_the_last_attempt_does_not_use_it_up(tmp_path: Path) -> None:
    code = f"await stub.set({DUE}); return await stub.get()"
    with objects_child(program(code, body="await asyncio.sleep(60)"), tmp_path) as child:
        child.text()
        child.wait(1000)
        namespace = namespace_key(WORKER, "Clocked")
        frame = frames.Alarm(next(child._ids), namespace, from_name(namespace, "a"), DUE, 6)
        child.loop.call_soon(child.alarms.run, child.objects, frame)
        child.loop.run_until_idle()
        (key,) = child.objects._live
        child.objects.wanted(frames.ObjectWanted(key, True))
        child._wait_for(frame.id, frames.OperationDone)
        assert index_rows(tmp_path) == [(START_MS + 1000 + 64_000, DUE, 6)]


def test_an_alarm_that_was_moved_does_not_run_early(tmp_path: Path) -> None:
    with objects_child(program(f"await stub.set({DUE}); return await stub.log()"), tmp_path) as c:
        c.text()
        c.run_alarm("Clocked", "a")
        assert value(c.text()) == []
        assert index_rows(tmp_path) == [(DUE, DUE, 0)]


def test_a_row_of_the_index_without_an_alarm_is_removed(tmp_path: Path) -> None:
    index = AlarmIndex.open(tmp_path)
    namespace = namespace_key(WORKER, "Clocked")
    index.announce(namespace, from_name(namespace, "a"), DUE)
    index.close()
    with objects_child(program("return await stub.log()"), tmp_path) as child:
        child.run_alarm("Clocked", "a")
        assert value(child.text()) == []
        assert index_rows(tmp_path) == []


def test_calls_enter_while_an_alarm_waits_and_the_alarm_while_a_call_does(tmp_path: Path) -> None:
    body = "await asyncio.sleep(0.01); Clocked.ran.append('end')"
    code = f"await stub.set({DUE}) if not await stub.log() else None; return await stub.log()"
    with objects_child(program(code, body=body), tmp_path) as child:
        child.text()
        child.wait(1000)
        number = next(child._ids)
        namespace = namespace_key(WORKER, "Clocked")
        frame = frames.Alarm(number, namespace, from_name(namespace, "a"), DUE, 0)
        child.loop.call_soon(child.alarms.run, child.objects, frame)
        assert "end" not in child.text()
        child._wait_for(number, frames.OperationDone)
        assert "end" in child.text()
