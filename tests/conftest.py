"""What all tests share: how hypothesis chooses its examples, and how many run at once."""

from __future__ import annotations

import os

from hypothesis import settings

# Time limits on an example would measure the machine. In CI the same examples run every time;
# on a developer's machine new ones are tried, and a failure is kept in .hypothesis.
settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors: integration tests mostly wait for what they started."""
    return (os.cpu_count() or 1) + 1
