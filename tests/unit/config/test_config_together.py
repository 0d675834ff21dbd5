from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.config.together import check_together

if TYPE_CHECKING:
    from conftest import Project
    from tsumugi_emulator.config.model import WorkerConfig


def worker(project: Project, **fields: Any) -> WorkerConfig:
    project.configure(**fields)
    return project.config()


def test_two_workers_cannot_consume_one_queue(project: Project) -> None:
    queues = {"consumers": [{"queue": "jobs"}]}
    one = worker(project, name="one", queues=queues)
    two = worker(project, name="two", queues=queues)
    assert [item.message for item in check_together([one, two])] == [
        'Multiple consumers defined for queue "jobs": "one" and "two". Keep one of them.'
    ]


def test_two_workers_cannot_share_a_name(project: Project) -> None:
    one, two = worker(project), worker(project, vars={"A": 1})
    (fault,) = check_together([one, two])
    assert fault.message.startswith('Two Workers are named "api"')


def test_workers_may_produce_to_the_same_queue_and_consume_different_ones(
    project: Project,
) -> None:
    producers = [{"binding": "JOBS", "queue": "jobs"}]
    one = worker(
        project, name="one", queues={"producers": producers, "consumers": [{"queue": "a"}]}
    )
    two = worker(
        project, name="two", queues={"producers": producers, "consumers": [{"queue": "b"}]}
    )
    assert check_together([one, two]) == ()
