"""The Durable Object class of a Worker with jobs: the behaviour of a shard, for one app."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tsumugi.jobs.entrypoint import ClassMaker, OfAnApp
from tsumugi.jobs.shard.durable import JobShardBehaviour

if TYPE_CHECKING:
    from workers import DurableObject

    from tsumugi.jobs.app import Tsumugi


class ShardOfAnApp(OfAnApp, JobShardBehaviour):
    """A Durable Object that keeps the jobs of one shard.

    class TsumugiJobShard(JobShard, app=tsumugi): ...
    """

    def __init_subclass__(cls, *, app: Tsumugi | None = None) -> None:
        super().__init_subclass__(app=app)
        if app is not None:
            cls.settings = app.settings


if TYPE_CHECKING:

    class JobShard(ShardOfAnApp, DurableObject):  # type: ignore[misc]
        """A Durable Object that keeps the jobs of one shard.

        class TsumugiJobShard(JobShard, app=tsumugi): ...
        """


JOB_SHARD: Final = ClassMaker("JobShard", ShardOfAnApp, "DurableObject")


def __getattr__(name: str) -> Any:
    if name == "JobShard":
        return JOB_SHARD.made()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
