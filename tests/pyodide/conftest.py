"""One run of the emulated boundary for each Python version, shared by all tests."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import emulator_run

collect_ignore = ["scenarios", "harness", "node_modules"]


@pytest.fixture(scope="session")
def emulated():
    return cache(emulator_run.run)
