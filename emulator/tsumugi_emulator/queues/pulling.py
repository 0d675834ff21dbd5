"""Pull from a queue and settle what was pulled, as part of a broker's turn. Knows no HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import policy, pull_policy
from .errors import delivery_paused, pull_not_enabled
from .events import HandedOut, LeasesExpired, PullDone
from .messages import Pulled, PulledMessage, PullSettings, PullSettled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .lane import Lane
    from .lease_ids import LeaseIds
    from .messages import LeaseRef, StoredMessage
    from .policy import Decision
    from .store import QueueStore
    from .turn import Turn

#: Leases that end in one turn; more take more turns.
LEASES_AT_ONCE = 100

NOT_A_LEASE = "not a lease of this queue"
CAME_BACK = "the lease ended before the retry: the message was returned to the queue already"
GONE = "the message was acknowledged or removed before the retry"


class Pulling:
    """One queue within one turn, and so within one transaction."""

    def __init__(self, turn: Turn, store: QueueStore, lane: Lane) -> None:
        self._turn = turn
        self._store = store
        self._lane = lane

    def pull(self, ids: LeaseIds, *, size: int | None, timeout_ms: int | None) -> Pulled:
        """Up to ``size`` messages leased for ``timeout_ms``, by default as the consumer says."""
        settings, queue = self._lane.pull, self._lane.queue
        if settings is None:
            raise pull_not_enabled(queue)
        if self._lane.settings.paused:
            raise delivery_paused()
        size = settings.batch_size if size is None else size
        timeout_ms = settings.visibility_timeout_ms if timeout_ms is None else timeout_ms
        expires_ms = self._turn.now_ms + timeout_ms
        fresh: list[StoredMessage] = []
        while len(fresh) < size:
            taken = self._store.pulled.take(queue, size=size - len(fresh), expires_ms=expires_ms)
            worn_out = [m for m in taken if pull_policy.worn_out(m, settings=settings)]
            if not worn_out:
                fresh += taken
                break
            self._give_up(worn_out, settings)
            fresh += [message for message in taken if message not in worn_out]
        if fresh:
            self._turn.events.append(HandedOut(queue, len(fresh)))
        return Pulled(
            [PulledMessage(message, ids.make(message.place, message.id)) for message in fresh],
            self._store.metrics(queue),
        )

    def settle(
        self, ids: LeaseIds, acks: Sequence[str], retries: Mapping[str, int | None]
    ) -> PullSettled:
        """Remove what is acknowledged, also late; return what is to be retried.

        A lease id that is in both is acknowledged.
        """
        warnings: dict[str, str] = {}
        acked = self._read(ids, acks, warnings)
        given_back = self._read(ids, [id_ for id_ in retries if id_ not in acked], warnings)
        if acked:
            self._store.pulled.remove(self._lane.queue, list(acked.values()))
        held = self._store.pulled.held(self._lane.queue, given_back.values())
        messages: list[StoredMessage] = []
        decisions: list[Decision] = []
        for id_, ref in given_back.items():
            message = held.get(ref.place)
            if message is None:
                came_back = self._store.pulled.whereabouts(self._lane.queue, ref)
                warnings[id_] = CAME_BACK if came_back else GONE
                continue
            messages.append(message)
            decisions.append(
                pull_policy.retried(
                    message, retries[id_], settings=self._lane.pull, now_ms=self._turn.now_ms
                )
            )
        self._go_on(messages, decisions)
        self._turn.events.append(PullDone(self._lane.queue, len(acked), len(messages)))
        return PullSettled(len(acked), len(messages), warnings)

    def expire(self) -> None:
        """Return what is in leases that are over."""
        now_ms, queue = self._turn.now_ms, self._lane.queue
        messages = self._store.pulled.due(queue, now_ms=now_ms, limit=LEASES_AT_ONCE)
        settings = self._lane.pull
        decisions = [
            pull_policy.expired(message, settings=settings, now_ms=now_ms) for message in messages
        ]
        self._go_on(messages, decisions)
        self._store.pulled.end_due(queue, now_ms=now_ms)
        if messages:
            self._turn.events.append(LeasesExpired(queue, len(messages)))

    def _give_up(self, messages: list[StoredMessage], settings: PullSettings) -> None:
        """They are handed out no more: the delivery this would have been does not count."""
        messages = [message._replace(attempts=message.attempts - 1) for message in messages]
        self._go_on(messages, [policy.exhausted(settings)] * len(messages))

    def _go_on(self, messages: Sequence[StoredMessage], decisions: Sequence[Decision]) -> None:
        if not messages:
            return
        made = self._turn.settlement(self._lane.queue, messages, decisions)
        self._store.pulled.go_on(self._lane.queue, made.moves, made.drops, now_ms=self._turn.now_ms)

    def _read(
        self, ids: LeaseIds, lease_ids: Iterable[str], warnings: dict[str, str]
    ) -> dict[str, LeaseRef]:
        refs: dict[str, LeaseRef] = {}
        for id_ in lease_ids:
            ref = ids.read(id_)
            if ref is None:
                warnings[id_] = NOT_A_LEASE
            else:
                refs[id_] = ref
        return refs
