"""Cron triggers: what an expression means (pure) and firing it on time."""

from __future__ import annotations
