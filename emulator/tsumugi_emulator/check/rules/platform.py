"""What a Worker's process does not have: threads, processes, sockets, its directory (TSU7xx)."""

from __future__ import annotations

import ast

from tsumugi_emulator.check import findings, literals
from tsumugi_emulator.check.facts import Role
from tsumugi_emulator.check.ruleset import At, Drafts, on_call, on_call_within, on_method
from tsumugi_emulator.check.scopes import How

THREAD = findings.warning(
    "TSU701",
    "A thread",
    "`RuntimeError: can't start new thread`. `asyncio.to_thread` and `run_in_executor` work: they "
    "run the function at once.",
)
PROCESS = findings.warning(
    "TSU702",
    "Another process",
    "`OSError: [Errno 138] emscripten does not support processes.`, or the like.",
)
SOCKET = findings.warning(
    "TSU703",
    "A socket",
    "Before Python 3.14 there are none; an event loop's own connections are `NotImplementedError`.",
)
WRITE_BESIDE_CODE = findings.error(
    "TSU705",
    "A file written beside the code",
    "`PermissionError`: the bundle's directory is read-only.",
)
EXIT = findings.error(
    "TSU706",
    "Leaving the process",
    "It ends the runtime with everything in it: other requests fail too.",
)
MISSING_CALL = findings.warning(
    "TSU707",
    "A call that Pyodide does not have",
    "`AttributeError`, `EOFError` or `NotImplementedError`, by the call.",
)
NO_STACK_SWITCHING = findings.error(
    "TSU708",
    "Waiting synchronously before Python 3.13",
    "`RuntimeError: asyncio.run() cannot be called from a running event loop`, and run_sync has "
    "no stack switching to use.",
)
NEW_LOOP = findings.warning(
    "TSU709",
    "Another event loop",
    "`RuntimeError: ... got Future ... attached to a different loop` for the rest of the request.",
)


def _may_be_skipped(at: At, *caught: str) -> bool:
    """Whether the code provides for a platform without what it calls."""
    return at.place.is_uncertain or at.place.is_fallback or at.place.catches(*caught)


# -- Threads and processes ------------------------------------------------------------------------


@on_call("threading.Thread", "threading.Timer", "_thread.start_new_thread")
def thread(node: ast.Call, at: At) -> Drafts:
    if not _may_be_skipped(at, "RuntimeError"):
        yield at.draft(
            THREAD,
            node,
            f"{at.qualified(node.func)}: Workers have no threads.",
            "Use asyncio, or `asyncio.to_thread`, which runs the function at once.",
        )


@on_method("submit", "map")
def work_for_threads(node: ast.Call, at: At) -> Drafts:
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    is_pool = owner is not None and _is_thread_pool(owner, at)
    if is_pool and not _may_be_skipped(at, "RuntimeError"):
        yield at.draft(
            THREAD,
            node,
            "A thread pool cannot start its threads in a Worker.",
            "Call the function, or `loop.run_in_executor`, which runs it at once.",
        )


def _is_thread_pool(expression: ast.expr, at: At) -> bool:
    if isinstance(expression, ast.Name):
        found = at.place.scope.lookup(expression.id)
        pools = [_entered(expression.id, at)] if found else []
        if found and len(found[0]) == 1 and found[0][0].how is How.VALUE:
            pools.append(found[0][0].node)
        return any(pool is not None and _is_thread_pool_call(pool, at) for pool in pools)
    return _is_thread_pool_call(expression, at)


def _entered(name: str, at: At) -> ast.AST | None:
    """What ``with ... as name`` entered, in the function around."""
    function = at.place.scope.function
    for node in ast.walk(function.node) if function is not None else ():
        for item in getattr(node, "items", ()) if isinstance(node, ast.With) else ():
            if isinstance(item.optional_vars, ast.Name) and item.optional_vars.id == name:
                context: ast.AST = item.context_expr
                return context
    return None


def _is_thread_pool_call(node: ast.AST, at: At) -> bool:
    name = at.qualified(node.func) if isinstance(node, ast.Call) else None
    return name in (
        "concurrent.futures.ThreadPoolExecutor",
        "concurrent.futures.thread.ThreadPoolExecutor",
    )


@on_call_within("subprocess")
def subprocess_call(node: ast.Call, at: At) -> Drafts:
    name = at.qualified(node.func) or ""
    if name.rpartition(".")[2] in _SUBPROCESS:
        yield from _process(node, at, name)


_SUBPROCESS = frozenset(
    {"run", "Popen", "call", "check_call", "check_output", "getoutput", "getstatusoutput"}
)


@on_call(
    "os.system", "os.popen", "os.fork", "os.forkpty", "os.execv", "os.execve", "os.execvp",
    "os.execl", "os.execlp", "os.spawnv", "os.spawnl", "os.spawnlp", "os.spawnvp", "os.posix_spawn",
    "multiprocessing.Process", "multiprocessing.Pool", "multiprocessing.Queue",
    "multiprocessing.Manager", "multiprocessing.Lock", "multiprocessing.pool.Pool",
    "multiprocessing.pool.ThreadPool", "concurrent.futures.ProcessPoolExecutor",
    "asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell",
)  # fmt: skip
def process(node: ast.Call, at: At) -> Drafts:
    yield from _process(node, at, at.qualified(node.func) or "")


