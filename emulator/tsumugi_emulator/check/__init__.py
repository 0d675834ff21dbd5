"""``tsumugi check``: what fails in production, found without running anything.

Reading order: findings (what is said), facts (what one file says), examine (file -> facts), judge
(all facts -> findings), rules (what is looked for). Only reader.py touches files (ADR-0200).
"""

from __future__ import annotations
