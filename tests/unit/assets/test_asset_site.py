"""Answers from a directory of assets: what keeps a request from the Worker, and its headers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tsumugi_emulator.assets.ignored import IgnoreRules
from tsumugi_emulator.assets.site import AssetAnswer, AssetRequest, Site, SiteRules

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    public = tmp_path / "public"
    (public / "sub").mkdir(parents=True)
    (public / "index.html").write_text("<p>home")
    (public / "a b.txt").write_text("spaced")
    (public / "app.js").write_text("1")
    (public / "sub" / "data.bin").write_bytes(b"\0\1")
    (public / "_headers").write_text("/elsewhere\n  X-A: b")
    (tmp_path / "secret.txt").write_text("secret")
    return public


def request(path: str, method: str = "GET", query: str = "", **headers: str) -> AssetRequest:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return AssetRequest(method, path, query, named)


def before(directory: Path, asked: AssetRequest, **rules: Any) -> AssetAnswer | None:
    return Site(directory, SiteRules(**rules)).before_worker(asked)


def test_a_file_comes_with_its_type_its_tag_and_how_long_it_may_be_kept(directory: Path) -> None:
    answer = before(directory, request("/app.js"))
    assert answer is not None
    headers = dict(answer.headers)
    assert (answer.status, answer.body) == (200, b"1")
    assert headers["content-type"] == "text/javascript; charset=utf-8"
    assert headers["cache-control"] == "public, max-age=0, must-revalidate"
    assert headers["etag"].startswith('"')


def test_what_the_client_has_already_is_not_sent_again(directory: Path) -> None:
    site = Site(directory, SiteRules())
    first = site.fetch(request("/app.js"))
    tag = dict(first.headers)["etag"]
    again = site.fetch(request("/app.js", if_none_match=f"W/{tag}"))
    assert (again.status, again.body, dict(again.headers)["etag"]) == (304, None, tag)


def test_a_saved_file_is_served_at_once_under_another_tag(directory: Path) -> None:
    site = Site(directory, SiteRules())
    old = dict(site.fetch(request("/app.js")).headers)["etag"]
    (directory / "app.js").write_text("22")
    answer = site.fetch(request("/app.js"))
    assert answer.body == b"22"
    assert dict(answer.headers)["etag"] != old


def test_head_tells_the_length_without_the_content(directory: Path) -> None:
    answer = before(directory, request("/sub/data.bin", "HEAD"))
    assert answer is not None
    assert answer.body is None
    assert dict(answer.headers)["content-length"] == "2"


def test_other_methods_than_get_are_refused_where_there_is_a_file(directory: Path) -> None:
    assert before(directory, request("/app.js", "POST")) == AssetAnswer(405)
    assert before(directory, request("/api", "POST")) is None


def test_a_redirect_keeps_the_query(directory: Path) -> None:
    answer = before(directory, request("/index.html", query="a=1"))
    assert answer == AssetAnswer(307, [("location", "/?a=1")])


def test_an_unusual_spelling_is_redirected_to_the_one_of_the_file(directory: Path) -> None:
    answer = before(directory, request("/%61pp.js"))
    assert answer == AssetAnswer(307, [("location", "/app.js")])
    served = before(directory, request("/a%20b.txt"))
    assert served is not None
    assert served.body == b"spaced"


@pytest.mark.parametrize("path", ["/..%2fsecret.txt", "/sub/..%2f..%2fsecret.txt", "/%00", "/.."])
def test_nothing_outside_the_directory_is_served(directory: Path, path: str) -> None:
    assert before(directory, request(path)) is None


def test_files_that_configure_assets_are_none(directory: Path) -> None:
    assert before(directory, request("/_headers")) is None


def test_ignored_files_are_none(directory: Path) -> None:
    (directory / ".assetsignore").write_text("*.bin\n!keep.bin\n")
    assert before(directory, request("/sub/data.bin")) is None
    (directory / "keep.bin").write_bytes(b"1")
    assert before(directory, request("/keep.bin")) is not None


@pytest.mark.parametrize(
    ("line", "path", "ignored"),
    [
        ("node_modules", "/node_modules/a.js", True),
        ("node_modules", "/x/node_modules/a.js", True),
        ("/build", "/x/build", False),
        ("docs/*.md", "/docs/a.md", True),
        ("docs/*.md", "/docs/sub/a.md", False),
        ("**/tmp/", "/a/tmp/b", True),
        ("tmp/", "/tmp", False),
        ("# comment", "/# comment", False),
        ("\\#hash.txt", "/#hash.txt", True),
        ("\\!bang.txt", "/!bang.txt", True),
        ("*.LOG", "/a.log", True),
        ("dirA/\n!dirA/keep.txt", "/dirA/keep.txt", True),
        ("dirB/*\n!dirB/keep.txt", "/dirB/keep.txt", False),
        ("dirB/*\n!dirB/keep.txt", "/dirB/sub/other.txt", True),
        ("a[0-9].txt", "/a1.txt", True),
        ("a[0-9].txt", "/ax.txt", False),
        ("b[!x].txt", "/by.txt", False),
        ("b[!x].txt", "/bx.txt", True),
        ("c[^y].txt", "/cy.txt", True),
        ("u[.txt", "/u[.txt", False),
        ("[z-a].txt", "/z.txt", False),
        ("sp\\ ace.txt", "/sp ace.txt", True),
        ("x\\*y.txt", "/x*y.txt", True),
        ("x\\*y.txt", "/xzy.txt", False),
        ("trail.txt  ", "/trail.txt", True),
        ("deep/**/x.txt", "/deep/x.txt", True),
        ("deep/**/x.txt", "/deep/a/b/x.txt", True),
        ("n**m.txt", "/nx/ym.txt", False),
        ("foo/**", "/foo/a/b", True),
    ],
)
def test_ignore_rules_are_those_of_wrangler(line: str, path: str, ignored: bool) -> None:
    assert IgnoreRules(line).ignores(path) is ignored


def test_the_worker_is_asked_first_if_it_wants_to(directory: Path) -> None:
    assert before(directory, request("/app.js"), worker_first=True) is None


def test_patterns_say_which_paths_are_the_workers(directory: Path) -> None:
    rules: dict[str, Any] = {
        "worker_first": ("/app*", "!/app/public/*"),
        "not_found_handling": "single-page-application",
    }
    assert before(directory, request("/app.js"), **rules) is None
    public = before(directory, request("/app/public/x"), **rules)
    elsewhere = before(directory, request("/elsewhere"), **rules)
    assert public is not None
    assert elsewhere is not None
    assert public.body == elsewhere.body == b"<p>home"


def test_a_browser_that_navigates_gets_the_page_before_the_worker(directory: Path) -> None:
    rules = {"not_found_handling": "single-page-application"}
    assert before(directory, request("/page"), **rules) is None
    answer = before(directory, request("/page", sec_fetch_mode="navigate"), **rules)
    assert answer is not None
    assert answer.body == b"<p>home"
    older = {**rules, "navigation_prefers_assets": False}
    assert before(directory, request("/page", sec_fetch_mode="navigate"), **older) is None


def test_the_binding_answers_404_for_what_is_not_there(directory: Path) -> None:
    assert Site(directory, SiteRules()).fetch(request("/nope")) == AssetAnswer(404)


# -- _headers and _redirects -----------------------------------------------------------------------


def write_rules(directory: Path, *, headers: str = "", redirects: str = "") -> None:
    (directory / "_headers").write_text(headers)
    (directory / "_redirects").write_text(redirects)


def test_headers_are_given_to_whatever_is_answered(directory: Path) -> None:
    write_rules(directory, headers="/*\n  X-A: b\n  ! ETag")
    site = Site(directory, SiteRules())
    file = site.fetch(request("/app.js"))
    assert dict(file.headers)["x-a"] == "b"
    assert "etag" not in dict(file.headers)
    missing = site.fetch(request("/nothing"))
    assert (missing.status, dict(missing.headers)) == (404, {"x-a": "b"})
    moved = site.fetch(request("/index.html"))
    assert dict(moved.headers) == {"location": "/", "x-a": "b"}


def test_a_redirect_comes_before_files_and_the_worker(directory: Path) -> None:
    write_rules(directory, redirects="/app.js /other 301\n/api/* https://y.test/:splat")
    answer = before(directory, request("/app.js", query="a=1"))
    assert answer == AssetAnswer(301, [("location", "/other?a=1")])
    answer = before(directory, request("/api/x", "POST"))
    assert answer == AssetAnswer(302, [("location", "https://y.test/x")])
    assert before(directory, request("/elsewhere")) is None


def test_a_redirect_does_not_come_before_a_worker_that_comes_first(directory: Path) -> None:
    write_rules(directory, redirects="/app.js /other")
    assert before(directory, request("/app.js"), worker_first=True) is None
    site = Site(directory, SiteRules(worker_first=True))
    assert site.fetch(request("/app.js")).status == 302


def test_a_rule_with_status_200_answers_with_another_file(directory: Path) -> None:
    write_rules(directory, redirects="/users/* /sub/data.bin 200\n/gone /nothing 200")
    answer = before(directory, request("/users/1"))
    assert answer is not None
    assert (answer.status, answer.body) == (200, b"\0\1")
    gone = before(directory, request("/gone"))
    assert gone == AssetAnswer(404)


def test_rules_that_are_saved_are_obeyed_at_once(directory: Path) -> None:
    site = Site(directory, SiteRules())
    assert site.before_worker(request("/old")) is None
    write_rules(directory, headers="/*\n  X-A: 1", redirects="/old /new")
    answer = site.before_worker(request("/old"))
    assert answer == AssetAnswer(302, [("location", "/new"), ("x-a", "1")])
    (directory / "_redirects").unlink()
    assert site.before_worker(request("/old")) is None


@pytest.mark.parametrize(
    ("name", "content_type"),
    [
        ("a.XML", "application/xml"),
        ("a.yaml", "text/yaml; charset=utf-8"),
        ("a.log", "text/plain; charset=utf-8"),
        ("a.ogg", "audio/ogg"),
        ("a.py", None),
    ],
)
def test_types_are_the_platforms_not_pythons(
    directory: Path, name: str, content_type: str | None
) -> None:
    (directory / name).write_text("x")
    answer = Site(directory, SiteRules()).fetch(request(f"/{name}"))
    assert dict(answer.headers).get("content-type") == content_type
