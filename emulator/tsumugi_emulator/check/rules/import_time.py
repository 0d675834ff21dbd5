"""What may not happen while a module is imported, and what does not keep (TSU2xx).

From 2025-10-16 on a Worker is imported once, when it is uploaded, and every isolate starts from a
snapshot of its memory.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsumugi_emulator.check import findings
from tsumugi_emulator.check.ruleset import At, Drafts, on_binding, on_call, on_call_within
from tsumugi_emulator.check.surfaces import Kind

if TYPE_CHECKING:
    from tsumugi_emulator.check.kinds import BindingCall

ENTROPY = findings.error(
    "TSU201",
    "Random values while importing",
    "`RuntimeError: Cannot use random.random() outside of request context` or `OSError: Cannot "
    "get entropy outside of request context`, and the upload is refused.",
)
IO = findings.error(
    "TSU202",
    "I/O while importing",
    "`Error: Disallowed operation called within global scope`, and the upload is refused.",
)
CLOCK = findings.warning(
    "TSU203",
    "The time, read while importing",
    "The value is part of the snapshot: every isolate sees the time of the upload.",
)
JS_OBJECT = findings.warning(
    "TSU204",
    "A JavaScript object kept by a module",
    "It cannot become part of the snapshot that isolates start from.",
)
SHARED_PRIMITIVE = findings.warning(
    "TSU205",
    "An asyncio primitive shared by requests",
    "A request that waits for another one through it is cancelled as hung.",
)

_IN_A_HANDLER = "Do it in a handler, or when it is first needed there."

#: Functions of modules that draw on entropy, and do not.
_WITHOUT_ENTROPY = frozenset(
    {
        "random.Random", "random.SystemRandom", "random.setstate", "secrets.compare_digest",
        "secrets.SystemRandom",
    }
)  # fmt: skip


@on_call_within("random", "secrets")
def random_while_importing(node: ast.Call, at: At) -> Drafts:
    name = at.qualified(node.func) or ""
    if name.count(".") != 1 or name in _WITHOUT_ENTROPY:
        return
    yield from _entropy(node, at, name)


@on_call("uuid.uuid1", "uuid.uuid4", "os.urandom", "os.getrandom")
def unique_while_importing(node: ast.Call, at: At) -> Drafts:
    yield from _entropy(node, at, at.qualified(node.func) or "")


@on_call("random.Random")
def unseeded_generator_while_importing(node: ast.Call, at: At) -> Drafts:
    if not node.args and not node.keywords:
        yield from _entropy(node, at, "random.Random")


def _entropy(node: ast.Call, at: At, name: str) -> Drafts:
    if at.runs_at_import and not at.place.catches("RuntimeError", "OSError"):
        yield at.draft(
            ENTROPY,
            node,
            f"{name}() runs while the module is imported, where there is no entropy.",
            _IN_A_HANDLER,
            at_import=True,
        )


@on_call(
    "workers.fetch", "js.fetch", "pyodide.http.pyfetch", "pyodide.http.open_url",
    "requests.get", "requests.post", "requests.put", "requests.delete", "requests.request",
    "httpx.get", "httpx.post", "httpx.put", "httpx.delete", "httpx.request",
    "urllib.request.urlopen", "urllib.request.urlretrieve", "socket.create_connection",
    "js.crypto.randomUUID", "js.crypto.getRandomValues",
)  # fmt: skip
def network_while_importing(node: ast.Call, at: At) -> Drafts:
    yield from _io(node, at, f"{at.qualified(node.func)}()")


@on_call("time.sleep", "js.setTimeout")
def waiting_while_importing(node: ast.Call, at: At) -> Drafts:
    name = at.qualified(node.func) or ""
    delay = node.args[0 if name == "time.sleep" else 1 :]
    if delay and isinstance(delay[0], ast.Constant) and delay[0].value == 0:
        return
    if delay:
        yield from _io(node, at, f"{name}()")


@on_call("workers.Response", "workers.Response.from_json", "workers.Response.json")
def response_while_importing(node: ast.Call, at: At) -> Drafts:
    body = node.args[0] if node.args else None
    if body is not None and not (isinstance(body, ast.Constant) and body.value is None):
        yield from _io(node, at, "creating a Response with a body")


@on_binding
def binding_while_importing(node: ast.Call, at: At, call: BindingCall) -> Drafts:
    is_stub = call.value.kind is Kind.NAMESPACE and call.method in ("get", "getByName")
    if call.is_awaited or is_stub:
        yield from _io(node, at, str(call))


def _io(node: ast.Call, at: At, what: str) -> Drafts:
    if at.runs_at_import and not at.place.catches("JsException"):
        yield at.draft(
            IO,
            node,
            f"{what} runs while the module is imported, where I/O is refused.",
            _IN_A_HANDLER,
            at_import=True,
        )


@on_call(
    "datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today",
    "datetime.date.today", "time.time", "time.time_ns", "time.monotonic", "time.monotonic_ns",
    "time.perf_counter", "time.perf_counter_ns", "js.Date.now",
)  # fmt: skip
def clock_while_importing(node: ast.Call, at: At) -> Drafts:
    if not at.runs_at_import:
        return
    name = at.qualified(node.func) or ""
    if name.rpartition(".")[2].startswith(("monotonic", "perf_counter")):
        yield at.draft(
            CLOCK,
            node,
            f"{name}() is 0.0 while the module is imported and counts from 1970 in handlers.",
            "Read it in the handler that needs it.",
            at_import=True,
        )
    elif "python_dedicated_snapshot" in at.settings.flags:
        yield at.draft(
            CLOCK,
            node,
            f"{name}() is read once, when the Worker is uploaded; isolates start with that value.",
            "Read it in the handler that needs it.",
            at_import=True,
        )


@on_call_within("js")
def javascript_object_kept(node: ast.Call, at: At) -> Drafts:
    name = at.qualified(node.func) or ""
    if name.endswith(".new"):
        yield from _kept(node, at, name)


@on_call("pyodide.ffi.to_js", "pyodide.ffi.create_proxy")
def conversion_kept(node: ast.Call, at: At) -> Drafts:
    yield from _kept(node, at, at.qualified(node.func) or "")


def _kept(node: ast.Call, at: At, name: str) -> Drafts:
    kept = isinstance(at.parent, ast.Assign | ast.AnnAssign)
    if kept and at.runs_at_import and "python_dedicated_snapshot" in at.settings.flags:
        yield at.draft(
            JS_OBJECT,
            node,
            f"What {name}() returns is kept by the module, and is not part of the snapshot.",
            "Make it when it is first needed, in a handler.",
            at_import=True,
        )


@on_call(
    "asyncio.Lock", "asyncio.Event", "asyncio.Condition", "asyncio.Semaphore",
    "asyncio.BoundedSemaphore", "asyncio.Queue", "asyncio.PriorityQueue", "asyncio.LifoQueue",
)  # fmt: skip
def shared_primitive(node: ast.Call, at: At) -> Drafts:
    is_kept = isinstance(at.parent, ast.Assign | ast.AnnAssign)
    if is_kept and at.place.scope.runs_at_import:
        yield at.draft(
            SHARED_PRIMITIVE,
            node,
            f"{at.qualified(node.func)}() at module level is shared by requests, which may not "
            "wait for each other.",
            "Make it in the handler, or keep it in a Durable Object.",
        )
