"""Ask real Pyodide what the scenarios should say, and keep its answers.

`python tests/pyodide/judge.py [version...]` records the transcripts again, with Node and the
Pyodide packages that package.json names. Comparing with them needs neither.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))

from normalise import dumped, normalised

SUITE = Path(__file__).parent
TRANSCRIPTS = SUITE / "transcripts"
PACKAGES = SUITE / "node_modules"
#: Recipes of generated values (corpus.py).
KEPT_CORPUS = SUITE / "corpus.json"
RECORD_TIMEOUT_S = 120
# Without the flag, V8 11 now and then gives up when it deoptimizes a call into WebAssembly.
NODE = ("node", "--no-turbo-inline-js-wasm-calls")

FLAGS = ("python_request_headers_preserve_commas", "python_workflows_implicit_dependencies")


@dataclass(frozen=True, slots=True)
class Generation:
    """One Python version of the Workers runtime and the npm package nearest to its Pyodide."""

    python: str
    package: str


GENERATIONS = {
    generation.python: generation
    for generation in (
        Generation("3.12", "pyodide-026"),
        Generation("3.13", "pyodide-028"),
        Generation("3.14", "pyodide-314"),
    )
}


def modules():
    return sorted(path.stem for path in (SUITE / "scenarios").glob("[!_]*.py"))


def stored(generation, module):
    path = TRANSCRIPTS / generation.python / f"{module}.json"
    return json.loads(path.read_text(encoding="utf-8"))


def store(generation, transcripts):
    folder = TRANSCRIPTS / generation.python
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for module, transcript in transcripts.items():
        (folder / f"{module}.json").write_text(dumped(transcript), encoding="utf-8")


def node_available():
    return shutil.which("node") is not None and shutil.which("npm") is not None


def install():
    packages = ["@sqlite.org", *(generation.package for generation in GENERATIONS.values())]
    if all((PACKAGES / package).is_dir() for package in packages):
        return
    command = ["npm", "install", "--no-package-lock", "--no-audit", "--no-fund"]
    subprocess.run(command, cwd=SUITE, check=True, capture_output=True)


def sdk_folder():
    spec = importlib.util.find_spec("workers")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0])


def record(generation, *wanted, corpus=KEPT_CORPUS):
    """The normalised transcripts of real Pyodide: module -> scenario -> entries."""
    install()
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "transcript.json"
        command = [
            *NODE, str(SUITE / "host" / "run.mjs"), str(PACKAGES / generation.package),
            str(sdk_folder()), str(SUITE), ",".join(FLAGS), str(output), *wanted,
        ]  # fmt: skip
        done = subprocess.run(
            command,
            env=os.environ | {"TZ": "UTC", "TSUMUGI_CORPUS": str(corpus)},
            capture_output=True,
            text=True,
            timeout=RECORD_TIMEOUT_S,
            check=False,
        )
        if done.returncode != 0 or not output.exists():
            raise RuntimeError(f"recording with {generation.package} failed:\n{done.stderr}")
        answer = json.loads(output.read_text(encoding="utf-8"))
    return {name: normalised(module) for name, module in answer["modules"].items()}


def main():
    for version in sys.argv[1:] or GENERATIONS:
        generation = GENERATIONS[version]
        store(generation, record(generation))
        print(f"recorded {version} with {generation.package}")


if __name__ == "__main__":
    main()
