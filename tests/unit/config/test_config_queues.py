from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tsumugi_emulator.config.model import QueueConsumer, QueueProducer
from tsumugi_emulator.queues import limits

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Project
    from tsumugi_emulator.config.load import Loaded

    Queues = Callable[..., Loaded]


def messages(loaded: Loaded, severity: str = "error") -> list[str]:
    return [item.message for item in loaded.diagnostics if item.severity == severity]


def consumer(**fields: Any) -> dict[str, Any]:
    return {"queue": "jobs", **fields}


def test_a_consumer_with_only_a_queue_has_the_platform_defaults(queues: Queues) -> None:
    loaded = queues(consumers=[consumer()])
    assert loaded.config is not None
    assert loaded.config.consumers == (
        QueueConsumer(
            queue="jobs",
            max_batch_size=10,
            max_batch_timeout_s=5,
            max_retries=3,
            dead_letter_queue=None,
            max_concurrency=None,
            retry_delay_s=None,
        ),
    )


def test_every_consumer_field_is_read(queues: Queues) -> None:
    loaded = queues(
        consumers=[
            consumer(
                type="worker",
                max_batch_size=30,
                max_batch_timeout=2.5,
                max_retries=7,
                dead_letter_queue="dead",
                max_concurrency=4,
                retry_delay=300,
                visibility_timeout_ms=1000,
            )
        ]
    )
    assert loaded.diagnostics == ()
    assert loaded.config is not None
    assert loaded.config.consumers == (
        QueueConsumer(
            queue="jobs",
            max_batch_size=30,
            max_batch_timeout_s=2.5,
            max_retries=7,
            dead_letter_queue="dead",
            max_concurrency=4,
            retry_delay_s=300,
        ),
    )


def test_zero_is_a_value_and_not_unset(queues: Queues) -> None:
    loaded = queues(
        producers=[{"binding": "JOBS", "queue": "jobs", "delivery_delay": 0}],
        consumers=[consumer(max_batch_timeout=0, max_retries=0, retry_delay=0)],
    )
    assert loaded.config is not None
    assert loaded.config.producers[0].delivery_delay_s == 0
    (read,) = loaded.config.consumers
    assert (read.max_batch_timeout_s, read.max_retries, read.retry_delay_s) == (0, 0, 0)


#: The configuration may not import the broker's limits, and has to agree with them.
RANGES = [
    ("max_batch_size", 1, limits.MAX_BATCH_SIZE),
    ("max_batch_timeout", 0, limits.MAX_BATCH_TIMEOUT_S),
    ("max_retries", 0, limits.MAX_RETRIES),
    ("max_concurrency", 1, limits.MAX_CONCURRENCY),
    ("retry_delay", 0, limits.MAX_DELAY_S),
]


@pytest.mark.parametrize(("field", "lowest", "highest"), RANGES)
def test_both_ends_of_a_range_are_allowed(
    queues: Queues, field: str, lowest: int, highest: int
) -> None:
    for value in (lowest, highest):
        assert queues(consumers=[consumer(**{field: value})]).config is not None


@pytest.mark.parametrize(("field", "lowest", "highest"), RANGES)
def test_a_value_beyond_a_range_is_one_error_that_names_the_range(
    queues: Queues, field: str, lowest: int, highest: int
) -> None:
    for value in (lowest - 1, highest + 1):
        loaded = queues(consumers=[consumer(**{field: value})])
        assert loaded.config is None
        assert messages(loaded) == [
            f'"queues.consumers[0].{field}" has an invalid value {value}. '
            f"Must be between {lowest} and {highest}."
        ]


@pytest.mark.parametrize("value", [-1, 86_401])
def test_a_delivery_delay_beyond_a_day_is_an_error(queues: Queues, value: int) -> None:
    loaded = queues(producers=[{"binding": "JOBS", "queue": "jobs", "delivery_delay": value}])
    assert messages(loaded) == [
        f'"queues.producers[0].delivery_delay" has an invalid value {value}. '
        "Must be between 0 and 86400."
    ]


@pytest.mark.parametrize(
    "field", ["max_batch_size", "max_retries", "max_concurrency", "retry_delay"]
)
def test_what_is_counted_must_be_whole(queues: Queues, field: str) -> None:
    (message,) = messages(queues(consumers=[consumer(**{field: 1.5})]))
    assert message == f'"queues.consumers[0].{field}" has an invalid value 1.5. ' + (
        "Must be a whole number."
    )
    loaded = queues(consumers=[consumer(**{field: 2.0})])
    assert loaded.config is not None


@pytest.mark.parametrize("field", ["max_batch_size", "visibility_timeout_ms"])
@pytest.mark.parametrize("value", ["5", True, [], {}, None])
def test_a_number_of_another_type_is_an_error_in_wranglers_words(
    queues: Queues, value: object, field: str
) -> None:
    entry = consumer(**{field: value})
    got = json.dumps(entry, separators=(",", ":"))
    assert messages(queues(consumers=[entry])) == [
        f'"queues.consumers[0]" should, optionally, have a number "{field}" field but got {got}.'
    ]


def test_a_null_concurrency_is_automatic_and_warned_about(queues: Queues) -> None:
    loaded = queues(consumers=[consumer(max_concurrency=None)])
    assert loaded.config is not None
    assert loaded.config.consumers[0].max_concurrency is None
    assert "which wrangler refuses" in messages(loaded, "warning")[0]


