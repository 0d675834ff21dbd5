"""``Headers``, ``URL`` and ``URLSearchParams``."""

from __future__ import annotations

import js
import pytest
from pyodide.ffi import JsException, create_proxy, jsnull, to_js


def test_headers_of_a_python_dict_of_pairs_and_of_an_object() -> None:
    assert js.Headers.new({"A": "1"}.items()).get("a") == "1"
    assert js.Headers.new([("A", "1"), ("a", "2")]).get("a") == "1, 2"
    assert js.Headers.new(to_js({"a": "b"})).get("A") == "b"


def test_headers_iterate_sorted_and_joined() -> None:
    headers = js.Headers.new(
        [("b", "2"), ("a", "1"), ("b", "3"), ("Set-Cookie", "x"), ("set-cookie", "y")]
    )
    assert [list(pair) for pair in headers] == [
        ["a", "1"],
        ["b", "2, 3"],
        ["set-cookie", "x"],
        ["set-cookie", "y"],
    ]
    assert list(headers.getSetCookie()) == ["x", "y"]


def test_headers_are_a_mapping_for_python() -> None:
    headers = js.Headers.new({"A": "1"}.items())
    assert dict(headers) == {"a": "1"}
    assert headers["a"] == "1"
    assert "A" in headers
    assert headers["b"] is jsnull  # Headers.get answers null, which is not "absent" to Pyodide


def test_a_missing_header_is_null() -> None:
    assert not js.Headers.new().get("a")
    assert js.Headers.new().get("a") is not None


def test_set_replaces_every_value_and_delete_removes() -> None:
    headers = js.Headers.new([("a", "1"), ("b", "2"), ("a", "3")])
    headers.set("A", " 4 ")
    assert [list(pair) for pair in headers.entries()] == [["a", "4"], ["b", "2"]]
    headers.delete("a")
    assert not headers.has("a")


@pytest.mark.parametrize("name", ["a b", "", "ä", "a:"])
def test_names_must_be_tokens(name: str) -> None:
    with pytest.raises(JsException, match=r"^TypeError: Invalid header name\.$"):
        js.Headers.new().append(name, "x")


def test_values_may_not_break_the_line() -> None:
    with pytest.raises(JsException, match=r"^TypeError: Invalid header value\.$"):
        js.Headers.new().append("a", "x\r\ny")


def test_for_each_calls_with_value_name_and_headers() -> None:
    seen = []
    callback = create_proxy(lambda value, name, headers: seen.append((value, name)))
    js.Headers.new({"a": "1"}.items()).forEach(callback)
    assert seen == [("1", "a")]


def test_a_url_has_its_parts() -> None:
    url = js.URL.new("https://user:pw@EXAMPLE.com:8080/a/../b c?x=1&y=2#h")
    assert url.href == "https://user:pw@example.com:8080/b%20c?x=1&y=2#h"
    assert (url.protocol, url.host, url.hostname, url.port) == (
        "https:",
        "example.com:8080",
        "example.com",
        "8080",
    )
    assert (url.pathname, url.search, url.hash) == ("/b%20c", "?x=1&y=2", "#h")
    assert (url.username, url.password, url.origin) == ("user", "pw", "https://example.com:8080")
    assert str(url) == url.toString() == url.href


def test_a_relative_url_needs_a_base() -> None:
    assert js.URL.new("../c", "https://example.com/a/b").href == "https://example.com/c"
    with pytest.raises(JsException, match=r"^TypeError: Invalid URL string\.$"):
        js.URL.new("/c")
    assert js.URL.canParse("https://x") is True
    assert js.URL.canParse("nope") is False


def test_search_params_and_search_follow_each_other() -> None:
    url = js.URL.new("https://example.com/?a=1")
    url.searchParams.append("b", "x y")
    assert url.search == "?a=1&b=x+y"
    url.search = "?c=2"
    assert url.searchParams.get("c") == "2"
    url.searchParams.delete("c")
    assert url.href == "https://example.com/"


def test_setting_a_part_changes_the_href() -> None:
    url = js.URL.new("https://example.com/a")
    url.pathname = "/b c"
    url.port = "8443"
    assert url.href == "https://example.com:8443/b%20c"


def test_search_params_decode_and_encode() -> None:
    params = js.URLSearchParams.new("?a=1&a=%C3%A9+x&b")
    assert list(params.getAll("a")) == ["1", "é x"]
    assert params.toString() == "a=1&a=%C3%A9+x&b="
    assert js.URLSearchParams.new(to_js({"k~*": "&="})).toString() == "k%7E*=%26%3D"


def test_search_params_are_a_mapping_of_names() -> None:
    params = js.URLSearchParams.new("b=1&a=2&b=3")
    assert list(params) == ["b", "a", "b"]
    assert (len(params), params["a"], "c" in params) == (3, "2", False)
    params.sort()
    assert [list(pair) for pair in params.entries()] == [["a", "2"], ["b", "1"], ["b", "3"]]
    params.set("b", "4")
    assert params.toString() == "a=2&b=4"
