"""Measure Tsumugi, beside wrangler dev where Node is present. Run with ``python -m benchmarks``."""

from __future__ import annotations
