"""Where a project that `tsumugi init` makes takes this package from."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from tsumugi_emulator.cli.init import uv_source


@pytest.mark.parametrize(
    ("direct_url", "source"),
    [
        (
            {"url": "file:///home/ada/my%20tsumugi", "dir_info": {"editable": True}},
            {"path": "/home/ada/my tsumugi"},
        ),
        (
            {"url": "file:///tmp/tsumugi_workers-0.1.0-py3-none-any.whl", "archive_info": {}},
            {"path": "/tmp/tsumugi_workers-0.1.0-py3-none-any.whl"},
        ),
        (
            {
                "url": "https://example.com/tsumugi.git",
                "vcs_info": {"vcs": "git", "requested_revision": "main", "commit_id": "a1b2"},
            },
            {"git": "https://example.com/tsumugi.git", "rev": "a1b2"},
        ),
        (
            {"url": "https://example.com/tsumugi.whl", "archive_info": {}},
            {"url": "https://example.com/tsumugi.whl"},
        ),
    ],
)
def test_it_comes_from_where_it_was_installed(
    direct_url: dict[str, Any], source: dict[str, str]
) -> None:
    line = uv_source(direct_url)
    assert line is not None
    assert tomllib.loads(line) == {"tsumugi-workers": source}


def test_what_an_index_gave_comes_from_the_index() -> None:
    assert uv_source(None) is None
