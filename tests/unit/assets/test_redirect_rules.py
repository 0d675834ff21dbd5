"""``_redirects``: what its lines mean and where requests are sent."""

from __future__ import annotations

import pytest
from tsumugi_emulator.assets.redirect_rules import Redirected, RedirectRules, parse_redirects
from tsumugi_emulator.assets.rules import Target


def rules_of(text: str, html_handling: str = "auto-trailing-slash") -> RedirectRules:
    rules = parse_redirects(text, html_handling=html_handling)
    assert rules.faults == []
    return rules


def found(text: str, path: str, host: str = "x.test") -> tuple[str, int] | None:
    redirected = rules_of(text).find(Target(host, path))
    return None if redirected is None else tuple(redirected)


@pytest.mark.parametrize(
    ("line", "path", "expected"),
    [
        ("/a /b", "/a", ("/b", 302)),
        ("/a /b 301", "/a", ("/b", 301)),
        ("/a /b 301 # why", "/a", ("/b", 301)),
        ("/a /b # why", "/a", ("/b", 302)),
        ("/a /b#part 307", "/a", ("/b#part", 307)),
        ("a /b", "/a", ("/b", 302)),
        ("/c?ignored /d", "/c", ("/d", 302)),
        ("/a /b?q=1", "/a", ("/b?q=1", 302)),
        ("/a /b 200", "/a", ("/b", 200)),
        ("/a https://y.test:1/x 308", "/a", ("https://y.test:1/x", 308)),
        ("/a https://y.test", "/a", ("https://y.test/", 302)),
        ("/a /b", "/a/", None),
        ("/blog/* /news/:splat", "/blog/2024/x", ("/news/2024/x", 302)),
        ("/blog/* /news/:splat", "/blog/", ("/news/", 302)),
        ("/blog/* /news/:splat", "/blog", None),
        ("/m/:title/:year /f?y=:year&t=:title", "/m/up/2009", ("/f?y=2009&t=up", 302)),
        ("/m/:id/:id_2 /:id_2/:id", "/m/1/2", ("/2/1", 302)),
        ("/m/:title /f/:other", "/m/up", ("/f/:other", 302)),
        ("/x/* /y//:splat", "/x/a", ("/y/a", 302)),
        ("/x/* https://y.test//:splat", "/x/a", ("https://y.test/a", 302)),
        ("/m/:title /f/:title", "/m/a/b", None),
        ("/a.b /c", "/aXb", None),
    ],
)
def test_a_line_sends_a_path(line: str, path: str, expected: tuple[str, int] | None) -> None:
    assert found(line, path) == expected


def test_fixed_paths_that_come_first_are_looked_up_first() -> None:
    text = "/a/fixed /1\n/a/* /2\n/a/late /3"
    assert found(text, "/a/fixed") == ("/1", 302)
    assert found(text, "/a/x") == ("/2", 302)
    assert found(text, "/a/late") == ("/2", 302)  # below a rule that takes it


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("/a", "Expected exactly 2 or 3 whitespace-separated tokens. Got 1."),
        ("/a /b 301 x", "Expected exactly 2 or 3 whitespace-separated tokens. Got 4."),
        ("/a /b 404", "Valid status codes are 200, 301, 302 (default), 303, 307, or 308. Got 404."),
        ("/a /b !", "Valid status codes are 200, 301, 302 (default), 303, 307, or 308. Got !."),
        ("https://x.test/a /b",
         "Only relative URLs are allowed. Skipping absolute URL https://x.test/a."),
        ("/a b",
         "URLs should either be relative (e.g. begin with a forward-slash), or use HTTPS (e.g. "
         'begin with "https://").'),
        ("/a https://y.test/ 200",
         "Proxy (200) redirects can only point to relative paths. Got https://y.test/"),
        ("/*/* /b", "Two parts of /*/* have one name; * is named :splat. Give each a name of its "
                    "own."),
    ],
)  # fmt: skip
def test_a_line_that_is_not_obeyed_is_named(line: str, message: str) -> None:
    rules = parse_redirects(f"# first\n{line}\n/ok /b", html_handling="none")
    assert [(fault.line_number, fault.text, fault.message) for fault in rules.faults] == [
        (2, line, message)
    ]
    assert rules.find(Target("x", "/ok")) is not None


@pytest.mark.parametrize(
    ("line", "html_handling", "comes_back"),
    [
        ("/* /index.html", "none", True),
        ("/* /index 200", "auto-trailing-slash", True),
        ("/ /index.html", "auto-trailing-slash", True),
        ("/ /index.html", "none", False),
        ("/a /index.html", "auto-trailing-slash", False),
        ("/* https://y.test/index.html", "auto-trailing-slash", False),
        ("/* /foo 200", "auto-trailing-slash", False),
    ],
)
def test_a_rule_that_would_lead_back_to_itself_is_left_out(
    line: str, html_handling: str, *, comes_back: bool
) -> None:
    rules = parse_redirects(line, html_handling=html_handling)
    messages = [fault.message for fault in rules.faults]
    assert [message.startswith("Infinite loop detected") for message in messages] == (
        [True] if comes_back else []
    )


def test_the_first_of_two_rules_for_a_path_counts() -> None:
    rules = parse_redirects("/a /b\n/a /c", html_handling="none")
    assert rules.find(Target("x", "/a")) == Redirected("/b", 302)
    (fault,) = rules.faults
    assert (fault.line_number, fault.message) == (2, "Ignoring duplicate rule for path /a.")


def test_there_is_a_largest_number_of_fixed_rules() -> None:
    rules = parse_redirects("\n".join(f"/{n} /b" for n in range(2002)), html_handling="none")
    assert len(rules.static) == 2000
    assert [fault.message for fault in rules.faults] == [
        "Maximum number of static rules supported is 2000. Skipping line."
    ] * 2


def test_there_is_a_largest_number_of_other_rules() -> None:
    text = "\n".join(f"/{n}/* /b/:splat" for n in range(103))
    rules = parse_redirects(text, html_handling="none")
    assert len(rules.dynamic) == 100
    (fault,) = rules.faults
    assert fault.message == (
        "Maximum number of dynamic rules supported is 100. Skipping remaining 3 lines of file."
    )


def test_a_line_may_not_be_too_long_but_its_comment_may() -> None:
    long = parse_redirects(f"/{'a' * 1000} /b", html_handling="none")
    assert [fault.message for fault in long.faults] == [
        "Ignoring line 1 as it exceeds the maximum allowed length of 1000."
    ]
    assert found(f"/a /b # {'x' * 2000}", "/a") == ("/b", 302)


@pytest.mark.parametrize(
    ("to", "url", "location"),
    [
        ("/b", "http://x.test/a?q=1", "/b?q=1"),
        ("/b?own", "http://x.test/a?q=1", "/b?own"),
        ("/b#part", "http://x.test/a?q=1", "/b?q=1#part"),
        ("https://y.test/b#part", "http://x.test/a?q=1", "https://y.test/b?q=1#part"),
        ("https://y.test/b?own#part", "http://x.test/a?q=1", "https://y.test/b?own#part"),
        ("/ä b", "http://x.test/a", "/%C3%A4%20b"),
    ],
)
def test_a_location_keeps_the_query_unless_the_rule_has_one(
    to: str, url: str, location: str
) -> None:
    assert Redirected(to, 302).location(url) == location
