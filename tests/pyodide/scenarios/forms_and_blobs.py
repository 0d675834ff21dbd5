"""FormData, Blob and File of the SDK."""

import js
from pyodide.ffi import to_js
from workers import Blob, File, FormData, Response


async def scenario_form_data(record, env, host):
    form = FormData({"a": "b"})
    record("repr", type(form))
    record.outcome("item", lambda: form["a"])
    record.outcome("missing item", lambda: form["missing"])
    record.outcome("get", lambda: form.get("a"))
    record.outcome("get missing", lambda: form.get("missing", "default"))
    record.outcome("in", lambda: ["a" in form, "missing" in form])
    record.outcome("set", lambda: form.__setitem__("c", "d"))
    record.outcome("append", lambda: form.append("a", "second"))
    record.outcome("get_all", lambda: form.get_all("a"))
    record.outcome("keys", lambda: list(form.keys()))
    record.outcome("values", lambda: list(form.values()))
    record.outcome("items", lambda: list(form.items()))
    record.outcome("iter", lambda: list(form))
    record.outcome("len", lambda: len(form))
    record.outcome("delete", lambda: form.__delitem__("c"))
    record.outcome("delete missing", lambda: form.__delitem__("missing"))
    record.outcome("number value", lambda: form.__setitem__("n", 5))
    record.outcome("bool", lambda: bool(form))
    record.outcome("js_object", lambda: form.js_object)
    record.outcome("a list", lambda: list(FormData([("a", "1"), ("a", "2")]).items()))
    record.outcome("None", lambda: FormData(None))
    record.outcome("nothing", lambda: list(FormData().items()))
    record.outcome("a number", lambda: FormData(5))
    record.outcome("a js.FormData", lambda: FormData(js.FormData.new()))
    record.outcome("with a blob", lambda: FormData({"f": Blob(["x"])})["f"])
    record.outcome("append a file", lambda: form.append("f", File(["x"], "n.txt"), "other.txt"))
    record.outcome("the file", lambda: form["f"])
    encoded = Response("a=1&b=2", headers={"content-type": "application/x-www-form-urlencoded"})
    parsed = await encoded.form_data()
    record("parsed", list(parsed.items()))


async def scenario_blob(record, env, host):
    blob = Blob(["a", b"bc"], content_type="text/plain")
    record.outcome("repr", lambda: type(blob))
    for name in ("size", "content_type", "js_object", "type", "name"):
        record.outcome(name, lambda n=name: getattr(blob, n))
    await record.settled("text", blob.text)
    await record.settled("bytes", blob.bytes)
    record.outcome("slice", lambda: blob.slice(1, 2).size)
    for label, parts in {
        "str": "abc",
        "bytes": b"abc",
        "list of bytes": [b"a"],
        "empty": [],
        "nested": [Blob(["x"])],
        "None": None,
        "int": 5,
        "ints": [1, 2],
        "memoryview": memoryview(b"ab"),
        "tuple": ("a",),
        "js array": to_js(["a", "b"]),
        "js.Blob": js.Blob.new(),
    }.items():
        record.outcome(f"of {label}", lambda p=parts: Blob(p).size)


async def scenario_file(record, env, host):
    file = File(["abc"], "a.txt", content_type="text/plain", last_modified=5)
    for name in ("name", "size", "content_type", "last_modified", "js_object"):
        record.outcome(name, lambda n=name: getattr(file, n))
    await record.settled("text", file.text)
    record.outcome("without a name", lambda: File(["a"]))
    record.outcome("is a Blob", lambda: isinstance(file, Blob))
