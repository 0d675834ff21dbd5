"""What is logged of attempts that did not go well. The job keeps more: its error and traceback."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from tsumugi.jobs.core.reports import Outcome

if TYPE_CHECKING:
    from tsumugi.jobs.consumer.reports import Ended

_log = logging.getLogger("tsumugi.jobs")

_VERBS: Final = {
    Outcome.SUCCEEDED: "succeeded, but",
    Outcome.FAILED: "failed:",
    Outcome.IMPOSSIBLE: "failed for good:",
    Outcome.TIMED_OUT: "was given up:",
}


def log_end(job_id: str, attempt: int, ended: Ended) -> None:
    """Log how the attempt ended, unless it went well or the Worker that performed it says so."""
    if ended.why:
        _log.warning(
            "job %s, attempt %d %s %s",
            job_id,
            attempt,
            _VERBS.get(ended.outcome, "ended:"),
            ended.why,
        )
