"""The truth about the active jobs of one (binding, shard number), in one Durable Object.

``sql`` is the only way to SQLite and ``moves`` the only way a job's row changes. ``waiting`` and
``in_flight`` show ``core`` what it decides on, ``ticking`` carries out what it decides, ``shard``
is what calls arrive at and ``durable`` joins it to the platform.
"""

from __future__ import annotations
