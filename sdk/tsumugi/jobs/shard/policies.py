"""The policy in force: what the code says, with what was changed at run time. Stores none."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final

from tsumugi.jobs.core.bucket import Rate
from tsumugi.jobs.core.model import Policy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tsumugi.jobs.wire import Json

FIELDS: Final = tuple(field.name for field in fields(Policy))


class PolicyError(ValueError):
    """A change of policy that makes no policy; the text names the field."""


def in_force(policy: Policy, overrides: Mapping[str, Json]) -> Policy:
    """Raises ``PolicyError`` for what no policy can have."""
    values: dict[str, Any] = dict(overrides)
    unknown = sorted(set(values) - set(FIELDS))
    if unknown:
        raise PolicyError(f"{unknown[0]} is no field of a policy (there are: {', '.join(FIELDS)})")
    try:
        if "rate" in values:
            values["rate"] = _rate(values["rate"])
        if not isinstance(values.get("paused", False), bool):
            raise PolicyError(f"paused must be true or false, not {values['paused']!r}")
        return replace(policy, **values)
    except (TypeError, ValueError) as error:
        raise PolicyError(str(error)) from None


def as_fields(policy: Policy) -> dict[str, Json]:
    """The wire form."""
    values: dict[str, Any] = {name: getattr(policy, name) for name in FIELDS}
    if policy.rate is not None:
        values["rate"] = {"tokens": policy.rate.tokens, "per_ms": policy.rate.per_ms}
    return values


def _rate(value: object) -> Rate | None:
    if value is None:
        return None
    if not isinstance(value, dict) or set(value) != {"tokens", "per_ms"}:
        raise PolicyError("rate must be null or {tokens, per_ms}")
    return Rate(value["tokens"], value["per_ms"])
