"""Saved anew by the reload benchmark."""

from __future__ import annotations

VERSION = "0"
