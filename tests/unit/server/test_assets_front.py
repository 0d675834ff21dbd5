"""Assets in front of the Worker: which path a request's target is."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.assets.site import Site, SiteRules
from tsumugi_emulator.server.assets_front import AssetsFront

if TYPE_CHECKING:
    from pathlib import Path


def answer(directory: Path, raw_path: bytes) -> dict[str, Any]:
    """The head of the answer; the Worker behind answers 299."""
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async def worker(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 299, "headers": []})

    scope = {
        "type": "http",
        "method": "GET",
        "scheme": "http",
        "raw_path": raw_path,
        "query_string": b"",
        "headers": [(b"host", b"h.example")],
    }
    front = AssetsFront(lambda: Site(directory, SiteRules()), worker)
    asyncio.run(front(scope, None, send))
    return sent[0]


def test_two_slashes_begin_a_path_not_a_host(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("home")
    (tmp_path / "a.txt").write_text("a")
    moved = answer(tmp_path, b"//a.txt")
    assert (moved["status"], dict(moved["headers"])[b"location"]) == (307, b"/a.txt")
    assert answer(tmp_path, b"//other.example/")["status"] == 299
    assert answer(tmp_path, b"/\\other.example/")["status"] == 299
