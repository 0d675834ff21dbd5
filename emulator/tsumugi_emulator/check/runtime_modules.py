"""Which modules and names a Worker's Python has, by Python version. Tables only (ADR-0203).

The lists of modules are what importing every module of the standard library gave in real Pyodide
(0.26 for 3.12, 0.28 for 3.13, 314 for 3.14), less what the runtime adds to Pyodide; a test compares
them with it. The names of ``js`` were asked for in the real runtime.
"""

from __future__ import annotations

import sys


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_REMOVED_IN_3_12 = _names("asynchat asyncore distutils imp smtpd")
_REMOVED_IN_3_13 = _names(
    "aifc audioop cgi cgitb chunk crypt imghdr lib2to3 mailcap msilib nis nntplib ossaudiodev "
    "pipes sndhdr spwd sunau telnetlib uu xdrlib"
)

#: Modules that the standard library no longer has, by Python version.
REMOVED = {
    "3.12": _REMOVED_IN_3_12,
    "3.13": _REMOVED_IN_3_12 | _REMOVED_IN_3_13,
    "3.14": _REMOVED_IN_3_12 | _REMOVED_IN_3_13,
}

_NEVER_IN_PYODIDE = _names(
    "curses dbm ensurepip grp msvcrt nt pwd readline resource syslog tkinter turtle turtledemo "
    "venv winreg winsound"
)
_TERMINALS = _names("fcntl pty termios tty")

#: Modules of the standard library that Pyodide leaves out, by Python version.
NOT_IN_PYODIDE = {
    "3.12": _NEVER_IN_PYODIDE | _TERMINALS | _names("lib2to3 msilib nis ossaudiodev spwd"),
    "3.13": _NEVER_IN_PYODIDE | _TERMINALS,
    "3.14": _NEVER_IN_PYODIDE,
}

#: The standard library's top-level names, of every version that matters.
STANDARD_LIBRARY = (
    frozenset(sys.stdlib_module_names) | _names("annotationlib compression") | _REMOVED_IN_3_13
)

#: What the runtime and Pyodide bring along, whatever the project installs.
RUNTIME_MODULES = _names(
    "_cloudflare_compat_flags _pyodide _pyodide_entrypoint_helper asgi cloudflare js pyodide "
    "pyodide_js workers"
)

#: ``from workers import ...``; a test compares it with the SDK.
WORKERS_NAMES = _names(
    "Blob BlobEnding BlobValue Body Context DurableObject FetchKwargs FetchResponse File FormData "
    "FormDataValue Headers JSBody Request RequestInitCfProperties Response WorkerEntrypoint "
    "WorkflowEntrypoint env fetch handler import_from_javascript patch_env python_from_rpc "
    "python_to_rpc waitUntil wait_until"
)
WORKERS_MODULES = _names(
    "asgi blob entrypoints fetch formdata gateway request response rpc types utils workflows wsgi"
)

#: Names that browsers or Node have, and ``js`` in a Worker has not.
NOT_IN_JS = _names(
    "Buffer DurableObject Fetcher FileReader KVNamespace MessageBatch Performance R2Bucket "
    "RpcTarget Worker WorkerEntrypoint XMLHttpRequest document global importScripts localStorage "
    "location null postMessage process pyodide require setImmediate window"
)
#: Of these, the ones that the compatibility flag nodejs_compat adds.
NODE_NAMES = _names("Buffer process")

#: Packages made of compiled code, by what is imported: the Python versions that Pyodide has a
#: build for. Compared with Pyodide's own list of packages by a test.
COMPILED_PACKAGES: dict[str, frozenset[str]] = {
    "MySQLdb": _names("3.14"),
    "asyncpg": _names("3.14"),
    "confluent_kafka": frozenset(),
    "duckdb": _names("3.14"),
    "gevent": frozenset(),
    "grpc": frozenset(),
    "onnxruntime": frozenset(),
    "polars": _names("3.14"),
    "psutil": frozenset(),
    "psycopg2": frozenset(),
    "pyarrow": _names("3.14"),
    "pycurl": frozenset(),
    "pyodbc": frozenset(),
    "tensorflow": frozenset(),
    "torch": frozenset(),
    "uvloop": frozenset(),
    "xgboost": _names("3.13 3.14"),
    "zmq": frozenset(),
}
#: Where the package is called otherwise than its module.
DISTRIBUTIONS = {
    "MySQLdb": "mysqlclient",
    "confluent_kafka": "confluent-kafka",
    "grpc": "grpcio",
    "zmq": "pyzmq",
}
