"""The performers of a Worker, looked at once: names, payload models, defaults. Runs none."""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass
from types import UnionType, get_original_bases
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    ForwardRef,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from tsumugi.jobs.core.backoff import ExponentialBackoff, FixedBackoff
from tsumugi.jobs.core.ids import shard_name
from tsumugi.jobs.core.model import Guarantee
from tsumugi.jobs.core.options import KEY_NAMES, EnqueueOptions, OptionError, checked
from tsumugi.jobs.misspelt import misspelt
from tsumugi.jobs.payloads import NO_MODEL, Codec, codec_for
from tsumugi.jobs.performer import Performer
from tsumugi.jobs.wire import Json
from tsumugi.signatures import signature_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: What says "anything" rather than what a payload is.
_ANYTHING: Final = (Any, object, Json, None)


class PerformerError(TypeError):
    """A performer that could never work; raised while the module loads."""


class UnknownPerformer(LookupError):
    """A performer that this Worker does not list."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        self.name = name
        self.known = tuple(sorted(known))
        super().__init__(
            f"there is no performer {name!r} here: list its class in Tsumugi(performers=[...]), or "
            f"remote(...) if another Worker performs it (known: {', '.join(self.known) or 'none'})"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """A performer, ready to be enqueued and performed."""

    name: str
    performer: type[Performer[Any]]
    codec: Codec
    #: What an enqueue asks for that says nothing.
    defaults: EnqueueOptions
    #: Keys that no enqueue may leave out.
    requires: frozenset[str]
    #: The service binding of the Worker that performs; None: this one.
    service: str | None

    #: Whether it lets others run while it waits; a plain ``def`` does not.
    gives_way: bool


class Registry:
    """The performers of a Worker by name."""

    def __init__(self, performers: Iterable[type[Performer[Any]]]) -> None:
        self._by_name: dict[str, Registered] = {}
        if isinstance(performers, type | str):
            raise PerformerError(f"performers=[...] is a list of classes, not {performers!r} alone")
        for performer in performers:
            registered = registered_as(performer)
            other = self._by_name.get(registered.name)
            if other is not None:
                raise PerformerError(
                    f"two performers are called {registered.name!r} ({_place(other.performer)} and "
                    f"{_place(performer)}): set the class attribute `binding` of one of them"
                )
            self._by_name[registered.name] = registered

    def __iter__(self) -> Iterator[Registered]:
        return iter(self._by_name.values())

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._by_name)

    def get(self, name: str) -> Registered | None:
        return self._by_name.get(name)

    def of(self, performer: str | type[Performer[Any]]) -> Registered:
        """Raises ``UnknownPerformer``, and ``TypeError`` for what is neither class nor name."""
        if isinstance(performer, str):
            found = self._by_name.get(performer)
            if found is None:
                raise UnknownPerformer(performer, self._by_name)
            return found
        if not isinstance(performer, type) or not issubclass(performer, Performer):
            raise TypeError(f"give the performer's class or its name, not {performer!r}")
        found = self._by_name.get(performer.binding)
        if found is None or found.performer is not performer:
            raise UnknownPerformer(_place(performer), self._by_name)
        return found


def registered_as(performer: type[Performer[Any]]) -> Registered:
    """A performer's facts. Raises ``PerformerError`` for one that could never work."""
    if not isinstance(performer, type) or not issubclass(performer, Performer):
        raise PerformerError(
            f"performers=[...] lists classes that derive from tsumugi.Performer, not {performer!r}"
        )
    name = performer.binding
    try:
        shard_name(name, 0)
    except ValueError as error:
        raise PerformerError(f"{_place(performer)}: {error}") from None
    fault = misspelt(performer, base=Performer)
    if fault is not None:
        raise PerformerError(f"{_place(performer)}: {fault}")
    if performer.service is None:
        _check_perform(performer)
    try:
        codec = codec_for(payload_model(performer), performer=name)
    except TypeError as error:
        raise PerformerError(str(error)) from error.__cause__
    return Registered(
        name=name,
        performer=performer,
        codec=codec,
        defaults=_defaults(performer),
        requires=_requires(performer),
        service=performer.service,
        gives_way=performer.service is not None or inspect.iscoroutinefunction(performer.perform),
    )


def payload_model(performer: type[Performer[Any]]) -> object:
    """What payloads are: of ``Performer[...]``, else the annotation; ``NO_MODEL`` for any JSON."""
    model = _argument(performer)
    if isinstance(model, TypeVar) or model is NO_MODEL:
        model = _annotation(performer)
    else:
        _check_annotation(performer, model)
    return NO_MODEL if isinstance(model, TypeVar) or model in _ANYTHING else model


def _argument(cls: type) -> object:
    """What stands for ``P`` in the bases of ``cls``; one of its own type variables, if any."""
    for base in get_original_bases(cls):
        origin = get_origin(base) or base
        if origin is Performer:
            (argument,) = get_args(base) or (NO_MODEL,)
            return _resolved(argument, cls)
        if isinstance(origin, type) and issubclass(origin, Performer):
            argument = _argument(origin)
            if isinstance(argument, TypeVar) and get_args(base):
                place = origin.__parameters__.index(argument)  # type: ignore[attr-defined]
                return _resolved(get_args(base)[place], cls)
            return argument
    return NO_MODEL


