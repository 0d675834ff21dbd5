"""``_headers``: what its lines mean and which headers come of them."""

from __future__ import annotations

import pytest
from tsumugi_emulator.assets.header_rules import parse_headers
from tsumugi_emulator.assets.rules import Target


def applied(
    text: str, path: str, *headers: tuple[str, str], host: str = "x.test"
) -> dict[str, str]:
    rules = parse_headers(text)
    assert rules.faults == []
    return dict(rules.applied(list(headers), Target(host, path)))


def faults(text: str) -> list[tuple[int, str]]:
    return [(fault.line_number, fault.message) for fault in parse_headers(text).faults]


def test_lines_below_a_path_are_its_headers() -> None:
    text = """
# A comment
/a
  X-One: 1
  # Another
  X-Two: a: b
/b
  X-One: 2
"""
    assert applied(text, "/a") == {"x-one": "1", "x-two": "a: b"}
    assert applied(text, "/b") == {"x-one": "2"}
    assert applied(text, "/a/") == {}


def test_a_header_given_twice_is_one() -> None:
    assert applied("/a\n  X-A: 1\n  x-a: 2", "/a") == {"x-a": "1, 2"}
    assert applied("/a\n  X-A: 1\n/*\n  X-A: 2", "/a") == {"x-a": "1, 2"}


def test_cookies_of_two_rules_stay_apart() -> None:
    rules = parse_headers("/a\n  Set-Cookie: a=1\n/*\n  Set-Cookie: b=2")
    assert rules.applied([], Target("x.test", "/a")) == [
        ("set-cookie", "a=1"),
        ("set-cookie", "b=2"),
    ]


def test_what_the_answer_had_is_replaced() -> None:
    given = ("cache-control", "public, max-age=0")
    assert applied("/*\n  Cache-Control: no-store", "/a", given) == {"cache-control": "no-store"}


def test_a_header_can_be_taken_away_and_set_again_by_later_rules() -> None:
    text = "/*\n  X-A: 1\n/b/*\n  ! X-A\n  ! ETag\n/b/c\n  X-A: 2"
    tag = ("etag", '"t"')
    assert applied(text, "/a", tag) == {"x-a": "1", "etag": '"t"'}
    assert applied(text, "/b/x", tag) == {}
    assert applied(text, "/b/c", tag) == {"x-a": "2"}


def test_parts_of_a_path_can_be_used_in_values() -> None:
    text = "/movies/:title/*\n  X-Movie: :title is :splat not :other"
    assert applied(text, "/movies/up/x/y") == {"x-movie": "up is x/y not :other"}
    assert applied(text, "/movies/up") == {}


def test_an_absolute_path_is_for_one_host_by_any_protocol_and_port() -> None:
    text = "https://x.test/*\n  X-A: 1\nhttps://:name.example.com/:file\n  X-B: :name/:file"
    assert applied(text, "/a", host="x.test:8787") == {"x-a": "1"}
    assert applied(text, "/f.txt", host="sub.example.com") == {"x-b": "sub/f.txt"}
    assert applied(text, "/f", host="a.sub.example.com") == {}


def test_paths_are_compared_as_urls_have_them() -> None:
    assert applied("/some page\n  X-A: 1", "/some%20page") == {"x-a": "1"}
    assert applied("/a/../b\n  X-A: 1", "/b") == {"x-a": "1"}
    assert applied("/a.b+c\n  X-A: 1", "/aXbbc") == {}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("X-A: 1", (1, "Path should come before header (x-a: 1)")),
        ("word", (1, "Expected a path beginning with at least one forward-slash")),
        ("/a", (1, "No headers specified")),
        ("/a\n/b\n  X-A: 1", (1, "No headers specified")),
        ("/a\n  X-B: 1\n  word", (3, "Expected a colon-separated header pair (e.g. name: value)")),
        ("/a\n  X-B: 1\n  X A: 1", (3, "Header name cannot include spaces")),
        ("/a\n  X-B: 1\n  : 1", (3, "No header name specified")),
        ("/a\n  X-B: 1\n  X-A:", (3, "No header value specified")),
        (
            "/*/*\n",
            (1, "Multiple wildcards (*) are not supported in a single rule. Use a single wildcard "
                "or create separate rules."),
        ),
        (
            "/*/:splat\n",
            (1, "Cannot combine wildcard (*) with :splat placeholder. The wildcard already "
                "captures as :splat."),
        ),
        (
            "/:a/:a",
            (1, "Two parts of /:a/:a have one name; * is named :splat. Give each a name of its "
                "own."),
        ),
        (
            "http://x.test/",
            (1, "URLs should either be relative (e.g. begin with a forward-slash), or use HTTPS "
                '(e.g. begin with "https://").'),
        ),
        (
            "https://x.test:80/",
            (1, "Specifying ports is not supported. Skipping absolute URL https://x.test:80/."),
        ),
        ("/a\n  X-B: 1\n  X: " + "v" * 2000,
         (3, "Ignoring line 3 as it exceeds the maximum allowed length of 2000.")),
    ],
)  # fmt: skip
def test_a_line_that_is_not_obeyed_is_named(text: str, fault: tuple[int, str]) -> None:
    assert faults(text) == [fault]


def test_headers_below_a_path_that_is_not_obeyed_are_not_obeyed_either() -> None:
    assert [line for line, _ in faults("/a\n  X-A: 1\nhttp://b\n  X-B: 1")] == [3, 4]


def test_there_is_a_largest_number_of_rules() -> None:
    rules = parse_headers("\n".join(f"/a/{n}\nx: {n}" for n in range(150)))
    # As deployed: the rule that is open when the hundredth is complete still counts.
    assert len(rules.rules) == 101
    (fault,) = rules.faults
    assert fault.message == (
        "Maximum number of rules supported is 100. Skipping remaining 98 lines of file."
    )
