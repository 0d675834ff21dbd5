"""Run the scenarios over the emulated boundary in a subprocess, and list what it says differently.

`python tests/pyodide/emulator_run.py [version...]` prints the unexplained differences.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))

import judge
from compare import differences
from differences import explanation
from normalise import normalised

TIMEOUT_S = 50


def run(version, *wanted, corpus=judge.KEPT_CORPUS):
    """The normalised transcripts of the emulator: module -> scenario -> entries."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "transcript.json"
        command = [
            sys.executable, str(judge.SUITE / "emulated.py"), version, ",".join(judge.FLAGS),
            str(output), *wanted,
        ]  # fmt: skip
        done = subprocess.run(
            command,
            env=os.environ | {"TSUMUGI_CORPUS": str(corpus)},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        if done.returncode != 0:
            raise RuntimeError(f"the scenarios did not run over the emulator:\n{done.stderr}")
        transcripts = json.loads(output.read_text(encoding="utf-8"))["modules"]
    return {name: normalised(transcript) for name, transcript in transcripts.items()}


def all_differences(version, module, transcript):
    return differences(module, judge.stored(judge.GENERATIONS[version], module), transcript)


def unexplained(version, module, transcript):
    found = all_differences(version, module, transcript)
    return [difference for difference in found if explanation(difference.where, version) is None]


def main():
    count = 0
    for version in sys.argv[1:] or judge.GENERATIONS:
        transcripts = run(version)
        for module in judge.modules():
            for difference in unexplained(version, module, transcripts[module]):
                count += 1
                print(version, difference)
    print(f"{count} unexplained differences")


if __name__ == "__main__":
    main()
