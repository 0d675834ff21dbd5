"""Durable Objects without JavaScript: their ids, their files, who owns them, their alarms."""

from __future__ import annotations
