"""What ``env`` holds: JavaScript-shaped host objects over the supervisor's services."""

from __future__ import annotations
