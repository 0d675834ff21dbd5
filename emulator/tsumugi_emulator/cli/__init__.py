"""The command ``tsumugi``: the argument tree in ``main``, one module per command."""

from __future__ import annotations
