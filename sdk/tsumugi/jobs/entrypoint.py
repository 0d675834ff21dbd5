"""The entrypoint of a Worker with jobs, and how the classes that it exports are made.

They are made on use, over the runtime's base classes: ``workers`` exists inside a runtime only, and
a runtime may be loaded after this module (ADR-0031). What they do is ``app``'s.
"""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any, ClassVar, Final

if TYPE_CHECKING:
    from workers import Response, WorkerEntrypoint

    from tsumugi.jobs.app import Tsumugi

#: In the body of a base that serves no app: what derives from it has to name one.
_IS_BASE: Final = "_is_base"


class OfAnApp:
    """A class that serves one app, which it is told by its class keyword ``app``."""

    _tsumugi: ClassVar[Tsumugi]

    def __init_subclass__(cls, *, app: Tsumugi | None = None) -> None:
        if app is not None:
            cls._tsumugi = app
        elif not hasattr(cls, "_tsumugi") and any(_IS_BASE in vars(b) for b in cls.__mro__[1:]):
            head = f"class {cls.__name__}({cls.__bases__[0].__name__}"
            raise TypeError(
                f"{head}) serves no app: write {head}, app=tsumugi), with what "
                "Tsumugi(performers=[...]) gave"
            )
        super().__init_subclass__()

    def __init__(self, ctx: Any, env: Any) -> None:
        if not hasattr(self, "_tsumugi"):
            name = type(self).__name__
            raise TypeError(
                f"{name} serves no app: export a class of your own, derived with class "
                f"...({name}, app=tsumugi), and let wrangler.jsonc name that one"
            )
        super().__init__(ctx, env)  # type: ignore[call-arg]


class EntrypointBehaviour(OfAnApp):
    """Serves the jobs API, consumes the queue of jobs, and cleans up by cron.

    class Default(Entrypoint, app=tsumugi): ...

    Override what the Worker does besides, and call ``super()`` for the rest:
    ``super().fetch(request)`` answers 404 for what is not under ``/api``, and ``queue`` drops
    messages that are no dispatches, so a Worker that consumes other queues as well tells them apart
    by ``batch.queue``.
    """

    ctx: Any
    env: Any

    async def fetch(self, request: Any) -> Response:
        answer: Response | None = await self._tsumugi.handle(request, self.env)
        if answer is not None:
            return answer
        from workers import Response

        return Response("Not found\n", status=404)

    # The runtime passes three arguments, the last two of them None.
    async def queue(self, batch: Any, env: Any = None, ctx: Any = None) -> None:
        await self._tsumugi.consume(batch, self.env)

    async def scheduled(self, controller: Any, env: Any = None, ctx: Any = None) -> None:
        await self._tsumugi.cleanup(self.env)

    async def perform(self, text: str, hear: Any = None) -> str:
        """Perform a job of another Worker, over a service binding; see ``tsumugi.remote``."""
        return await self._tsumugi.perform_for(text, hear, self.env)


if TYPE_CHECKING:

    class Entrypoint(EntrypointBehaviour, WorkerEntrypoint):  # type: ignore[misc]
        """Serves the jobs API, consumes the queue of jobs, and cleans up by cron.

        class Default(Entrypoint, app=tsumugi): ...

        Override what the Worker does besides, and call ``super()`` for the rest.
        """


class ClassMaker:
    """Makes a class that ``behaviour`` describes, over what the runtime has now."""

    def __init__(self, name: str, behaviour: type[OfAnApp], runtime_base: str) -> None:
        self._name = name
        self._behaviour = behaviour
        self._runtime_base = runtime_base
        self._made: dict[tuple[Tsumugi | None, type], type] = {}

    def made(self, app: Tsumugi | None = None) -> type[Any]:
        """One that serves this app, or a base to derive from with the class keyword ``app``.

        Always the same one in a runtime. Apps are few, and live as long as their module.
        """
        base = runtime_class(self._runtime_base)
        known = self._made.get((app, base))
        if known is None:
            known = self._made[app, base] = self._make(base, app)
        return known

    def _make(self, base: type, app: Tsumugi | None) -> type:
        body = {"__module__": self._behaviour.__module__, "__doc__": self._behaviour.__doc__}
        if app is None:
            body[_IS_BASE] = "yes"
        bases = (self._behaviour, base)
        return types.new_class(self._name, bases, {"app": app}, lambda ns: ns.update(body))


class _PlainBase:
    """Takes the place of the runtime's base classes where no Workers runtime is loaded."""

    def __init__(self, ctx: Any, env: Any) -> None:
        self.ctx = ctx
        self.env = env


def runtime_class(name: str) -> type:
    """A base class of the runtime's, or a stand-in for it in plain Python, as in unit tests."""
    try:
        import workers
    except ModuleNotFoundError as error:
        if error.name not in ("js", "workers"):
            raise  # anything else that is missing is a real fault
        return _PlainBase
    base: type = getattr(workers, name)
    return base


ENTRYPOINT: Final = ClassMaker("Entrypoint", EntrypointBehaviour, "WorkerEntrypoint")


def __getattr__(name: str) -> Any:
    if name == "Entrypoint":
        return ENTRYPOINT.made()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