def _resolved(argument: object, cls: type) -> object:
    """``Performer["Mail"]`` names a class of the module, and ``Performer[list["Mail"]]`` too."""
    if not isinstance(argument, str | ForwardRef) and not get_args(argument):
        return argument
    holder = type("_", (), {"__annotations__": {"payload": argument}, "__module__": cls.__module__})
    return _hints(holder, cls)["payload"]


def _annotation(performer: type[Performer[Any]]) -> object:
    if performer.perform is Performer.perform:
        return NO_MODEL
    payload = list(signature_of(performer.perform).parameters.values())[1]
    # Only this one: `ctx: JobContext` is often imported for type checkers alone.
    annotation = NO_MODEL if payload.annotation is payload.empty else payload.annotation
    return _resolved(annotation, performer)


def _check_annotation(performer: type[Performer[Any]], model: object) -> None:
    """Raises where ``perform`` plainly takes another class than its payloads are made of."""
    taken = _taken(performer.perform)
    made, wanted = _class_of(model), _class_of(taken)
    if made is None or wanted is None or (made is int and wanted is float):
        return
    try:
        fits = issubclass(made, wanted)
    except TypeError:  # some protocols cannot tell
        return
    if not fits:
        raise PerformerError(
            f"{_place(performer)} is a Performer[{_shown(model)}], and its perform takes "
            f"{_shown(taken)}: write the same in both"
        )


def _taken(perform: Any) -> object:
    """What ``perform`` says its payload is; ``Any`` if it does not, or only to type checkers."""
    payload = list(signature_of(perform).parameters.values())[1:2]
    if not payload or payload[0].annotation is payload[0].empty:
        return Any
    holder = type("_", (), {"__annotations__": {"payload": payload[0].annotation}})
    # In the module of perform, which a base class of another module may have brought.
    names = getattr(perform, "__globals__", {})
    try:
        return get_type_hints(holder, names, include_extras=True)["payload"]
    except Exception:  # whatever evaluating a text can raise: it is compared when it can be
        return Any


def _class_of(annotation: object) -> type | None:
    """The class that an annotation means, if it means one and nothing besides."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _class_of(get_args(annotation)[0])
    found = annotation if origin is None else origin
    if found is None:
        return type(None)
    is_class = isinstance(found, type) and found is not UnionType and not is_typeddict(found)
    return found if is_class and found is not Any else None  # type: ignore[return-value]


def _shown(annotation: object) -> str:
    if annotation is None or annotation is type(None):
        return "None"
    plain = isinstance(annotation, type) and get_origin(annotation) is None
    return annotation.__name__ if plain else repr(annotation)  # type: ignore[attr-defined]


def _hints(holder: Any, cls: type) -> dict[str, Any]:
    try:
        return get_type_hints(holder, vars(sys.modules[cls.__module__]), include_extras=True)
    except NameError as error:
        raise PerformerError(
            f"{_place(cls)}: what its payload is cannot be read ({error}): import it at module "
            "level, not under TYPE_CHECKING or in a function"
        ) from None


def _check_perform(performer: type[Performer[Any]]) -> None:
    perform = performer.perform
    where = f"{_place(performer)}.perform"
    if perform is Performer.perform:
        raise PerformerError(
            f"{_place(performer)} has no perform: add async def perform(self, payload, ctx)"
        )
    if inspect.isgeneratorfunction(perform) or inspect.isasyncgenfunction(perform):
        raise PerformerError(f"{where} contains a yield: it would never run")
    signature = signature_of(perform)
    try:
        signature.bind(None, None, None)
    except TypeError:
        raise PerformerError(f"{where}{signature} must accept (self, payload, ctx)") from None


def _defaults(performer: type[Performer[Any]]) -> EnqueueOptions:
    try:
        guarantee = Guarantee(performer.guarantee)
    except ValueError:
        known = " or ".join(repr(str(one)) for one in Guarantee)
        raise PerformerError(
            f"{_place(performer)}: guarantee is {known}, not {performer.guarantee!r}"
        ) from None
    if not isinstance(performer.backoff, ExponentialBackoff | FixedBackoff):
        raise PerformerError(
            f"{_place(performer)}: backoff is an ExponentialBackoff(...) or a FixedBackoff(...), "
            f"not {performer.backoff!r}"
        )
    try:
        return checked(
            EnqueueOptions(
                priority=performer.priority,
                max_attempts=performer.max_attempts,
                backoff=performer.backoff,
                timeout_ms=performer.timeout_ms,
                guarantee=guarantee,
            ),
            now_ms=0,
        )
    except OptionError as error:
        raise PerformerError(f"{_place(performer)}: {error}") from None


def _requires(performer: type[Performer[Any]]) -> frozenset[str]:
    requires = performer.requires
    unknown = [requires] if isinstance(requires, str) else sorted(set(requires) - set(KEY_NAMES))
    if unknown:
        raise PerformerError(
            f"{_place(performer)}: requires names {unknown[0]!r}, and an enqueue has the keys "
            f'{", ".join(KEY_NAMES)}: requires = ("concurrency_key",)'
        )
    return frozenset(requires)


def _place(performer: type) -> str:
    return f"{performer.__module__}.{performer.__qualname__}"
