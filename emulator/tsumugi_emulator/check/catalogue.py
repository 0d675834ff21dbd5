"""Print docs/checks.md: ``python -m tsumugi_emulator.check.catalogue > docs/checks.md``."""

from __future__ import annotations

import sys

from tsumugi_emulator.check import examine, judge  # noqa: F401  # they register every rule
from tsumugi_emulator.check.report import catalogue

if __name__ == "__main__":
    sys.stdout.write(catalogue())
