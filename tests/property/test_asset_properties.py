"""Whatever files there are: redirects end at once, and every file has an address."""

from __future__ import annotations

from hypothesis import assume, given, strategies as st
from tsumugi_emulator.assets.paths import decode, encode
from tsumugi_emulator.assets.resolution import Redirect, Serve, resolve
from tsumugi_emulator.config.services import HTML_HANDLING, NOT_FOUND_HANDLING

segments = st.sampled_from(["a", "b", "index", "404", "a.html", "index.html", "404.html", "b.txt"])
paths = st.lists(segments, min_size=1, max_size=3).map(lambda parts: "/" + "/".join(parts))
requests = st.one_of(paths, paths.map(lambda path: f"{path}/"), st.just("/"))
files = st.frozensets(paths, max_size=8)
htmls = st.sampled_from(HTML_HANDLING)
missings = st.sampled_from(NOT_FOUND_HANDLING)


def answer(path: str, there: frozenset[str], html: str, missing: str) -> Serve | Redirect | None:
    return resolve(path, there.__contains__, html_handling=html, not_found_handling=missing)


@given(requests, files, htmls, missings)
def test_what_is_served_is_there(path: str, there: frozenset[str], html: str, missing: str) -> None:
    found = answer(path, there, html, missing)
    if isinstance(found, Serve):
        assert found.file in there


@given(requests, files, htmls, missings)
def test_redirects_lead_to_a_file_at_once(
    path: str, there: frozenset[str], html: str, missing: str
) -> None:
    found = answer(path, there, html, missing)
    if not isinstance(found, Redirect):
        return
    found = answer(found.path, there, html, missing)
    if isinstance(found, Redirect):  # /index/ -> /index -> /, as production answers too
        found = answer(found.path, there, html, missing)
    assert isinstance(found, Serve)


@given(requests, files, missings)
def test_without_html_handling_nothing_is_redirected(
    path: str, there: frozenset[str], missing: str
) -> None:
    assert not isinstance(answer(path, there, "none", missing), Redirect)


@given(paths, files, htmls)
def test_every_file_that_is_no_page_is_served_at_its_path(
    file: str, there: frozenset[str], html: str
) -> None:
    if file.endswith(".html"):
        return
    assert answer(file, there | {file}, html, "none") == Serve(file)


@given(paths, files, htmls)
def test_every_page_can_be_reached_from_its_path(
    file: str, there: frozenset[str], html: str
) -> None:
    # A folder called index is taken for the page of the folder above it, as in production.
    assume("/index/" not in file)
    page = file if file.endswith(".html") else f"{file}.html"
    there |= {page}
    found = answer(page, there, html, "none")
    for _ in range(2):
        if isinstance(found, Redirect):
            found = answer(found.path, there, html, "none")
    assert isinstance(found, Serve)


@given(st.text(st.characters(codec="utf-8", exclude_characters="/"), min_size=1))
def test_decoding_undoes_encoding(name: str) -> None:
    assert decode(encode(f"/{name}")) == f"/{name}"


@given(st.text(alphabet="/%aä0fF ", max_size=12))
def test_decoding_takes_anything_and_leaves_no_double_slash(text: str) -> None:
    assert "//" not in decode(f"/{text}")
