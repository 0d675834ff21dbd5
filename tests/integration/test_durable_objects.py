"""Durable Objects under ``tsumugi dev``: what was acknowledged survives, one process at a time."""

from __future__ import annotations

import os
import re
import signal
import threading
from typing import TYPE_CHECKING, Any

import httpx
from dev_session import SLOWNESS, WITHIN_S, Dev, Project, eventually

if TYPE_CHECKING:
    from collections.abc import Callable

    from gates import Gate

type MakeProject = Callable[..., Project]
type RunDev = Callable[..., Dev]


class Load:
    """Bumps counters from several connections and remembers every number it was told."""

    def __init__(self, session: Dev, names: tuple[str, ...], *, connections: int = 4) -> None:
        self._url = session.url
        self._names = names
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self.acknowledged: dict[str, list[tuple[int, str]]] = {name: [] for name in names}
        self.refused = 0
        self._threads = [
            threading.Thread(target=self._run, args=(number,)) for number in range(connections)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def count(self) -> int:
        with self._lock:
            return sum(map(len, self.acknowledged.values()))

    def _run(self, number: int) -> None:
        with httpx.Client(base_url=self._url, timeout=2 * WITHIN_S, trust_env=False) as client:
            while not self._stop.is_set():
                name = self._names[number % len(self._names)]
                number += 1
                try:
                    answer = client.post(f"/bump?name={name}")
                    answer.raise_for_status()
                except httpx.HTTPError:
                    with self._lock:
                        self.refused += 1
                    continue
                n, _pid, version = answer.json()
                with self._lock:
                    self.acknowledged[name].append((n, version))

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(30)


def read(session: Dev, name: str) -> dict[str, Any]:
    answer: dict[str, Any] = session.get(f"/read?name={name}").json()
    return answer


def check(session: Dev, load: Load) -> None:
    """Every number was given out once, and none that was acknowledged is missing."""
    for name, told in load.acknowledged.items():
        numbers = [n for n, _ in told]
        assert len(set(numbers)) == len(numbers), f"{name}: a number was given out twice"
        stored = read(session, name)
        assert stored["log"] == list(range(1, stored["n"] + 1))
        assert set(numbers) <= set(stored["log"])


def test_an_object_keeps_its_state_over_reloads_and_restarts(
    project: MakeProject, dev: RunDev
) -> None:
    made = project("objects")
    first = dev(made).ready()
    assert [first.post("/bump").json()[0] for _ in range(3)] == [1, 2, 3]
    assert first.post("/bump?name=b").json()[0] == 1
    made.replace("src/entry.py", '"v1"', '"v2"')
    first.wait_for("Reloaded in")
    assert first.post("/bump").json()[0::2] == [4, "v2"]
    assert first.stop() == 0
    second = dev(made).ready()
    assert second.post("/bump").json()[0] == 5
    assert read(second, "a")["log"] == [1, 2, 3, 4, 5]


def test_ids_can_be_made_while_importing_and_stubs_cannot(
    project: MakeProject, dev: RunDev
) -> None:
    same, refusal = dev(project("objects")).ready().get("/import").json()
    assert same
    assert "Disallowed operation called within global scope" in refusal


def test_an_object_is_never_in_two_processes_during_reloads_under_load(
    project: MakeProject, dev: RunDev
) -> None:
    made = project("objects")
    session = dev(made).ready()
    load = Load(session, ("a", "b"))
    for number in range(1, 4):
        target = load.count + 50
        eventually(lambda target=target: load.count >= target, "calls are answered")
        made.replace("src/entry.py", f'"v{number}"', f'"v{number + 1}"')
        session.wait_for("Reloaded in", times=number)
    target = load.count + 50
    eventually(lambda: load.count >= target, "calls are answered after the reloads")
    load.stop()
    assert load.refused == 0
    check(session, load)
    for told in load.acknowledged.values():
        # It may even go back once, for a request the old process had begun: but one at a time.
        assert len({version for _, version in told}) > 1


def test_a_call_that_is_running_finishes_in_the_old_code_before_the_new_code_gets_the_object(
    project: MakeProject, dev: RunDev, gate: Gate
) -> None:
    made = project("objects")
    session = dev(made).ready()
    answers: dict[str, Any] = {}

    def call(path: str) -> None:
        answers[path] = session.get(path).json()

    slow = threading.Thread(target=call, args=(f"/slow?gate={gate.url}",))
    slow.start()
    session.wait_for("slow call began")
    made.replace("src/entry.py", '"v1"', '"v2"')
    session.wait_for("Reloaded in")
    after = threading.Thread(target=call, args=("/bump",))
    after.start()
    assert answers == {}
    gate.open()
    slow.join()
    after.join()
    assert answers[f"/slow?gate={gate.url}"] == "v1"
    assert answers["/bump"][2] == "v2"


def test_kill_9_of_the_child_in_a_burst_loses_nothing_that_was_acknowledged(
    project: MakeProject, dev: RunDev
) -> None:
    made = project("objects")
    session = dev(made).ready()
    load = Load(session, ("a", "b", "c"))
    for kills in range(1, 4):
        target = load.count + 60
        eventually(lambda target=target: load.count >= target, "calls are answered")
        os.kill(session.serving_child(), signal.SIGKILL)
        session.wait_for("starting it again", times=kills)
    target = load.count + 30
    eventually(lambda: load.count >= target, "calls are answered after the kills")
    load.stop()
    check(session, load)


def test_kill_9_of_everything_in_a_burst_loses_nothing_that_was_acknowledged(
    project: MakeProject, dev: RunDev
) -> None:
    made = project("objects")
    first = dev(made).ready()
    load = Load(first, ("a", "b"))
    eventually(lambda: load.count >= 100, "calls are answered")
    first.kill()
    load.stop()
    check(dev(made).ready(), load)


def test_an_alarm_runs(project: MakeProject, dev: RunDev) -> None:
    session = dev(project("objects")).ready()
    session.post("/alarm?ms=50&name=x")
    session.wait_for("alarm of x0 v1 retry 0")
    eventually(lambda: session.get("/alarm/get?name=x0").json() is None, "the alarm is over")


def test_an_alarm_survives_a_reload(project: MakeProject, dev: RunDev) -> None:
    made = project("objects")
    session = dev(made).ready()
    session.post(f"/alarm?ms={2000 * SLOWNESS}&name=x")
    made.replace("src/entry.py", '"v1"', '"v2"')
    session.wait_for("Reloaded in")
    session.wait_for("alarm of x0 v2 retry 0")
    assert session.count("alarm of x0") == 1


def test_an_alarm_survives_kill_9_of_everything_and_fires_at_the_next_start(
    project: MakeProject, dev: RunDev
) -> None:
    made = project("objects")
    first = dev(made).ready()
    first.post("/alarm?ms=1500&name=x")
    first.kill()
    second = dev(made).ready()
    second.wait_for("alarm of x0 v1 retry 0")


def test_overdue_alarms_run_in_order_of_their_times(project: MakeProject, dev: RunDev) -> None:
    made = project("objects")
    first = dev(made).ready()
    first.post(f"/alarm?ms={5000 * SLOWNESS}&name=x&count=300")
    assert first.stop() == 0
    assert "alarm of" not in first.output
    eventually(lambda: overdue(made, 300), "the alarms are overdue", within_s=20 * SLOWNESS)
    second = dev(made).ready()
    second.wait_for("alarm of x299 ", within_s=20 * SLOWNESS)
    ran = re.findall(r"alarm of x(\d+) ", second.output)
    assert ran == [str(number) for number in range(300)]


def overdue(made: Project, count: int) -> bool:
    import time

    from tsumugi_emulator.durable.alarm_index import AlarmIndex

    index = AlarmIndex.open(made.directory / ".wrangler" / "tsumugi" / "do")
    now_ms = int(time.time() * 1000)
    found = index.due(["objects-Clocked"], now_ms=now_ms, limit=count + 1)
    index.close()
    return len(found) == count


def test_a_class_that_is_missing_is_told_with_the_binding(
    project: MakeProject, dev: RunDev
) -> None:
    made = project("objects")
    made.replace("src/entry.py", "class Counter(", "class Kounter(")
    session = dev(made)
    session.wait_for(r'src/entry\.py: the Durable Object binding "COUNTER" needs a class Counter')
