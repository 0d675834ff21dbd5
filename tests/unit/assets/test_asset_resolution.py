"""Which file a path means: Cloudflare's published tables of html_handling, and not-found pages."""

from __future__ import annotations

import pytest
from tsumugi_emulator.assets.resolution import Redirect, Serve, resolve

FILES = frozenset(
    {
        "/index.html",
        "/file.html",
        "/folder/index.html",
        "/both.html",
        "/both/index.html",
        "/bin",
        "/logo.png",
    }
)


def found(path: str, *, html: str = "auto-trailing-slash", missing: str = "none") -> str | None:
    """``-> /path`` for a redirect, the file that is served otherwise."""
    answer = resolve(path, FILES.__contains__, html_handling=html, not_found_handling=missing)
    match answer:
        case Redirect(path=address):
            return f"-> {address}"
        case Serve(file=file, status=200):
            return file
        case Serve(file=file, status=status):
            return f"{status} {file}"
        case None:
            return None


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/", "/index.html"),
        ("/index", "-> /"),
        ("/index.html", "-> /"),
        ("/file", "/file.html"),
        ("/file.html", "-> /file"),
        ("/file/", "-> /file"),
        ("/file/index", "-> /file"),
        ("/file/index.html", "-> /file"),
        ("/folder", "-> /folder/"),
        ("/folder.html", "-> /folder/"),
        ("/folder/", "/folder/index.html"),
        ("/folder/index", "-> /folder/"),
        ("/folder/index.html", "-> /folder/"),
        ("/both", "/both.html"),
        ("/both/", "/both/index.html"),
        ("/bin", "/bin"),
        ("/bin/", None),
        ("/logo.png", "/logo.png"),
        ("/nothing", None),
    ],
)
def test_by_default_a_page_has_a_slash_exactly_when_it_is_an_index(
    path: str, answer: str | None
) -> None:
    assert found(path) == answer


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/", "/index.html"),
        ("/index.html", "-> /"),
        ("/file", "-> /file/"),
        ("/file.html", "-> /file/"),
        ("/file/", "/file.html"),
        ("/folder", "-> /folder/"),
        ("/folder.html", "-> /folder/"),
        ("/folder/index.html", "-> /folder/"),
        ("/both/", "/both/index.html"),
        ("/both.html", "/both.html"),
        ("/bin", "/bin"),
    ],
)
def test_a_forced_slash_ends_every_page(path: str, answer: str) -> None:
    assert found(path, html="force-trailing-slash") == answer


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/", "/index.html"),
        ("/index", "-> /"),
        ("/index.html", "-> /"),
        ("/file", "/file.html"),
        ("/file/", "-> /file"),
        ("/folder", "/folder/index.html"),
        ("/folder/", "-> /folder"),
        ("/folder/index", "-> /folder"),
        ("/folder/index.html", "-> /folder"),
        ("/both", "/both.html"),
        ("/both/index.html", "/both/index.html"),
        ("/bin", "/bin"),
    ],
)
def test_a_dropped_slash_ends_no_page_but_the_first(path: str, answer: str) -> None:
    assert found(path, html="drop-trailing-slash") == answer


@pytest.mark.parametrize("path", ["/", "/file", "/folder/", "/index"])
def test_without_html_handling_only_the_very_path_counts(path: str) -> None:
    assert found(path, html="none") is None
    assert found("/file.html", html="none") == "/file.html"


def test_a_single_page_application_answers_every_path_with_its_page() -> None:
    assert found("/any/where", missing="single-page-application") == "/index.html"
    assert found("/logo.png", missing="single-page-application") == "/logo.png"


def test_the_nearest_404_page_answers_what_is_missing() -> None:
    files = {"/404.html", "/docs/404.html"}

    def answer(path: str) -> object:
        return resolve(
            path,
            files.__contains__,
            html_handling="auto-trailing-slash",
            not_found_handling="404-page",
        )

    assert answer("/docs/guide/page") == Serve("/docs/404.html", 404)
    assert answer("/elsewhere") == Serve("/404.html", 404)


def test_no_redirect_leads_to_a_page_that_is_another_file() -> None:
    files = {"/page.html", "/page"}  # the address of page.html is taken by a file of its own
    answer = resolve(
        "/page.html",
        files.__contains__,
        html_handling="auto-trailing-slash",
        not_found_handling="none",
    )
    assert answer == Serve("/page.html")
