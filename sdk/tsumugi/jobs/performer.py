"""What performs jobs: the base class, its defaults, performers elsewhere. Runs nothing itself."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypedDict, Unpack

from tsumugi.jobs.core.model import (
    DEFAULT_BACKOFF,
    DEFAULT_MAX_ATTEMPTS,
    DEFAULT_TIMEOUT_MS,
    Guarantee,
)

if TYPE_CHECKING:
    from tsumugi.jobs.context import JobContext
    from tsumugi.jobs.core.backoff import JobBackoff

type GuaranteeName = Guarantee | Literal["at-least-once", "at-most-once"]
type RequirableKey = Literal["concurrency_key", "unique_key", "partition_key"]


class Performer[P]:
    """Subclass it once per kind of job, and list the classes in ``Tsumugi(performers=[...])``.

    class SendMail(Performer[Mail]):
        max_attempts = 5

        async def perform(self, payload: Mail, ctx: JobContext) -> dict:
            ...

    Payloads are validated by ``P``, a pydantic model or anything else pydantic validates, when
    they are enqueued and again before they are performed. Without it the annotation of
    ``perform`` says what they are; without that, or with ``Any``, they are plain JSON.

    ``perform`` may be ``async def`` or ``def``; it may run twice at once for one job, unless the
    guarantee is at-most-once. What it returns is kept as JSON, up to 8 192 characters. An
    exception fails the attempt; :class:`tsumugi.Reject` fails the job, whatever is left of its
    attempts. Each attempt gets an instance of its own.
    """

    #: The name in job ids, ``bindings={...}`` and the API; the name of the class by default.
    binding: ClassVar[str]
    #: Keys that no enqueue may leave out, such as ``("concurrency_key",)``.
    requires: ClassVar[tuple[RequirableKey, ...]] = ()

    # What an enqueue that does not say otherwise asks for.
    priority: ClassVar[int] = 0
    max_attempts: ClassVar[int] = DEFAULT_MAX_ATTEMPTS
    backoff: ClassVar[JobBackoff] = DEFAULT_BACKOFF
    timeout_ms: ClassVar[int | None] = DEFAULT_TIMEOUT_MS
    guarantee: ClassVar[GuaranteeName] = Guarantee.AT_LEAST_ONCE

    #: The service binding of the Worker that performs; None: this one does. See ``remote``.
    service: ClassVar[str | None] = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "binding" not in cls.__dict__:
            cls.binding = cls.__name__

    def __init__(self, env: Any) -> None:
        #: The bindings of the Worker, as ``self.env`` of an entrypoint.
        self.env = env

    # Positional, so that who overrides it may call them what they are.
    def perform(self, payload: P, ctx: JobContext, /) -> object:
        """Do the work of one attempt. May be ``async``."""
        raise NotImplementedError


class PerformerOptions(TypedDict, total=False):
    """The class attributes of a performer that ``remote`` makes."""

    requires: tuple[RequirableKey, ...]
    priority: int
    max_attempts: int
    backoff: JobBackoff
    timeout_ms: int | None
    guarantee: GuaranteeName


def remote[P](
    service: str,
    performer: str | type[Performer[P]],
    *,
    payload: type[P] | None = None,
    **options: Unpack[PerformerOptions],
) -> type[Performer[P]]:
    """A performer that lives in another Worker, which ``service`` is bound to in wrangler.jsonc.

    Charge = remote("BILLING", "Charge", payload=Payment, requires=("unique_key",))

    It is listed and enqueued like any other. The jobs are coordinated here and performed there:
    the other Worker lists a performer of that name in its own ``Tsumugi(performers=[...])`` and
    its entrypoint derives from ``Entrypoint``. Given the class itself, its payload model and
    defaults are taken over.
    """
    unknown = sorted(options.keys() - PerformerOptions.__annotations__.keys())
    if unknown:
        there = ", ".join(PerformerOptions.__annotations__)
        raise TypeError(f"remote(): there is no option {unknown[0]!r} (there are: {there})")
    if isinstance(performer, str):
        name: str = performer
        base: Any = Performer if payload is None else Performer[payload]  # type: ignore[valid-type]
    elif payload is None:
        name, base = performer.binding, performer
    else:
        raise TypeError(f"{performer.__name__} says itself what its payload is: leave payload out")
    attributes = {"binding": name, "service": service, "__module__": __name__, **options}
    return types.new_class(name, (base,), exec_body=lambda body: body.update(attributes))
