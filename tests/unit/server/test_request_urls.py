"""What ``request.url`` is: the target of the request as the runtime's URL parser writes it."""

from __future__ import annotations

import pytest
from tsumugi_emulator.server.ingress import request_url


def url(target: str) -> str:
    path, _, query = target.partition("?")
    scope = {
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
    }
    return request_url(scope, [("host", "h.example:1")])


@pytest.mark.parametrize(
    ("target", "written"),
    [
        ("/a?b=c", "/a?b=c"),
        ("/a/../b", "/b"),
        ("/../etc/passwd", "/etc/passwd"),
        ("/%2e%2E/x", "/x"),
        ("/./a/./b.txt", "/a/b.txt"),
        ("/a.txt", "/a.txt"),
        ("//other.example/x", "//other.example/x"),
        ("/\\other.example/x", "//other.example/x"),
        ("/%zz", "/%zz"),
        ('/a|b{}<>"`', "/a|b%7B%7D%3C%3E%22%60"),
        ("/a?b=<>\"'", "/a?b=%3C%3E%22%27"),
    ],
)
def test_the_url_is_written_as_the_runtime_writes_it(target: str, written: str) -> None:
    assert url(target) == f"http://h.example:1{written}"


def test_a_host_that_is_none_is_left_as_it_is() -> None:
    scope = {"scheme": "http", "path": "/a/../b", "raw_path": b"/a/../b", "query_string": b""}
    assert request_url(scope, [("host", "no host")]) == "http://no host/a/../b"
