"""What the check knows about Pyodide is what real Pyodide does, generation by generation."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from judge import GENERATIONS, NODE, PACKAGES, install, node_available
from tsumugi_emulator.check import runtime_modules

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(150),
    pytest.mark.skipif(not node_available(), reason="needs node and npm"),
]

SCRIPT = """
import path from "node:path";
import { pathToFileURL } from "node:url";
const [directory, code] = process.argv.slice(1);
const { loadPyodide } = await import(pathToFileURL(path.join(directory, "pyodide.mjs")).href);
const quiet = () => {};
const pyodide = await loadPyodide({ indexURL: directory + path.sep, stdout: quiet, stderr: quiet });
console.log(await pyodide.runPythonAsync(code));
process.exit(0);
"""

IMPORT_ALL = """
import importlib, json, sys, warnings
warnings.simplefilter("ignore")
missing = []
for name in NAMES:
    try:
        importlib.import_module(name)
    except ImportError:
        missing.append(name)
json.dumps({"missing": missing, "standard": sorted(sys.stdlib_module_names)})
"""

#: What the runtime adds to Pyodide, so that only bare Pyodide lacks it.
ADDED_BY_THE_RUNTIME = {"lzma", "pydoc_data", "sqlite3", "ssl"}
#: Importing these does something.
NOT_TRIED = {"antigravity", "this", "idlelib"}

#: Statements that the rules TSU701, TSU702 and TSU707 warn of.
REFUSED = (
    "import threading; threading.Thread(target=print).start()",
    "import threading; threading.Timer(1, print).start()",
    "import _thread; _thread.start_new_thread(print, ())",
    "from concurrent.futures import ThreadPoolExecutor as P; P().submit(print)",
    "from concurrent.futures import ThreadPoolExecutor as P; list(P().map(print, [1]))",
    "from concurrent.futures import ProcessPoolExecutor as P; P()",
    "import subprocess; subprocess.run(['ls'])",
    "import subprocess; subprocess.check_output('ls', shell=True)",
    "import os; os.popen('ls').read()",
    "import os; os.fork()",
    "import os; os.forkpty()",
    "import os; os.execv('/bin/ls', ['ls'])",
    "import os; os.spawnlp(os.P_WAIT, 'ls', 'ls')",
    "import os; os.posix_spawn('/bin/ls', ['ls'], {})",
    "import multiprocessing as m; m.Process(target=print).start()",
    "import multiprocessing as m; m.Pool(2)",
    "import multiprocessing as m; m.Queue()",
    "import multiprocessing as m; m.Manager()",
    "import multiprocessing as m; m.Lock()",
    "from multiprocessing.pool import ThreadPool; ThreadPool(2)",
    "import signal; signal.alarm(1)",
    "import signal; signal.setitimer(signal.ITIMER_REAL, 1)",
    "import time; time.thread_time()",
    "import os; os.sched_getaffinity(0)",
    "import faulthandler; faulthandler.dump_traceback_later(1)",
    "input()",
    "import zoneinfo; zoneinfo.ZoneInfo('Europe/Berlin')",
    "await asyncio.create_subprocess_exec('ls')",
    "await asyncio.create_subprocess_shell('ls')",
    "asyncio.get_running_loop().add_signal_handler(15, print)",
    "await asyncio.get_running_loop().create_server(print, '127.0.0.1', 9)",
)
#: And those that nothing warns of.
ALLOWED = (
    "import threading; threading.Lock()",
    "import multiprocessing as m; m.cpu_count()",
    "import signal; signal.signal(signal.SIGTERM, lambda *a: None)",
    "await asyncio.to_thread(print)",
    "await asyncio.get_running_loop().run_in_executor(None, print)",
    "asyncio.new_event_loop()",
)

RUN_ALL = """
import asyncio, json
outcomes = {}
for statement in STATEMENTS:
    names = {"asyncio": asyncio}
    exec("async def run():\\n    " + statement, names)
    try:
        await names["run"]()
    except BaseException as error:
        outcomes[statement] = f"{type(error).__name__}: {error}"
json.dumps(outcomes)
"""


def ask(version: str, code: str) -> Any:
    install()
    directory = PACKAGES / GENERATIONS[version].package
    result = subprocess.run(
        [*NODE, "--input-type=module", "-e", SCRIPT, "--", str(directory), code],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("version", GENERATIONS)
def test_the_modules_that_are_missing_are_the_ones_in_the_tables(version: str) -> None:
    public = {name for name in runtime_modules.STANDARD_LIBRARY if not name.startswith("_")}
    names = sorted((public | runtime_modules.REMOVED["3.14"]) - NOT_TRIED)
    answer = ask(version, f"NAMES = {names!r}\n{IMPORT_ALL}")
    missing = set(answer["missing"]) - ADDED_BY_THE_RUNTIME
    later = {"annotationlib", "compression"} if version < "3.14" else set()
    known = runtime_modules.REMOVED[version] | runtime_modules.NOT_IN_PYODIDE[version]
    assert missing - later == known
    public_there = {name for name in answer["standard"] if not name.startswith("_")}
    assert public_there <= runtime_modules.STANDARD_LIBRARY


@pytest.mark.parametrize("version", GENERATIONS)
def test_what_is_warned_of_is_refused(version: str) -> None:
    outcomes = ask(version, f"STATEMENTS = {[*REFUSED, *ALLOWED]!r}\n{RUN_ALL}")
    assert set(outcomes) == set(REFUSED)


@pytest.mark.parametrize("version", GENERATIONS)
def test_compiled_packages_are_built_where_the_tables_say(version: str) -> None:
    install()
    text = (PACKAGES / GENERATIONS[version].package / "pyodide-lock.json").read_text()
    built = set(json.loads(text)["packages"])
    for module, versions in runtime_modules.COMPILED_PACKAGES.items():
        package = runtime_modules.DISTRIBUTIONS.get(module, module)
        assert (package in built) == (version in versions), package


def test_the_interpreter_here_is_one_the_tables_know() -> None:
    assert f"3.{sys.version_info.minor}" in runtime_modules.REMOVED
