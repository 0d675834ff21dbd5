"""Request, Response, Headers, URL, fetch events: the SDK's classes over the platform's."""

from http import HTTPMethod, HTTPStatus

import js
from pyodide.ffi import to_js
from workers import Blob, FormData, Request, Response, WorkerEntrypoint

from scenarios.to_js import VALUES


async def scenario_response_bodies(record, env, host):
    for label, value in VALUES.items():
        record.outcome(label, lambda v=value: Response(v))
    for label, make in {
        "Blob": lambda: Blob(["b"]),
        "js.Blob": lambda: js.Blob.new(to_js(["b"])),
        "FormData": lambda: FormData({"a": "b"}),
        "Response": lambda: Response("inner"),
        "js.Response": lambda: js.Response.new("inner"),
        "js.Uint8Array": lambda: to_js(b"ab"),
        "js.ArrayBuffer": lambda: to_js(b"ab").buffer,
        "js.URLSearchParams": lambda: js.URLSearchParams.new("a=1"),
        "js.Object": lambda: js.Object.new(),
        "js.Array": lambda: js.Array.new(),
        "js.Map": lambda: js.Map.new(),
        "ReadableStream": lambda: js.Response.new("streamed").body,
    }.items():
        record.outcome(label, lambda m=make: Response(m()))
        try:
            response = Response(make())
        except TypeError:
            continue
        text = await response.text()
        lines = [line for line in text.split("\r\n") if line and not line.startswith("--")]
        record(f"{label}: text", lines)
        kind = response.headers.get("content-type")
        record(f"{label}: type", kind and kind.split(";")[0])


async def scenario_response_attributes(record, env, host):
    response = Response("hi", status=201, headers={"X-A": "1", "x-b": "2"}, status_text="Made")
    record("repr", response)
    for name in (
        "status",
        "status_text",
        "ok",
        "url",
        "redirected",
        "type",
        "body_used",
        "headers",
        "body",
        "js_object",
        "statusText",
        "bodyUsed",
        "absent",
    ):
        record.outcome(
            name,
            lambda n=name: type(getattr(response, n)) if n == "headers" else getattr(response, n),
        )
    record("header", response.headers["x-a"])
    record("missing header", response.headers["missing"])
    record.outcome("get missing", lambda: response.headers.get("missing", "default"))
    record("in", ["X-A" in response.headers, "missing" in response.headers])
    record("items", list(response.headers.items()))
    record("dict", dict(response.headers))
    record("keys", list(response.headers.keys()))
    record("len", len(response.headers))
    record("js header", response.js_object.headers.get("x-a"))
    record("js missing header", response.js_object.headers.get("missing"))
    record("no body", Response().body)
    record("content type", Response("x").headers["content-type"])
    record("bytes content type", Response(b"x").headers["content-type"])


