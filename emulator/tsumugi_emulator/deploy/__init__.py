"""What deploying would upload, and who does it. Uploads nothing itself."""

from __future__ import annotations
