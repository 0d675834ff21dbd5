"""What is looked for, by theme. Importing this package registers every rule."""

from __future__ import annotations
