"""Typed queue consumers for Cloudflare Python Workers. Runs deployed and under ``tsumugi dev``."""

from __future__ import annotations

from tsumugi._version import __version__

__all__ = ["__version__"]
