"""Reach what the coordinator is bound to: shards by name, each call one text each way.

Names what is missing in wrangler.jsonc. Retries nothing: whoever calls knows whether it may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tsumugi.jobs.wire import loads

if TYPE_CHECKING:
    from tsumugi.jobs.settings import EnvNames

#: What a call of a method says that the class does not have.
_NO_METHOD: Final = ("does not implement the method", "does not exist")
_ENTRIES: Final = {
    "shard": (
        '"durable_objects": {{ "bindings": [{{ "name": "{name}", "class_name": "TsumugiJobShard" '
        '}}] }}, "migrations": [{{ "tag": "v1", "new_sqlite_classes": ["TsumugiJobShard"] }}], '
        "with `class TsumugiJobShard(tsumugi.JobShard): ...` in the main module"
    ),
    "queue": (
        '"queues": {{ "producers": [{{ "binding": "{name}", "queue": "jobs" }}], '
        '"consumers": [{{ "queue": "jobs", "max_batch_size": 100, "max_batch_timeout": 0 }}] }}'
    ),
    "database": (
        '"d1_databases": [{{ "binding": "{name}", "database_name": "jobs", "database_id": "..." }}]'
    ),
    "service": '"services": [{{ "binding": "{name}", "service": "name-of-the-other-worker" }}]',
}


class MissingBinding(LookupError):
    """``env`` lacks something the coordinator needs. The text has the entry to add."""

    def __init__(self, name: str, kind: str) -> None:
        self.name = name
        super().__init__(
            f"env.{name} is missing: add to wrangler.jsonc {_ENTRIES[kind].format(name=name)}"
        )


class ShardError(RuntimeError):
    """A shard did not answer, or refused. Whether it did what was asked is not known."""

    def __init__(self, shard: str, method: str, reason: str) -> None:
        self.shard = shard
        self.method = method
        self.reason = reason
        super().__init__(f"shard {shard} did not do {method}(): {reason}")


def bound(env: Any, name: str, kind: str) -> Any:
    """The binding of that name. Raises ``MissingBinding``; ``kind`` says what it would be."""
    if env is None:
        raise TypeError(
            "env is None: pass self.env (the env parameter of a class's handler is always None)"
        )
    value = env.get(name) if isinstance(env, dict) else getattr(env, name, None)
    if value is None:
        raise MissingBinding(name, kind)
    return value


def bare(wrapped: Any) -> Any:
    """JavaScript's own object, where the SDK wrapped one; anything else as it is.

    The SDK's wrappers look for something to convert in every argument and result: some fifty
    crossings of the boundary to JavaScript for one statement of SQL. Between texts there is nothing
    to convert (ADR-0260).
    """
    try:
        return vars(wrapped).get("_binding", wrapped)
    except TypeError:  # it has no attributes of its own: it is JavaScript's already
        return wrapped


async def call_shard(env: Any, names: EnvNames, shard: str, method: str, *texts: str) -> Any:
    """What the shard answers, read. Raises ``MissingBinding`` and ``ShardError``.

    Each call makes a stub of its own: one that failed stays broken, and none may be kept for
    another event.
    """
    namespace = bare(bound(env, names.shard, "shard"))
    try:
        answer = await getattr(namespace.getByName(shard), method)(*texts)
    except Exception as error:
        raise ShardError(shard, method, reason_of(error, names)) from error
    return loads(answer)


def reason_of(error: Exception, names: EnvNames) -> str:
    """What a failed call says, without the far side's traceback."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    if isinstance(error, AttributeError) and "getByName" in lines[-1]:
        entry = _ENTRIES["shard"].format(name=names.shard)
        return f"env.{names.shard} is no Durable Object namespace: write in wrangler.jsonc {entry}"
    if is_no_such_method(lines[-1]):
        return (
            f"the class that {names.shard} is bound to is no job shard ({lines[-1]}): bind the one "
            "made with `class TsumugiJobShard(tsumugi.JobShard): ...`"
        )
    return lines[-1]


def is_no_such_method(reason: str) -> bool:
    """Whether a call failed because the far side has no method of that name."""
    return any(text in reason for text in _NO_METHOD)
