"""The queue's side of jobs: read dispatches, perform them, report. It decides nothing about a job.

``consume`` takes a batch. ``deliveries`` reads it, ``batch`` runs it, ``attempt`` is one job's
turn, ``reports`` is how that is told, ``link`` tells it to a shard, ``remote`` performs for
another Worker and asks one to.
"""

from __future__ import annotations

from tsumugi.jobs.consumer.consume import consume

__all__ = ["consume"]