def _process(node: ast.Call, at: At, name: str) -> Drafts:
    if not _may_be_skipped(at, "OSError", "ImportError", "NotImplementedError"):
        yield at.draft(
            PROCESS,
            node,
            f"{name}() starts a process, and Workers have none.",
            "Do the work in Python, or call a service that does it.",
        )


# -- Sockets --------------------------------------------------------------------------------------


@on_call(
    "socket.socket", "socket.create_connection", "asyncio.open_connection", "asyncio.start_server",
    "smtplib.SMTP", "smtplib.SMTP_SSL", "ftplib.FTP", "imaplib.IMAP4", "imaplib.IMAP4_SSL",
    "poplib.POP3",
)  # fmt: skip
def raw_socket(node: ast.Call, at: At) -> Drafts:
    if at.settings.python_version == "3.14" or _may_be_skipped(
        at, "OSError", "NotImplementedError"
    ):
        return
    yield at.draft(
        SOCKET,
        node,
        f"{at.qualified(node.func)}() needs sockets, which Python {at.settings.python_version} "
        "Workers do not have.",
        "Use HTTP, or a compatibility date from 2026-09-08 on.",
    )


# -- Files ----------------------------------------------------------------------------------------


@on_call("builtins.open")
def write_beside_code(node: ast.Call, at: At) -> Drafts:
    if node.args and is_written(node) and _names_own_directory(node.args[0]):
        yield from _write(node, at)


@on_method("write_text", "write_bytes", "mkdir", "unlink", "touch")
def path_beside_code(node: ast.Call, at: At) -> Drafts:
    if isinstance(node.func, ast.Attribute) and _names_own_directory(node.func.value):
        yield from _write(node, at)


def _write(node: ast.Call, at: At) -> Drafts:
    if not _may_be_skipped(at, "OSError", "PermissionError"):
        yield at.draft(
            WRITE_BESIDE_CODE,
            node,
            "The directory of the code is read-only.",
            "Write below /tmp, which lasts as long as the isolate, or to a binding.",
        )


def _names_own_directory(expression: ast.expr) -> bool:
    return any(
        isinstance(part, ast.Name) and part.id == "__file__" for part in ast.walk(expression)
    )


def is_written(node: ast.Call) -> bool:
    """Whether ``open()`` is given a mode that writes."""
    given = node.args[1] if len(node.args) > 1 else literals.keyword(node, "mode")
    mode = literals.constant(given)
    return isinstance(mode, str) and not set("wax+").isdisjoint(mode)


# -- Calls that are not there ---------------------------------------------------------------------


@on_call("sys.exit", "os._exit", "os.abort", "builtins.exit", "builtins.quit")
def leaving_the_process(node: ast.Call, at: At) -> Drafts:
    runs = at.role in (Role.ENTRYPOINT, Role.OBJECT) or at.runs_at_import
    if runs and not _may_be_skipped(at, "SystemExit"):
        yield at.draft(
            EXIT,
            node,
            f"{(at.qualified(node.func) or '').removeprefix('builtins.')}() ends the runtime, and "
            "every request in it.",
            "Return, or raise an exception.",
        )


@on_call(
    "builtins.input", "signal.alarm", "signal.setitimer", "time.thread_time",
    "os.sched_getaffinity", "faulthandler.dump_traceback_later",
)  # fmt: skip
def missing_call(node: ast.Call, at: At) -> Drafts:
    yield from _missing(node, at, (at.qualified(node.func) or "").removeprefix("builtins."))


@on_method("add_signal_handler", "create_server")
def missing_call_of_loop(node: ast.Call, at: At) -> Drafts:
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    if isinstance(owner, ast.Name):
        found = at.place.scope.lookup(owner.id)
        owner = found[0][0].node if found and len(found[0]) == 1 else None  # type: ignore[assignment]
    name = at.qualified(owner.func) if isinstance(owner, ast.Call) else None
    if name in ("asyncio.get_running_loop", "asyncio.get_event_loop"):
        yield from _missing(node, at, f"loop.{node.func.attr}")  # type: ignore[attr-defined]


def _missing(node: ast.Call, at: At, name: str) -> Drafts:
    if not _may_be_skipped(at, "AttributeError", "NotImplementedError", "EOFError", "RuntimeError"):
        yield at.draft(
            MISSING_CALL, node, f"{name}() does not work in Pyodide.", "Do without it in a Worker."
        )


@on_call("asyncio.run", "pyodide.ffi.run_sync")
def waiting_synchronously(node: ast.Call, at: At) -> Drafts:
    is_handler = at.role in (Role.ENTRYPOINT, Role.OBJECT)
    if at.settings.python_version == "3.12" and is_handler:
        yield at.draft(
            NO_STACK_SWITCHING,
            node,
            f"{at.qualified(node.func)}() cannot wait in a handler with Python 3.12.",
            "Use `await`, or a compatibility date from 2025-09-29 on.",
        )


@on_call("asyncio.new_event_loop", "asyncio.Runner")
def another_loop(node: ast.Call, at: At) -> Drafts:
    if at.role in (Role.ENTRYPOINT, Role.OBJECT):
        yield at.draft(
            NEW_LOOP,
            node,
            f"{at.qualified(node.func)}() makes another loop, on which nothing of this request "
            "works.",
            "Use `await`, or `asyncio.run(...)`.",
        )
