"""What the API lists and counts: a copy of all jobs in D1, seconds behind their shards.

``project`` writes it, ``queries`` reads it, ``cleanup`` forgets what is old, and ``schema`` says
whether the migrations in ``migrations`` were applied. It decides nothing and asks no shard.
"""

from __future__ import annotations

from tsumugi.jobs.read_model.cleanup import Cleaned, cleanup
from tsumugi.jobs.read_model.projection import project
from tsumugi.jobs.read_model.schema import MissingMigrations, migrated

__all__ = ["Cleaned", "MissingMigrations", "cleanup", "migrated", "project"]
