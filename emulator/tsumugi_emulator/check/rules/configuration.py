"""What the configuration says that the code or the platform does not bear out (TSU6xx)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsumugi_emulator.check import findings
from tsumugi_emulator.check.facts import Role, Spot
from tsumugi_emulator.config.diagnostics import NOT_DEPLOYED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tsumugi_emulator.check.findings import Finding
    from tsumugi_emulator.check.project import Project

NO_MIGRATION = findings.error(
    "TSU601",
    "A Durable Object class without a migration",
    "The upload is refused.",
)
NO_PYTHON_FLAG = findings.error(
    "TSU602",
    "No python_workers flag",
    "The upload is refused.",
)
CONFIGURATION = findings.warning(
    "TSU603",
    "A doubtful setting",
    "It is ignored, or the upload is refused; the message says which.",
)
NO_CONSUMER = findings.note(
    "TSU604",
    "A queue that is sent to and not consumed here",
    "Messages are kept for 4 days by default, unless another Worker or a puller takes them.",
)
NO_PRODUCER = findings.note(
    "TSU605",
    "A consumed queue that nothing here sends to",
    "Nothing arrives, unless another Worker or the API sends to it.",
)
NO_DEAD_LETTER_CONSUMER = findings.note(
    "TSU606",
    "A dead letter queue that nobody consumes",
    "What ends there is kept for 4 days by default, and then gone.",
)
UNBOUND_OBJECT = findings.warning(
    "TSU607",
    "A Durable Object class that is not configured",
    "Nothing can reach it: it has neither a binding nor a migration.",
)


def from_diagnostics(project: Project) -> Iterator[Finding]:
    """What reading the configuration has found, where it concerns deployment."""
    for diagnostic in project.diagnostics:
        if diagnostic.code == NOT_DEPLOYED:
            continue
        rule = findings.RULES[diagnostic.code] if diagnostic.code else CONFIGURATION
        message, _, step = diagnostic.message.partition("\n")
        yield project.finding(
            rule,
            str(diagnostic.path or project.config.path),
            Spot(diagnostic.line or 1, diagnostic.column or 1),
            message,
            " ".join(step.split("\n")) or "Correct the configuration.",
        )


def check(project: Project) -> Iterator[Finding]:
    if project.may_export_more:
        return
    config = project.config
    known = {binding.class_name for binding in config.durable_objects if binding.script is None}
    known |= {one.name for one in config.object_classes}
    for name, (module, fact, lineage) in project.exported.items():
        if lineage.role is Role.OBJECT and name not in known and not _is_base(project, name):
            yield project.finding(
                UNBOUND_OBJECT,
                module.path,
                fact.spot,
                f"The configuration mentions the Durable Object class {name} nowhere.",
                'Add it to "durable_objects" and "migrations".',
            )


def _is_base(project: Project, name: str) -> bool:
    """Whether another exported class builds on it."""
    return any(
        fact.name == name
        for own, (*_, lineage) in project.exported.items()
        for _, fact in lineage.classes
        if own != name
    )


def queues_together(projects: Sequence[Project]) -> Iterator[Finding]:
    """Queues that only one end of is to be seen, over all Workers that were given."""
    consumed = {one.queue for project in projects for one in project.config.consumers}
    produced = {one.queue for project in projects for one in project.config.producers}
    dead = {one.dead_letter_queue for project in projects for one in project.config.consumers}
    for project in projects:
        path, places = project.places.path, project.places
        for producer in project.config.producers:
            if producer.queue not in consumed:
                yield project.finding(
                    NO_CONSUMER,
                    path,
                    places.producer(producer.queue),
                    f'Nothing here consumes the queue "{producer.queue}".',
                    "Add a consumer, or check the Worker that has it together with this one.",
                )
        for consumer in project.config.consumers:
            if consumer.queue not in produced | dead:
                yield project.finding(
                    NO_PRODUCER,
                    path,
                    places.consumer(consumer.queue),
                    f'Nothing here sends to the queue "{consumer.queue}".',
                    "Add a producer, or check the Worker that has it together with this one.",
                )
            queue = consumer.dead_letter_queue
            if queue is not None and queue not in consumed:
                yield project.finding(
                    NO_DEAD_LETTER_CONSUMER,
                    path,
                    places.dead_letter_queue(queue),
                    f'Nothing here consumes the dead letter queue "{queue}".',
                    "Consume it, or pull from it before its messages expire.",
                )