async def scenario_response_options(record, env, host):
    for status in (200, 204, 199, 600, 0, "200", 200.5, True, HTTPStatus.NOT_FOUND, None, "abc"):
        record.outcome(f"status={status!r}", lambda s=status: Response(None, status=s).status)
    record.outcome("204 with a body", lambda: Response("x", status=204))
    for label, headers in {
        "dict": {"a": "b"},
        "list": [("a", "b"), ("a", "c")],
        "js.Headers": js.Headers.new(),
        "tuple": (("a", "b"),),
        "generator": (x for x in ()),
        "str": "a: b",
        "int": 5,
        "empty dict": {},
        "number value": {"a": 1},
        "None value": {"a": None},
        "bad name": {"a b": "c"},
        "bad value": {"a": "b\nc"},
        "list values": [["a", "b"]],
        "js.Object": js.Object.new(),
        "unicode": {"a": "é"},
    }.items():
        record.outcome(label, lambda h=headers: list(Response("x", headers=h).headers.items()))
    record.outcome("positional", lambda: [Response("x", 201, "Made", {"a": "b"}).status])
    record.outcome("unknown option", lambda: Response("x", unknown=1))
    record.outcome("options with a js.Response", lambda: Response(js.Response.new("x"), status=201))
    cookies = Response(
        "x", headers=[("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("x", "1"), ("x", "2")]
    )
    record("cookies", list(cookies.headers.items()))
    record("get_all", cookies.headers.get_all("set-cookie"))
    record("js getSetCookie", list(cookies.js_object.headers.getSetCookie()))


async def scenario_response_statics(record, env, host):
    for label, make in {
        "dict": lambda: {"a": [1, None, 1.0]},
        "list": lambda: [1],
        "str": lambda: "s",
        "tuple": lambda: (1,),
        "nan": lambda: float("nan"),
        "datetime": lambda: VALUES["date"],
        "js.Object": lambda: host.make("frozen"),
        "bytes": lambda: b"a",
        "set": lambda: {1},
    }.items():
        record.outcome(f"from_json {label}", lambda m=make: Response.from_json(m()))
        try:
            record(f"{label}: text", await Response.from_json(make()).text())
        except TypeError:
            continue
    record.outcome("from_json status", lambda: Response.from_json({}, status=404).status)
    record.outcome("from_json bad status", lambda: Response.from_json({}, status=99))
    record.outcome(
        "from_json headers",
        lambda: list(Response.from_json({}, headers={"x": "y"}).headers.items()),
    )
    record.outcome("Response.json", lambda: Response.json({"a": 1}).headers["content-type"])
    record.outcome("redirect", lambda: Response.redirect("https://example.com/x"))
    record.outcome(
        "redirect location",
        lambda: Response.redirect("https://example.com/x", 301).headers.get("location"),
    )
    record.outcome(
        "redirect status",
        lambda: Response.redirect("https://example.com/x", HTTPStatus.SEE_OTHER).status,
    )
    record.outcome("redirect bad code", lambda: Response.redirect("https://example.com/", 200))
    record.outcome("redirect bad URL", lambda: Response.redirect("/x"))
    replaced = Response("one", status=202, headers={"a": "b"}).replace_body("two")
    record("replace_body", [replaced.status, replaced.headers["a"], await replaced.text()])


async def scenario_response_reading(record, env, host):
    await record.settled("text", lambda: Response("é").text())
    await record.settled("bytes", lambda: Response("é").bytes())
    await record.settled("json", lambda: Response('{"a": [1, null]}').json())
    await record.settled("bad json", lambda: Response("{").json())
    await record.settled("buffer", lambda: Response("ab").buffer())
    await record.settled("blob", lambda: Response("ab").blob())
    await record.settled("memoryview", lambda: Response("ab").memoryview())
    await record.settled("form_data of text", lambda: Response("ab").form_data())
    await record.settled("empty text", lambda: Response().text())
    await record.settled("string", lambda: Response("ab").string())
    used = Response("once")
    await used.text()
    for name in ("text", "json", "bytes", "buffer", "blob"):
        await record.settled(f"again: {name}", lambda n=name: getattr(used, n)())
    record.outcome("clone after use", used.clone)
    record("body used", used.body_used)
    original = Response("twice")
    copy = original.clone()
    record("clone", type(copy))
    record("both", [await original.text(), await copy.text()])
    record.outcome("raise_for_status", lambda: Response("x", status=404).raise_for_status())


async def scenario_request(record, env, host):
    request = Request("https://example.com/p?q=1", method="POST", body="data", headers={"X-A": "1"})
    record("repr", request)
    for name in (
        "method",
        "url",
        "body_used",
        "cf",
        "redirect",
        "js_object",
        "query",
        "path",
        "absent",
    ):
        record.outcome(name, lambda n=name: getattr(request, n))
    record("header", request.headers["x-a"])
    record("missing header", request.headers["missing"])
    record("content type", request.headers["content-type"])
    await record.settled("text", request.text)
    await record.settled("text again", request.text)
    await record.settled("json again", request.json)
    record.outcome("clone after use", request.clone)
    for label, body in {
        "bytes": b"ab",
        "FormData": FormData({"a": "b"}),
        "dict": {"a": 1},
        "to_js bytes": to_js(b"ab"),
        "list": [1],
    }.items():
        request = Request("https://example.com/", method="POST", body=body)
        await record.settled(
            f"body {label}", request.form_data if label == "FormData" else request.text
        )
    await record.settled(
        "json", lambda: Request("https://example.com/", method="POST", body='{"a": 1}').json()
    )
    await record.settled(
        "bad json", lambda: Request("https://example.com/", method="POST", body="{").json()
    )
    await record.settled(
        "bytes", lambda: Request("https://example.com/", method="POST", body="é").bytes()
    )
    await record.settled(
        "buffer", lambda: Request("https://example.com/", method="POST", body="é").buffer()
    )
    for method in ("GET", "put", HTTPMethod.DELETE, "PROPFIND"):
        record.outcome(
            f"method {method}", lambda m=method: Request("https://example.com/", method=m).method
        )
    record.outcome("body with GET", lambda: Request("https://example.com/", body="x"))
    record.outcome("bad URL", lambda: Request("/x"))
    record.outcome("of a Request", lambda: Request(Request("https://example.com/a")).url)
    record.outcome(
        "of a Request with options",
        lambda: Request(Request("https://example.com/a"), method="POST").method,
    )
    record.outcome("of a js.Request", lambda: Request(js.Request.new("https://example.com/b")))
    record.outcome(
        "of a js.Request with options",
        lambda: Request(js.Request.new("https://example.com/b"), method="POST"),
    )
    record.outcome("bad headers", lambda: Request("https://example.com/", headers=5))
    copy = Request("https://example.com/", method="POST", body="c").clone()
    record("clone", [type(copy), await copy.text()])


async def scenario_headers_and_urls(record, env, host):
    headers = js.Headers.new({"A": "1", "b": "2"}.items())
    record("Headers", headers)
    record("list", [list(pair) for pair in headers])
    record("get", headers.get("a"))
    record("missing", headers.get("z"))
    record("has", headers.has("B"))
    record.outcome("append", lambda: headers.append("b", "3"))
    record("appended", headers.get("b"))
    record.outcome("delete", lambda: headers.delete("b"))
    record.outcome("item", lambda: headers["a"])
    record.outcome("entries", lambda: [list(pair) for pair in headers.entries()])
    record.outcome("bad name", lambda: headers.set("a b", "c"))
    record.outcome("dict", lambda: dict(headers))
    record.outcome("Headers of to_js", lambda: js.Headers.new(to_js({"a": "b"})).get("a"))
    url = js.URL.new("https://user:pw@example.com:8080/a/b?x=1&y=2#h")
    for name in (
        "href",
        "origin",
        "protocol",
        "host",
        "hostname",
        "port",
        "pathname",
        "search",
        "hash",
        "username",
    ):
        record(name, getattr(url, name))
    record("searchParams", url.searchParams.get("x"))
    record("missing parameter", url.searchParams.get("z"))
    record("relative", js.URL.new("../c", "https://example.com/a/b").href)
    record.outcome("canParse", lambda: js.URL.canParse("nope"))
    params = js.URLSearchParams.new("a=1&a=2&b=3")
    record("getAll", params.getAll("a"))
    record("iterating parameters gives their names", list(params))
    record("entries", [list(pair) for pair in params.entries()])
    record("toString", params.toString())
    record("size", params.size)
    record.outcome("params of to_js", lambda: js.URLSearchParams.new(to_js({"a": 1})).toString())


def fail():
    raise ValueError("failed")


ANSWERS = {
    "/fail": fail,
    "/text": lambda: "just text",
    "/tuple": lambda: (1, 2),
    "/js": lambda: js.Response.new("from js"),
    "/redirect": lambda: Response.redirect("https://example.com/there"),
}


async def scenario_fetch_events(record, env, host):
    class Default(WorkerEntrypoint):
        async def fetch(self, request, env=None, ctx=None):
            record("request", request)
            record("arguments", [env, ctx])
            answer = ANSWERS.get(js.URL.new(request.url).pathname)
            if answer is not None:
                return answer()
            return Response(await request.text() or "empty", status=201, headers={"x-a": "b"})

    class NoArguments(WorkerEntrypoint):
        async def fetch(self):
            return Response("no arguments")

    class Sync(WorkerEntrypoint):
        def fetch(self, request):
            return Response("sync")

    class TooMany(WorkerEntrypoint):
        async def fetch(self, request, env, ctx, more):
            return Response("never")

    for path in ("/", *ANSWERS):
        record(path, await host.fetch(Default, js.Request.new(f"https://example.com{path}")))
    post = js.Request.new("https://example.com/", method="POST", body="posted")
    record("post", await host.fetch(Default, post))
    for cls in (NoArguments, Sync, TooMany):
        record(cls.__name__, await host.fetch(cls, js.Request.new("https://example.com/")))
