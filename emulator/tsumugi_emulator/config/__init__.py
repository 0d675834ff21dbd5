"""Reads wrangler configuration files. See load.py for the entry point and model.py for the result.

Importing this package imports none of its modules: a start pays only for what it uses.
"""

from __future__ import annotations
