"""Jobs and the configuration: what they lack there, and what they would swallow (TSU608-610)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tsumugi_emulator.check import findings
from tsumugi_emulator.check.facts import Spot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tsumugi_emulator.check.facts import ClassFact, ModuleFacts
    from tsumugi_emulator.check.findings import Finding
    from tsumugi_emulator.check.project import Project

INCOMPLETE = findings.error(
    "TSU608",
    "Jobs without what keeps or carries them",
    "`MissingBinding: env.TSUMUGI_SHARD is missing` when a job is enqueued, or no job is ever "
    "performed.",
)
NO_LISTS = findings.warning(
    "TSU609",
    "Jobs without the database that lists them",
    "Jobs run; lists and figures of the jobs API are answered with 503.",
)
OTHER_QUEUE = findings.warning(
    "TSU610",
    "A queue that only the consumer of jobs reads",
    "Each of its messages is logged as no dispatch of a job and acknowledged: it is gone.",
)

#: What the bindings are called unless ``Tsumugi(env=EnvNames(...))`` says otherwise.
SHARD: Final = "TSUMUGI_SHARD"
QUEUE: Final = "TSUMUGI_QUEUE"
DATABASE: Final = "TSUMUGI_DB"
_START: Final = Spot(1, 1)


def check(project: Project) -> Iterator[Finding]:
    """Of a Worker that exports a class for its jobs: what this class cannot do without."""
    if project.may_export_more or _may_name_bindings(project):
        return
    shards = [
        (module, fact)
        for module, fact, lineage in project.exported.values()
        if any("tsumugi.JobShard" in one.bases for _, one in lineage.classes)
    ]
    if len(shards) == 1:  # several may be bases of each other
        yield from _shard(project, *shards[0])
        yield from _queue(project)
        yield from _database(project)
        yield from _other_queues(project)


def _may_name_bindings(project: Project) -> bool:
    """Whether the bindings may have other names, for all that is known."""
    names = {
        fact.name
        for module in project.modules.values()
        for fact in module.imports
        if fact.module.partition(".")[0] == "tsumugi"
    }
    return not names.isdisjoint({None, "*", "EnvNames", "settings"})


def _shard(project: Project, module: ModuleFacts, fact: ClassFact) -> Iterator[Finding]:
    bound = [one for one in project.config.durable_objects if one.binding == SHARD]
    if not bound:
        yield project.finding(
            INCOMPLETE,
            module.path,
            fact.spot,
            f"{fact.name} keeps jobs, and the configuration has no binding {SHARD} for it.",
            f'Add {{ "name": "{SHARD}", "class_name": "{fact.name}" }} to "durable_objects".',
        )
    elif bound[0].class_name == fact.name and not bound[0].has_sql:
        yield project.finding(
            INCOMPLETE,
            project.places.path,
            project.places.durable_object(SHARD),
            f"{fact.name} keeps jobs in SQLite, which a class of new_classes does not have.",
            f'Write "new_sqlite_classes": ["{fact.name}"] in the migration.',
        )


def _queue(project: Project) -> Iterator[Finding]:
    places = project.places
    producer = next((one for one in project.config.producers if one.binding == QUEUE), None)
    if producer is None:
        yield project.finding(
            INCOMPLETE,
            places.path,
            _START,
            f"Jobs are carried by env.{QUEUE}, and the configuration has no such binding.",
            f'Add {{ "binding": "{QUEUE}", "queue": "..." }} to "queues.producers", and the queue '
            'to "queues.consumers".',
        )
    elif all(one.queue != producer.queue for one in project.config.consumers):
        yield project.finding(
            INCOMPLETE,
            places.path,
            places.producer(producer.queue),
            f'Jobs arrive by the queue "{producer.queue}", which this Worker does not consume.',
            f'Add {{ "queue": "{producer.queue}", "max_batch_size": 100, "max_batch_timeout": 0 }} '
            'to "queues.consumers".',
        )


def _database(project: Project) -> Iterator[Finding]:
    if all(one.binding != DATABASE for one in project.config.resources.d1_databases):
        yield project.finding(
            NO_LISTS,
            project.places.path,
            _START,
            f"Jobs are listed by env.{DATABASE}, and the configuration has no such binding.",
            f'Add {{ "binding": "{DATABASE}", "database_name": "..." }} to "d1_databases", and run '
            "`tsumugi jobs migrations`.",
        )


def _other_queues(project: Project) -> Iterator[Finding]:
    carrier = next((one.queue for one in project.config.producers if one.binding == QUEUE), None)
    default = project.exported.get("Default")
    if carrier is None or default is None:
        return
    if not default[2].surely_inherits("queue", "tsumugi.Entrypoint"):
        return
    consumers = {one.queue: one for one in project.config.consumers}
    worn_out = consumers[carrier].dead_letter_queue if carrier in consumers else None
    for queue in sorted(consumers.keys() - {carrier, worn_out}):
        yield project.finding(
            OTHER_QUEUE,
            project.places.path,
            project.places.consumer(queue),
            f'Messages of "{queue}" go to the queue handler of jobs, which knows none but jobs.',
            f"Override queue(self, batch, env=None, ctx=None) in {default[1].name}: handle "
            f'"{queue}" where batch.queue says so, and `await super().queue(batch)` for the rest.',
        )
