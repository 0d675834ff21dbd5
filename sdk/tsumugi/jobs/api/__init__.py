"""The jobs API over HTTP, everything under ``/api``. It keeps nothing and decides nothing.

``handle`` is what an entrypoint calls. ``services`` says what it needs of the rest; ``routes``
lists the endpoints, ``models`` their bodies, ``openapi`` is the document made of both, and
``auth`` and ``access`` decide who may ask.
"""

from __future__ import annotations

from tsumugi.jobs.api.handler import handle

__all__ = ["handle"]
