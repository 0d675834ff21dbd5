"""The wheel installs into real Pyodide, and jobs go from enqueue to COMPLETED there.

Objects, queue and database are plain JavaScript (host/jobs.mjs); everything in Python is what
production has. Where pydantic is not to be had (``jobs_run.ABSENT``) payloads are plain JSON and
there is no API: all the rest must work without it.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache

import jobs_run
import pytest
from judge import GENERATIONS, node_available

MANY = 200
#: Three bytes each: more than a message holds.
LARGE = 50_000
#: What may cross between Python and JavaScript from an enqueue to the read model: functions and
#: methods that are called, properties and items that are read, values that are converted.
OF_A_LONE_JOB = {"calls": 180, "accesses": 330, "conversions": 1_200}
#: The same for each of many. Its message is an item of the batch and its body is a text: these two
#: accesses and conversions are all that grows with the jobs.
OF_EACH_OF_MANY = {"calls": 1.2, "accesses": 4.2, "conversions": 10.0}

#: One generation in every run; the others take as long again.
VERSIONS = [
    pytest.param(version, marks=() if version == "3.14" else pytest.mark.long)
    for version in GENERATIONS
]

pytestmark = [
    pytest.mark.timeout(240),
    pytest.mark.skipif(not node_available(), reason="needs node and npm"),
]


def enqueue(name, performer, *payloads):
    return name, "fetch", {
        "method": "POST", "place": "/enqueue-many", "body": [performer, payloads],
    }  # fmt: skip


def charge(cents, key):
    return {"payload": {"cents": cents}, "options": {"concurrency_key": key}}


def adding(name, count):
    """Enqueue, perform, and bring the read model up to date, each a step."""
    numbers = [{"a": number, "b": 2} for number in range(count)]
    return [
        enqueue(name, "Add", *numbers),
        (f"{name}: performed", "follow", 0),
        (f"{name}: projected", "follow", 2_000),
    ]


STEPS = [
    *adding("first", 1),
    *adding("lone", 1),
    *adding("many", MANY),
    ("added", "python", "attempts"),
    enqueue("charges", "Charge", *[charge(cents, f"key {cents % 2}") for cents in range(6)]),
    enqueue("flaky", "Flaky", {"failures": 1}, {"failures": 9}),
    enqueue("large", "Measure", {"text": "長" * LARGE}),
    ("others: performed", "follow", 0),
    ("others: delivered again", "again", 4),
    ("others: gone from memory", "evict", None),
    ("others: retried", "follow", 60_000),
    ("performed", "python", "attempts"),
    ("too slow", "python", "too_slow"),
    ("states", "rows", "SELECT binding, state, count(*) AS jobs FROM tsumugi_jobs GROUP BY 1, 2"),
    ("counts", "rows", "SELECT * FROM tsumugi_job_counts WHERE jobs > 0"),
    ("job in its shard", "fetch", {"place": "/job/{charges.0}"}),
    ("swept", "follow", 400_000),
    ("job in the read model", "fetch", {"place": "/job/{charges.0}"}),
    ("cleaned up", "cron", None),
]
API_STEPS = [
    ("API: page", "fetch", {"place": "/api/jobs?binding=Flaky&state=FAILED"}),
    ("API: job", "fetch", {"place": "/api/jobs/{flaky.0}"}),
    ("API: stats", "fetch", {"place": "/api/stats"}),
    ("API: document", "fetch", {"place": "/api/openapi.json"}),
    ("API: wrong token", "fetch", {"place": "/api/jobs", "token": "guessed"}),
    ("API: wrong payload", "fetch", {
        "method": "POST", "place": "/api/jobs", "body": {"binding": "Add", "payload": {"a": "x"}},
    }),
    ("API: retry", "fetch", {"method": "POST", "place": "/api/jobs/{flaky.1}/retry"}),
]  # fmt: skip


@cache
def outcome(version):
    steps = STEPS if jobs_run.ABSENT[version] else [*STEPS, *API_STEPS]
    try:
        return jobs_run.run(version, steps)
    except jobs_run.CannotInstall as error:
        return error


def ran(version):
    found = outcome(version)
    if isinstance(found, jobs_run.CannotInstall):
        pytest.skip(str(found))
    return found


def answer(version, name):
    return ran(version).steps[name]["answer"]


def crossed(version, name):
    """What crossed in the steps of this name, by kind."""
    steps = [step for each, step in ran(version).steps.items() if each.partition(":")[0] == name]
    assert len(steps) == 3
    return {kind: sum(step["crossings"][kind] for step in steps) for kind in OF_A_LONE_JOB}


@pytest.mark.parametrize("version", VERSIONS)
def test_the_wheel_installs_with_what_a_worker_needs_and_nothing_of_the_emulators(version):
    installed = set(ran(version).installed)
    assert {"tsumugi-workers", "workers-runtime-sdk", "pydantic"} <= installed
    pydantics = {"pydantic_core", "annotated-types", "typing-inspection", "typing_extensions"}
    assert installed <= {
        "tsumugi-workers", "workers-runtime-sdk", "pydantic", *pydantics, "micropip", "packaging",
    }  # fmt: skip


@pytest.mark.parametrize("version", VERSIONS)
def test_every_job_is_performed_and_completed(version):
    ids = [*answer(version, "first")["body"], *answer(version, "lone")["body"]]
    ids += answer(version, "many")["body"]
    assert len(set(ids)) == MANY + 2
    assert sorted(answer(version, "added")) == sorted([job_id, 1] for job_id in ids)
    assert answer(version, "many: performed")["queue"] == MANY / 100
    assert ran(version).failures == []


@pytest.mark.parametrize("version", VERSIONS)
def test_a_job_costs_few_crossings(version):
    lone, many = crossed(version, "lone"), crossed(version, "many")
    # Each of some twenty statements is a call, and its text and its values are converted.
    assert lone["calls"] > 50
    assert lone["conversions"] > 200
    assert {kind: n for kind, n in lone.items() if n > OF_A_LONE_JOB[kind]} == {}
    each = {kind: n / MANY for kind, n in many.items()}
    assert {kind: n for kind, n in each.items() if n > OF_EACH_OF_MANY[kind]} == {}


@pytest.mark.parametrize("version", VERSIONS)
def test_no_timer_keeps_an_object_in_memory_when_its_work_is_done(version):
    steps = ran(version).steps
    assert [steps[f"{name}: projected"]["timers"] for name in ("first", "lone", "many")] == [0] * 3


@pytest.mark.parametrize("version", VERSIONS)
def test_a_call_that_takes_too_long_is_ended(version):
    assert answer(version, "too slow") == "ended"


@pytest.mark.parametrize("version", VERSIONS)
def test_jobs_are_claimed_retried_by_alarms_and_fetched_when_they_are_large(version):
    charges, flaky = answer(version, "charges")["body"], answer(version, "flaky")["body"]
    [large] = answer(version, "large")["body"]
    attempts = Counter((job_id, attempt) for job_id, attempt in answer(version, "performed"))
    # At most once means once, however often a message is delivered.
    expected = Counter((job_id, 1) for job_id in [*charges, *flaky, large])
    expected.update([(flaky[0], 2), (flaky[1], 2), (flaky[1], 3)])
    assert attempts == expected
    # Nothing is said but what went wrong.
    failed = [(flaky[0], 1), *((flaky[1], attempt) for attempt in (1, 2, 3))]
    told = [f"job {job_id}, attempt {attempt} failed: RuntimeError" for job_id, attempt in failed]
    assert sorted(line[: len(told[0])] for line in ran(version).printed) == sorted(told)
    states = {(row["binding"], row["state"]): row["jobs"] for row in answer(version, "states")}
    assert states == {
        ("Add", "COMPLETED"): MANY + 2, ("Charge", "COMPLETED"): 6, ("Measure", "COMPLETED"): 1,
        ("Flaky", "COMPLETED"): 1, ("Flaky", "FAILED"): 1,
    }  # fmt: skip
    counts = {(row["binding"], row["state"]): row["jobs"] for row in answer(version, "counts")}
    assert counts == states


@pytest.mark.parametrize("version", VERSIONS)
def test_a_job_is_read_from_its_shard_and_from_the_read_model_when_it_has_left_that(version):
    [job_id, *_] = answer(version, "charges")["body"]
    here = answer(version, "job in its shard")["body"]
    assert (here["id"], here["state"], here["payload"]) == (job_id, "COMPLETED", {"cents": 0})
    assert (here["result"], here["progress"]) == ({"key": job_id}, 0.5)
    assert [line["text"] for line in here["logs"]] == ["charging 0"]
    assert answer(version, "swept")["alarm"] >= 1
    assert answer(version, "job in the read model")["body"] == here


@pytest.mark.parametrize("version", [v for v in VERSIONS if not jobs_run.ABSENT[v.values[0]]])
def test_the_api_answers(version):
    fetched = {name: answer(version, name) for name, *_ in API_STEPS}
    first, second = answer(version, "flaky")["body"]
    page = fetched["API: page"]["body"]
    assert [job["id"] for job in page["jobs"]] == [second]
    job = fetched["API: job"]["body"]["job"]
    assert (job["id"], job["attempts"], job["result"]) == (first, 2, '"at last"')
    assert "attempt 1 fails" in json.dumps(job["attempts_log"])
    assert fetched["API: stats"]["status"] == fetched["API: document"]["status"] == 200
    assert fetched["API: wrong token"]["status"] == 401
    assert fetched["API: wrong payload"]["status"] == 400
    assert fetched["API: retry"]["status"] == 200
