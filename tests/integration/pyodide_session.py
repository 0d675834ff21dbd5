"""``tsumugi dev --runtime pyodide`` as a person runs it, with the packages of the Pyodide judge."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import judge
import pytest
from dev_session import Dev, children_of

if TYPE_CHECKING:
    import re

#: Loading Pyodide takes seconds, and twice as long beside another one.
WITHIN_S = 60.0

#: A compatibility date of each Python.
DATES = {"3.12": "2025-01-01", "3.13": "2025-10-01", "3.14": "2026-11-01"}


class PyodideDev(Dev):
    """A :class:`Dev` whose Workers run in Pyodide, and which waits longer for everything."""

    def __init__(self, project: Any, *arguments: str, env: Any = None, **options: Any) -> None:
        if not judge.node_available():
            pytest.skip("needs node and npm")
        judge.install()
        more = {"TSUMUGI_PYODIDE": str(judge.PACKAGES)}
        super().__init__(
            project, "--runtime", "pyodide", *arguments, env={**more, **(env or {})}, **options
        )

    def wait_for(
        self, pattern: str, *, times: int = 1, after: int = 0, within_s: float = WITHIN_S
    ) -> re.Match[str]:
        return super().wait_for(pattern, times=times, after=after, within_s=within_s)

    @property
    def client(self) -> Any:
        client = super().client
        client.timeout = WITHIN_S
        return client

    def nodes(self) -> list[int]:
        """Node processes alive now."""
        return [node for child in self.children() for node in children_of(child)]


def environment_without_pyodide() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if key != "TSUMUGI_PYODIDE"}
