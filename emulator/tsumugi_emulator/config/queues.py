"""Reads the ``queues`` block: producers, consumers, their ranges and how they fit together.

Pure: reports faults and returns values. Knows nothing of files, brokers or other Workers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.config.model import QueueConsumer, QueueProducer
from tsumugi_emulator.config.report import quoted

if TYPE_CHECKING:
    from tsumugi_emulator.config.document import ValuePath
    from tsumugi_emulator.config.environments import Environment
    from tsumugi_emulator.config.report import Report

#: Messages are delayed for at most 24 hours.
MAX_DELAY_S = 86_400

_PRODUCER_FIELDS = frozenset({"binding", "queue", "delivery_delay", "remote"})
_CONSUMER_FIELDS = frozenset(
    {
        "queue", "type", "max_batch_size", "max_batch_timeout", "max_retries",
        "dead_letter_queue", "max_concurrency", "visibility_timeout_ms", "retry_delay",
    }
)  # fmt: skip

#: Field, lowest and highest value, whether fractions are allowed.
CONSUMER_NUMBERS = (
    ("max_batch_size", 1, 100, False),
    ("max_batch_timeout", 0, 60, True),
    ("max_retries", 0, 100, False),
    ("max_concurrency", 1, 250, False),
    ("retry_delay", 0, MAX_DELAY_S, False),
)

type Queues = tuple[tuple[QueueProducer, ...], tuple[QueueConsumer, ...]]


def read_queues(environment: Environment, report: Report, *, worker: str) -> Queues:
    """The producers and consumers of one environment; entries with faults are left out.

    ``worker`` names queues that a producer leaves unnamed, as deploying it would.
    """
    field = environment.get("queues")
    if field is None:
        return (), ()
    block, at = field
    label = environment.label("queues")
    if not isinstance(block, dict):
        report.error(f'The field "{label}" should be an object but got {quoted(block)}.', at)
        return (), ()
    report.unexpected(label, at, given=block, known=("producers", "consumers"))
    producers = [
        _read_producer(entry, _Entry(report, f"{label}.producers[{index}]", place), worker)
        for index, entry, place in _entries(block, "producers", report, label=label, at=at)
    ]
    consumers: list[tuple[QueueConsumer | None, _Entry]] = []
    for index, value, place in _entries(block, "consumers", report, label=label, at=at):
        entry = _Entry(report, f"{label}.consumers[{index}]", place)
        consumers.append((_read_consumer(value, entry), entry))
    _check_one_consumer_per_queue(consumers)
    return (
        tuple(producer for producer in producers if producer),
        tuple(consumer for consumer, _ in consumers if consumer),
    )


class _Entry:
    """One producer or consumer: how messages name it, where it stands, and its checks."""

    __slots__ = ("at", "failed", "label", "report")

    def __init__(self, report: Report, label: str, at: ValuePath) -> None:
        self.report = report
        self.label = label
        self.at = at
        self.failed = False

    def error(self, message: str, *key: str) -> None:
        self.failed = True
        self.report.error(message, (*self.at, *key))

    def number(
        self, value: Any, key: str, *, lowest: int, highest: int, fractions: bool
    ) -> int | float:
        """The number if it is in range; otherwise reports it and answers the lowest."""
        if not lowest <= value <= highest:
            self.error(
                f'"{self.label}.{key}" has an invalid value {quoted(value)}. '
                f"Must be between {lowest} and {highest}.",
                key,
            )
        elif not fractions and value != int(value):
            self.error(
                f'"{self.label}.{key}" has an invalid value {quoted(value)}. '
                "Must be a whole number.",
                key,
            )
        else:
            return value if value != int(value) else int(value)
        return lowest


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _entries(
    block: dict[str, Any], key: str, report: Report, *, label: str, at: ValuePath
) -> list[tuple[int, Any, ValuePath]]:
    if key not in block:
        return []
    entries = block[key]
    if not isinstance(entries, list):
        report.error(
            f'The field "{label}.{key}" should be an array but got {quoted(entries)}.', (*at, key)
        )
        return []
    return [(index, entry, (*at, key, index)) for index, entry in enumerate(entries)]


def _read_producer(value: Any, entry: _Entry, worker: str) -> QueueProducer | None:
    if not isinstance(value, dict):
        entry.error(f'"queue" bindings should be objects, but got {quoted(value)}')
        return None
    binding = value.get("binding")
    if not isinstance(binding, str) or not binding:
        entry.error(
            f'"{entry.label}" bindings should have a string "binding" field but got '
            f"{quoted(value)}.",
            "binding",
        )
    queue = value.get("queue")
    if "queue" in value and not (isinstance(queue, str) and queue):
        entry.error(
            f'"{entry.label}" bindings should optionally have a non-empty string "queue" field '
            f"but got {quoted(value)}.",
            "queue",
        )
    delay_s = _read_delivery_delay(value, entry)
    entry.report.unexpected(entry.label, entry.at, given=value, known=_PRODUCER_FIELDS)
    if entry.failed:
        return None
    name = queue or f"{worker}-{str(binding).lower().replace('_', '-')}"
    return QueueProducer(binding=str(binding), queue=name, delivery_delay_s=delay_s)


def _read_delivery_delay(value: dict[str, Any], entry: _Entry) -> int | None:
    delay = value.get("delivery_delay")
    if "delivery_delay" not in value:
        return None
    if not _is_number(delay):
        entry.error(
            f'"{entry.label}" should, optionally, have a number "delivery_delay" field but got '
            f"{quoted(value)}.",
            "delivery_delay",
        )
        return None
    entry.report.warning_at_key(
        f'The "delivery_delay" field in "{entry.label}" is deprecated. It is applied here, but '
        "has no effect once deployed. Queue-level settings should be configured using "
        '"wrangler queues update" instead.',
        (*entry.at, "delivery_delay"),
    )
    return int(
        entry.number(delay, "delivery_delay", lowest=0, highest=MAX_DELAY_S, fractions=False)
    )


def _read_consumer(value: Any, entry: _Entry) -> QueueConsumer | None:
    if not isinstance(value, dict):
        entry.error(f'"{entry.label}" should be a objects, but got {quoted(value)}')
        return None
    queue = value.get("queue")
    if not isinstance(queue, str) or not queue:
        entry.error(
            f'"{entry.label}" should have a string "queue" field but got {quoted(value)}.',
            "queue",
        )
    _check_consumer_type(value, entry)
    numbers = _read_consumer_numbers(value, entry)
    dead_letter_queue = _read_dead_letter_queue(value, entry)
    entry.report.unexpected(entry.label, entry.at, given=value, known=_CONSUMER_FIELDS)
    if entry.failed:
        return None
    defaults = QueueConsumer(queue=str(queue))
    timeout_s = numbers.get("max_batch_timeout", defaults.max_batch_timeout_s)
    concurrency = numbers.get("max_concurrency")
    retry_delay_s = numbers.get("retry_delay")
    return QueueConsumer(
        queue=str(queue),
        max_batch_size=int(numbers.get("max_batch_size", defaults.max_batch_size)),
        max_batch_timeout_s=timeout_s,
        max_retries=int(numbers.get("max_retries", defaults.max_retries)),
        dead_letter_queue=dead_letter_queue,
        max_concurrency=None if concurrency is None else int(concurrency),
        retry_delay_s=None if retry_delay_s is None else int(retry_delay_s),
    )


def _check_consumer_type(value: dict[str, Any], entry: _Entry) -> None:
    kind = value.get("type", "worker")
    if kind == "worker":
        return
    message = (
        f'"{entry.label}.type" has an invalid value {quoted(kind)}. Only "worker" consumers can '
        "be configured in your Wrangler configuration."
    )
    if kind == "http_pull":
        queue = value.get("queue")
        name = queue if isinstance(queue, str) and queue else "<queue>"
        message += (
            f'\nTo pull from this queue, remove the consumer here and run "tsumugi queues '
            f'consumer http add {name}", or add it through the queues API.'
        )
    entry.error(message, "type")


def _read_consumer_numbers(value: dict[str, Any], entry: _Entry) -> dict[str, int | float]:
    """Every number that is set. Zero is set; a field that is absent keeps its default."""
    numbers: dict[str, int | float] = {}
    for key, lowest, highest, fractions in CONSUMER_NUMBERS:
        if key not in value:
            continue
        number = value[key]
        if _is_number(number):
            numbers[key] = entry.number(
                number, key, lowest=lowest, highest=highest, fractions=fractions
            )
        elif key == "max_concurrency" and number is None:
            entry.report.warning(
                f'"{entry.label}.max_concurrency" is null, which wrangler refuses. Remove the '
                "field to let the concurrency follow the load.",
                (*entry.at, key),
            )
        else:
            _report_type(value, entry, kind="number", key=key)
    timeout_ms = value.get("visibility_timeout_ms")
    if "visibility_timeout_ms" in value and not _is_number(timeout_ms):
        _report_type(value, entry, kind="number", key="visibility_timeout_ms")
    return numbers


def _read_dead_letter_queue(value: dict[str, Any], entry: _Entry) -> str | None:
    name = value.get("dead_letter_queue")
    if "dead_letter_queue" in value and not isinstance(name, str):
        _report_type(value, entry, kind="string", key="dead_letter_queue")
        return None
    if name and name == value.get("queue"):
        entry.error(
            f'Dead letter queue for queue "{name}" cannot be itself. Name another queue in '
            f'"{entry.label}.dead_letter_queue", or remove the field.',
            "dead_letter_queue",
        )
    # The API answers "" for a consumer without one, so a copied setting means the same here.
    return name or None


def _report_type(value: dict[str, Any], entry: _Entry, *, kind: str, key: str) -> None:
    entry.error(
        f'"{entry.label}" should, optionally, have a {kind} "{key}" field but got {quoted(value)}.',
        key,
    )


def _check_one_consumer_per_queue(consumers: list[tuple[QueueConsumer | None, _Entry]]) -> None:
    first: dict[str, _Entry] = {}
    for consumer, entry in consumers:
        if consumer is None:
            continue
        earlier = first.setdefault(consumer.queue, entry)
        if earlier is not entry:
            entry.error(
                f'Multiple consumers defined for queue "{consumer.queue}": "{earlier.label}" and '
                f'"{entry.label}". Keep one of them.',
                "queue",
            )
