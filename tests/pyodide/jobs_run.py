"""Install the project's wheel into a real Pyodide, and run a Worker with jobs there.

The wheel is installed by micropip, of the version that belongs to the Pyodide, with every
dependency that its metadata names for it. What that downloads is kept beside the npm packages.
"""

from __future__ import annotations

import atexit
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import judge

ROOT = Path(__file__).parents[2]
KEPT = judge.PACKAGES / ".cache" / "tsumugi"
MIGRATIONS = ROOT / "sdk/tsumugi/jobs/read_model/migrations"
TOKEN = "a secret for tests"
RUN_TIMEOUT_S = 200
#: How host/jobs.mjs ends when it cannot download what is to be installed.
OFFLINE = 3

#: pydantic's core is compiled, and the index has it for the newest Pyodide alone. The older ones
#: get it from a store of their own, which is not in their npm packages: there payloads are plain
#: JSON, and nothing may import pydantic.
ABSENT = {"3.12": {"pydantic": "2.10.6"}, "3.13": {"pydantic": "2.10.6"}, "3.14": {}}


class CannotInstall(Exception):
    """There is no uv, no npm, or no network on the first run."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run wrote down; of each step its answer, its crossings and its CPU time."""

    #: Name and version of each distribution.
    installed: dict
    steps: dict
    #: What Python printed, and failures nobody awaited.
    printed: list
    failures: list


@cache
def wheel():
    """The project's wheel, built once in a process."""
    folder = Path(tempfile.mkdtemp(prefix="tsumugi-wheel-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def micropip_for(version):
    """A folder with the micropip that the Pyodide of this Python was made for."""
    lock = judge.PACKAGES / judge.GENERATIONS[version].package / "pyodide-lock.json"
    release = json.loads(lock.read_text(encoding="utf-8"))["packages"]["micropip"]["version"]
    folder = KEPT / f"micropip-{release}"
    if folder.is_dir():
        return folder
    uv = os.environ.get("UV") or shutil.which("uv")
    if uv is None:
        raise CannotInstall("needs uv, to get micropip")
    part = KEPT / f"micropip-{release}.{os.getpid()}"
    command = [
        uv, "pip", "install", "--quiet", "--only-binary", ":all:", "--python-version", version,
        "--target", str(part), f"micropip=={release}",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotInstall(done.stderr)
    part.rename(folder)
    return folder


@contextmanager
def alone():
    """Others may want to install the same at the same time."""
    KEPT.mkdir(parents=True, exist_ok=True)
    with (KEPT / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def plan_for(version, steps):
    with alone():
        try:
            judge.install()
        except subprocess.CalledProcessError as error:
            raise CannotInstall(error.stderr) from error
        micropip = micropip_for(version)
    migrations = sorted(MIGRATIONS.glob("*.sql"))
    return {
        "pyodide": str(judge.PACKAGES / judge.GENERATIONS[version].package),
        "wheel": str(wheel()),
        "micropip": str(micropip),
        "kept": str(KEPT),
        "absent": ABSENT[version],
        "copied": {
            str(judge.SUITE / "harness"): "/suite/harness",
            str(judge.SUITE / "jobs"): "/suite",
        },
        "flags": judge.FLAGS,
        "vars": {"TSUMUGI_TOKEN": TOKEN},
        "migrations": [path.read_text(encoding="utf-8") for path in migrations],
        "steps": steps,
    }


def run(version, steps):
    """Follow ``steps`` in the Pyodide of this Python.

    Each has a name, what is done (of ``STEPS`` in host/jobs.mjs), and what that is given.
    """
    plan = plan_for(version, steps)
    with tempfile.TemporaryDirectory() as folder:
        given, output = Path(folder) / "plan.json", Path(folder) / "output.json"
        given.write_text(json.dumps(plan), encoding="utf-8")
        done = subprocess.run(
            [*judge.NODE, str(judge.SUITE / "host" / "jobs.mjs"), str(given), str(output)],
            env=os.environ | {"TZ": "UTC"},
            capture_output=True,
            text=True,
            timeout=RUN_TIMEOUT_S,
            check=False,
        )
        if done.returncode == OFFLINE:
            raise CannotInstall(done.stderr)
        if done.returncode != 0 or not output.exists():
            raise RuntimeError(f"the run with {version} failed:\n{done.stderr}")
        said = json.loads(output.read_text(encoding="utf-8"))
    return Ran(
        installed=said["installed"],
        steps=said["steps"],
        printed=said["printed"],
        failures=said["failures"],
    )
