"""What the coordinator decides. Pure: no clock, no chance, no I/O, no platform (ADR-0110).

Time (``now_ms``: whole milliseconds since 1970) and chance (a number from 0 up to 1, or bytes) are
arguments. Waiting jobs are read through the protocols in ``sources``, as few as a decision needs.
Read in this order: ``states``, ``model``, ``sources``, ``ordering``, ``schedule``.
"""

from __future__ import annotations
