"""How long a failed message waits. Pure: chance is an argument; never calls a queue."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Final

#: The longest delay Queues accepts, for ``send`` and for ``retry``: 24 hours.
#: https://developers.cloudflare.com/queues/platform/limits/
MAX_DELAY_S: Final = 86_400


def exponential_backoff(
    attempts: int,
    base_s: float,
    *,
    factor: float | None = None,
    cap_s: int = MAX_DELAY_S,
    jitter: float = 0.0,
    rand: float | None = None,
) -> int:
    """Whole seconds to wait after the ``attempts``-th delivery failed, at most ``cap_s``.

    ``attempts`` is ``message.attempts``: 1 on the first delivery. The delay is
    ``base_s * factor ** (attempts - 1)``. Without a ``factor`` the base is its own factor, which
    makes it ``base_s ** attempts``, the formula of the Queues documentation: 30, 900, 27 000
    seconds for a base of 30. ``factor=2`` gives the gentler 30, 60, 120.

    ``jitter`` is the share of the delay that is left to chance: 0 none, 0.5 between half of the
    delay and all of it, 1 anything up to it. ``rand`` is that chance, from 0 to 1; left out, it
    is ``random.random()``, which is not read when there is no jitter. Fractions are rounded up,
    so the result fits ``delaySeconds``.

    Raises ``ValueError`` for an argument outside its range.
    """
    ratio = base_s if factor is None else factor
    _check(attempts >= 1, f"attempts counts deliveries from 1, not {attempts}")
    _check(base_s > 0, f"base_s must be greater than 0, not {base_s}")
    _check(ratio >= 1, f"a delay must not shrink: give a factor of at least 1, not {ratio}")
    _check(0 <= cap_s <= MAX_DELAY_S, f"cap_s must be 0 to {MAX_DELAY_S} seconds, not {cap_s}")
    _check(0 <= jitter <= 1, f"jitter is a share from 0 to 1, not {jitter}")
    _check(rand is None or 0 <= rand <= 1, f"rand must be 0 to 1, not {rand}")
    try:
        delay_s = min(float(cap_s), base_s * float(ratio) ** (attempts - 1))
    except OverflowError:
        delay_s = float(cap_s)
    if jitter:
        chance = random.random() if rand is None else rand
        delay_s -= delay_s * jitter * chance
    return math.ceil(delay_s)


@dataclass(frozen=True, slots=True)
class Backoff:
    """A retry policy: call it with ``message.attempts`` to get the delay in whole seconds.

    The fields are the arguments of :func:`exponential_backoff`. The defaults wait 10 s, 100 s and
    1 000 s, so that the three retries a queue grants by default outlast a quarter of an hour of
    trouble. Any function from ``attempts`` to seconds can stand in for a ``Backoff``.
    """

    base_s: float = 10
    factor: float | None = None
    cap_s: int = MAX_DELAY_S
    jitter: float = 0.0

    def __post_init__(self) -> None:
        self(1)  # a wrong policy fails where it is written, not at the first failing message

    def __call__(self, attempts: int, *, rand: float | None = None) -> int:
        return exponential_backoff(
            attempts,
            self.base_s,
            factor=self.factor,
            cap_s=self.cap_s,
            jitter=self.jitter,
            rand=rand,
        )


def clamp_delay_s(delay_s: float) -> int:
    """The nearest delay that Queues accepts: a whole number of seconds, 0 to 86 400."""
    return math.ceil(min(max(delay_s, 0), MAX_DELAY_S))


def _check(fact: bool, message: str) -> None:
    if not fact:
        raise ValueError(message)
