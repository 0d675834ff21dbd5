"""Class attributes that look like a setting and are none. Knows the names; reads no performer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tsumugi.jobs.core.backoff import ExponentialBackoff, FixedBackoff
from tsumugi.jobs.core.bucket import Rate
from tsumugi.jobs.core.model import Policy

if TYPE_CHECKING:
    from collections.abc import Iterator

#: How alike two names are, from 0 to 1, when one is taken for the other misspelt.
_ALIKE: Final = 0.85
#: What ends the name of a number: another unit is another name.
_UNITS: Final = frozenset({"ms", "s", "sec", "secs", "seconds", "minutes", "hours", "days"})
_NUMBER: Final = (int, float)


class Setting(NamedTuple):
    name: str
    #: What its values are. An attribute that holds something else means something else.
    kinds: tuple[type, ...]
    #: What to do instead; the performer's own settings need only the right name.
    step: str = ""


_REQUIRED: Final = 'enqueue(..., {0}=...) says it for each job; requires = ("{0}",) insists on it'
_OF_A_JOB: Final = "enqueue(..., {0}=...) says it for each job"
_OF_A_POLICY: Final = "it is said in Tsumugi(bindings={{...: Binding(policy=Policy({0}=...))}})"
_OF_A_BINDING: Final = "it is said in Tsumugi(bindings={{...: Binding({0}=...)}})"

#: What a performer says with a class attribute.
_OWN: Final = (
    Setting("binding", (str,)),
    Setting("requires", (tuple, list, set, frozenset, str)),
    Setting("priority", _NUMBER),
    Setting("max_attempts", _NUMBER),
    Setting("backoff", (ExponentialBackoff, FixedBackoff)),
    Setting("timeout_ms", _NUMBER),
    Setting("guarantee", (str,)),
    Setting("service", (str,)),
)
#: What is said elsewhere, and has no effect as a class attribute.
_ELSEWHERE: Final = (
    *(Setting(n, (str,), _REQUIRED) for n in ("concurrency_key", "unique_key", "partition_key")),
    *(Setting(n, _NUMBER, _OF_A_JOB) for n in ("delay_ms", "expires_in_ms", "unique_for_ms")),
    *(
        Setting(n, _NUMBER, _OF_A_POLICY)
        for n in ("concurrency", "per_key_concurrency", "aging_interval_ms", "reaper_grace_ms")
    ),
    Setting("rate", (Rate,), _OF_A_POLICY),
    Setting("policy", (Policy,), _OF_A_BINDING),
    Setting("shards", _NUMBER, _OF_A_BINDING),
)


def misspelt(cls: type, *, base: type) -> str | None:
    """What to say about the first attribute of ``cls`` that has no effect; None: none is in doubt.

    Only plain values are looked at, of the kind that the setting has: methods, and what merely
    sounds alike, are the performer's own.
    """
    for name, value in _plain_attributes(cls, base):
        setting = _meant(name, value)
        if setting is None:
            continue
        if setting.step:
            return f"{name} has no effect here: {setting.step.format(setting.name)}"
        return f"there is no setting {name}; did you mean {setting.name}?"
    return None


def _plain_attributes(cls: type, base: type) -> Iterator[tuple[str, Any]]:
    own = {setting.name for setting in _OWN}
    for one in cls.__mro__:
        if one is base:
            return
        for name, value in vars(one).items():
            if not name.startswith("_") and name not in own:
                yield name, value


def _meant(name: str, value: object) -> Setting | None:
    # A flag is a number to isinstance(), and none of these is a flag.
    fitting = [
        setting
        for setting in (*_OWN, *_ELSEWHERE)
        if isinstance(value, setting.kinds) and not isinstance(value, bool)
    ]
    if not fitting:
        return None
    # Here, since a Worker without such an attribute need not load it.
    from difflib import SequenceMatcher

    def alike(setting: Setting) -> float:
        return SequenceMatcher(None, _squashed(name), _squashed(setting.name)).ratio()

    best = max(fitting, key=alike)
    return best if alike(best) >= _ALIKE and not _is_other_unit(name, best.name) else None


def _squashed(name: str) -> str:
    """Without what people spell differently: ``timeOutMs`` is ``time_out_ms``."""
    return name.replace("_", "").lower()


def _is_other_unit(name: str, setting: str) -> bool:
    """``timeout_s`` is no misspelt ``timeout_ms``: a performer may well have one of its own."""
    mine, theirs = _without_unit(name), _without_unit(setting)
    return mine == theirs and _squashed(name) != _squashed(setting)


def _without_unit(name: str) -> str:
    stem, _, unit = name.lower().rpartition("_")
    return _squashed(stem if unit in _UNITS and stem else name)
