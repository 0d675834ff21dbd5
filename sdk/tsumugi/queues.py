"""The types of Queues as a Python Worker sees them. Only types: no behaviour, no import of it.

Names are JavaScript's, because in the runtime keyword arguments become one options object:
``delaySeconds=60`` arrives, ``delay_seconds=60`` is ignored without an error.
https://developers.cloudflare.com/queues/configuration/javascript-apis/
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NotRequired, Protocol, TypedDict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

type ContentType = Literal["json", "text", "bytes", "v8"]
"""How a body is encoded. ``json`` is the default; ``text`` takes a ``str``; ``bytes`` takes
``bytes`` or a ``memoryview``; ``v8`` keeps datetimes and sets, but pull consumers and the
dashboard cannot read it."""


class QueueMetrics(Protocol):
    """How much waits in a queue. Approximate: Queues is a distributed system."""

    @property
    def backlogCount(self) -> int:
        """Messages waiting."""

    @property
    def backlogBytes(self) -> int:
        """Their total size in bytes."""

    @property
    def oldestMessageTimestamp(self) -> datetime | None:
        """When the oldest of them was sent. Some runtimes leave it out when nothing waits, and
        reading it then raises ``AttributeError``."""


class MetricsMetadata(Protocol):
    """Carries ``metrics``, so that more can follow."""

    @property
    def metrics(self) -> QueueMetrics: ...


class SendResult(Protocol):
    """What ``send`` and ``sendBatch`` answer once the message is stored."""

    @property
    def metadata(self) -> MetricsMetadata: ...


class MessageSendRequest[T](TypedDict):
    """One entry of ``sendBatch``; its options outrank the options of the call."""

    body: T
    contentType: NotRequired[ContentType]
    delaySeconds: NotRequired[int]


class Message[T](Protocol):
    """One message of a batch.

    ``ack`` and ``retry`` decide at once and return nothing: they cannot be awaited. The first of
    them counts; a later call of the other kind changes nothing and is logged by the runtime. A
    message's own call outranks ``ackAll`` and ``retryAll``, and an acknowledged message is not
    delivered again even if the handler fails afterwards.
    """

    @property
    def id(self) -> str:
        """Unique per message; kept when the message is retried or moves to the dead letter
        queue."""

    @property
    def timestamp(self) -> datetime:
        """When it was sent, as a naive ``datetime`` (UTC in production)."""

    @property
    def body(self) -> T:
        """The converted body. JSON objects are dicts that also allow ``body.name``; bytes are a
        ``memoryview``; JSON has no datetimes or sets, so neither has a body sent as JSON."""

    @property
    def attempts(self) -> int:
        """Deliveries so far, this one included: 1 the first time; 1 again in a dead letter
        queue."""

    def ack(self) -> None:
        """Done: do not deliver it again."""

    def retry(self, *, delaySeconds: int = ...) -> None:
        """Deliver it again after ``delaySeconds`` (whole seconds, 0 to 86 400).

        Left out, the consumer's ``retry_delay`` applies; 0 overrules it. After the consumer's
        ``max_retries`` the message moves to the dead letter queue, or is dropped without one.
        """


class MessageBatch[T](Protocol):
    """What ``queue(self, batch, env=None, ctx=None)`` receives.

    The batch itself has no length and is not iterable: use ``batch.messages``.
    """

    @property
    def queue(self) -> str:
        """The name of the queue, as in wrangler.jsonc."""

    @property
    def messages(self) -> Sequence[Message[T]]:
        """1 to ``max_batch_size`` messages, in no guaranteed order."""

    @property
    def metadata(self) -> MetricsMetadata:
        """The state of the queue when the batch was taken."""

    def ackAll(self) -> None:
        """Acknowledge every message that has not decided for itself."""

    def retryAll(self, *, delaySeconds: int = ...) -> None:
        """Retry every message that has not decided for itself; see :meth:`Message.retry`."""


class Queue[T](Protocol):
    """A producer binding: ``self.env.JOBS``.

    Every call must be awaited: an error of the platform appears only then, and a send that
    nobody awaits is lost when a queue handler returns.
    """

    async def send(
        self, body: T, /, *, contentType: ContentType = ..., delaySeconds: int = ...
    ) -> SendResult:
        """Store one message of at most 128 KB (1 KB = 1000 bytes).

        ``delaySeconds`` (0 to 86 400) outranks the queue's own delay; 0 overrules it. A body
        that is not JSON (a tuple, a big integer) raises; a dataclass, ``Decimal``, ``UUID`` or
        pydantic model would arrive as ``{}``: send ``model.model_dump(mode="json")``.
        """

    async def sendBatch(
        self, messages: list[MessageSendRequest[T]], /, *, delaySeconds: int = ...
    ) -> SendResult:
        """Store 1 to 100 messages of at most 256 KB together, all or none.

        A list, not a tuple or a generator. ``delaySeconds`` applies to the messages that bring
        none of their own.
        """

    async def metrics(self) -> QueueMetrics:
        """The queue's current backlog."""
