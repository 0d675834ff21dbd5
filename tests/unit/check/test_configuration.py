from __future__ import annotations

import json
from typing import Any

from checking import CONFIGURATION, MAIN, OBJECTS, Workers, configuration, expect, found

DEFAULT = (
    "from workers import DurableObject, Response, WorkerEntrypoint\n"
    "class Default(WorkerEntrypoint):\n"
    "    async def queue(self, batch, env=None, ctx=None):\n"
    "        pass\n"
)
ROOM = "class Room(DurableObject):\n    pass\n"


def codes(text: str = DEFAULT, **fields: Any) -> set[str]:
    return {code for _, _, code in found(text, **fields)}


def queues(producers: list[str], consumers: list[dict[str, Any]]) -> dict[str, Any]:
    sent_to = [{"binding": f"Q{index}", "queue": name} for index, name in enumerate(producers)]
    return {"queues": {"producers": sent_to, "consumers": consumers}}


def test_a_class_is_created_by_a_migration() -> None:
    bound = {"durable_objects": OBJECTS["durable_objects"]}
    assert codes(DEFAULT + ROOM, **bound) == {"TSU601"}
    assert codes(DEFAULT + ROOM, **OBJECTS) == set()


def test_python_needs_its_flag() -> None:
    assert codes(compatibility_flags=[]) == {"TSU602"}


def test_other_warnings_of_the_configuration_are_told() -> None:
    assert codes(unheard_of=1) == {"TSU603"}
    assert codes(compatibility_date="2026-12-31") == {"TSU603"}


def test_what_concerns_this_machine_only_is_not_told() -> None:
    assert codes(vectorize=[{"binding": "V", "index_name": "v"}]) == set()


def test_a_class_that_is_not_configured_cannot_be_reached() -> None:
    assert codes(DEFAULT + ROOM) == {"TSU607"}
    base = f"{DEFAULT}{ROOM}class Small(Room):\n    pass\n"
    bound = {"bindings": [{"name": "ROOMS", "class_name": "Small"}]}
    migrations = [{"tag": "v1", "new_sqlite_classes": ["Small"]}]
    assert codes(base, durable_objects=bound, migrations=migrations) == set()


def test_both_ends_of_a_queue_are_looked_for() -> None:
    assert codes(**queues(["jobs"], [])) == {"TSU604"}
    assert codes(**queues([], [{"queue": "jobs"}])) == {"TSU605"}
    assert codes(**queues(["jobs"], [{"queue": "jobs"}])) == set()


def test_a_dead_letter_queue_is_consumed_too() -> None:
    jobs = {"queue": "jobs", "dead_letter_queue": "dead"}
    assert codes(**queues(["jobs"], [jobs])) == {"TSU606"}
    assert codes(**queues(["jobs"], [jobs, {"queue": "dead"}])) == set()


def test_workers_checked_together_may_hold_both_ends() -> None:
    sender = {
        MAIN: DEFAULT,
        "pyproject.toml": "[project]\ndependencies = ['a']\n",
        CONFIGURATION: configuration(**queues(["jobs"], [])),
    }
    consumer = {
        **sender,
        CONFIGURATION: configuration(name="other", **queues([], [{"queue": "jobs"}])),
    }
    assert [one.code for one in Workers(sender).findings()] == ["TSU604"]
    assert [one.code for one in Workers(consumer).findings()] == ["TSU605"]
    assert Workers(sender, consumer).findings() == []


def test_faults_stand_where_the_configuration_has_them() -> None:
    text = configuration(**queues([], [{"queue": "jobs"}]))
    line = text.split("\n").index('        "queue": "jobs"') + 1
    assert found({MAIN: DEFAULT, CONFIGURATION: text}) == {(CONFIGURATION, line, "TSU605")}


def test_toml_has_places_too() -> None:
    text = (
        'name = "worker"\nmain = "src/entry.py"\ncompatibility_date = "2026-11-01"\n'
        'compatibility_flags = ["python_workers"]\n\n[[queues.consumers]]\nqueue = "jobs"\n'
    )
    workers = Workers({MAIN: DEFAULT, "wrangler.toml": text}, configuration="wrangler.toml")
    assert [(one.line, one.code) for one in workers.findings()] == [(7, "TSU605")]


def test_an_environment_has_queues_of_its_own() -> None:
    text = configuration(**queues(["jobs"], [{"queue": "jobs"}]))
    document = json.loads(text)
    document["env"] = {"staging": queues([], [{"queue": "staged"}])}
    text = json.dumps(document, indent=2)
    files = {MAIN: DEFAULT, CONFIGURATION: text}
    assert found(files) == set()
    line = text.split("\n").index('            "queue": "staged"') + 1
    assert found(files, environment="staging") == {(CONFIGURATION, line, "TSU605")}


def test_a_comment_in_the_configuration_hides_a_note() -> None:
    text = configuration(**queues([], [{"queue": "jobs"}]))
    line = '        "queue": "jobs"'
    for hidden in (
        text.replace(line, f"{line} // tsumugi: ignore[TSU605]"),
        text.replace(line, f"        // tsumugi: ignore[TSU605] pulled by hand\n{line}"),
    ):
        assert found({MAIN: DEFAULT, CONFIGURATION: hidden}) == set()


def test_a_python_file_of_the_package_counts() -> None:
    expect(
        {MAIN: f"import package\n{DEFAULT}", "src/package/__init__.py": "import imp  #! TSU301\n"}
    )