def test_all_faults_are_told_at_once_each_at_its_place(project: Project) -> None:
    project.write(
        "wrangler.jsonc",
        """{
  "name": "api", "main": "src/entry.py", "compatibility_date": "2026-09-08",
  "compatibility_flags": ["python_workers"],
  "queues": {
    "producers": [{"binding": "A", "queue": "", "delivery_delay": 90000}],
    "consumers": [
      {"queue": "jobs", "max_batch_size": 0, "max_retries": 101},
      {"max_batch_timeout": 61}
    ]
  }
}""",
    )
    errors = [item for item in project.load().diagnostics if item.severity == "error"]
    assert [(item.line, item.column) for item in errors] == [
        (5, 45),
        (5, 67),
        (7, 43),
        (7, 61),
        (8, 7),
        (8, 29),
    ]


def test_bad_shapes_are_told_in_wranglers_words(queues: Queues, project: Project) -> None:
    project.configure(queues=[])
    assert project.errors() == ['The field "queues" should be an object but got [].']
    assert messages(queues(consumers=None)) == [
        'The field "queues.consumers" should be an array but got null.'
    ]
    assert messages(queues(consumers="my-queue")) == [
        'The field "queues.consumers" should be an array but got "my-queue".'
    ]
    assert messages(queues(producers=[{}, {"binding": 2333, "queue": 2444}])) == [
        '"queues.producers[0]" bindings should have a string "binding" field but got {}.',
        '"queues.producers[1]" bindings should have a string "binding" field but got '
        '{"binding":2333,"queue":2444}.',
        '"queues.producers[1]" bindings should optionally have a non-empty string "queue" field '
        'but got {"binding":2333,"queue":2444}.',
    ]
    assert messages(queues(consumers=[{}, consumer(dead_letter_queue=5), 7])) == [
        '"queues.consumers[0]" should have a string "queue" field but got {}.',
        '"queues.consumers[1]" should, optionally, have a string "dead_letter_queue" field but '
        'got {"queue":"jobs","dead_letter_queue":5}.',
        '"queues.consumers[2]" should be a objects, but got 7',
    ]


def test_unknown_fields_are_warned_about_once_for_each_block(queues: Queues) -> None:
    loaded = queues(
        invalidField=1, consumers=[consumer(invalidField=1, max_retires=2)], producers=[]
    )
    assert loaded.config is not None
    assert messages(loaded, "warning") == [
        'Unexpected fields found in queues field: "invalidField"',
        'Unexpected fields found in queues.consumers[0] field: "invalidField","max_retires"\n'
        'Did you mean "max_retries" instead of "max_retires"?',
    ]


def test_a_pull_consumer_is_an_error_that_says_how_to_add_one(queues: Queues) -> None:
    (message,) = messages(queues(consumers=[consumer(type="http_pull")]))
    assert message.startswith(
        '"queues.consumers[0].type" has an invalid value "http_pull". Only "worker" consumers can '
        "be configured in your Wrangler configuration."
    )
    assert "tsumugi queues consumer http add jobs" in message
    assert "queues API" in message


def test_another_consumer_type_gets_no_advice_about_pulling(queues: Queues) -> None:
    (message,) = messages(queues(consumers=[consumer(type="pigeon")]))
    assert '"pigeon"' in message
    assert "http add" not in message


def test_two_consumers_of_one_queue_are_an_error_that_names_both(queues: Queues) -> None:
    assert messages(queues(consumers=[consumer(), {"queue": "other"}, consumer()])) == [
        'Multiple consumers defined for queue "jobs": "queues.consumers[0]" and '
        '"queues.consumers[2]". Keep one of them.'
    ]


def test_a_queue_cannot_be_its_own_dead_letter_queue(queues: Queues) -> None:
    (message,) = messages(queues(consumers=[consumer(dead_letter_queue="jobs")]))
    assert message.startswith('Dead letter queue for queue "jobs" cannot be itself')


def test_two_queues_may_be_each_others_dead_letter_queue(queues: Queues) -> None:
    loaded = queues(
        consumers=[
            {"queue": "a", "dead_letter_queue": "b"},
            {"queue": "b", "dead_letter_queue": "a"},
        ]
    )
    assert loaded.diagnostics == ()


def test_an_empty_dead_letter_queue_is_none(queues: Queues) -> None:
    loaded = queues(consumers=[consumer(dead_letter_queue="")])
    assert loaded.config is not None
    assert loaded.config.consumers[0].dead_letter_queue is None


def test_a_delivery_delay_is_honoured_and_warned_about(queues: Queues) -> None:
    loaded = queues(producers=[{"binding": "JOBS", "queue": "jobs", "delivery_delay": 60}])
    assert loaded.config is not None
    assert loaded.config.producers == (
        QueueProducer(binding="JOBS", queue="jobs", delivery_delay_s=60),
    )
    (warning,) = messages(loaded, "warning")
    assert warning.startswith('The "delivery_delay" field in "queues.producers[0]" is deprecated')


def test_a_producer_without_a_queue_gets_the_name_deploying_would_give_it(queues: Queues) -> None:
    loaded = queues(producers=[{"binding": "MY_JOBS"}])
    assert loaded.config is not None
    assert loaded.config.producers[0].queue == "api-my-jobs"


def test_queue_names_may_be_strange(queues: Queues) -> None:
    loaded = queues(consumers=[{"queue": "my/ Queue"}])
    assert loaded.diagnostics == ()


@pytest.mark.parametrize("name", ["my-queue", "1st", "a b", "é!"])
def test_a_queue_binding_must_be_a_javascript_name(queues: Queues, name: str) -> None:
    (message,) = messages(queues(producers=[{"binding": name, "queue": "jobs"}]))
    assert message.startswith(f'The binding "{name}" is not a valid JavaScript variable name.')
