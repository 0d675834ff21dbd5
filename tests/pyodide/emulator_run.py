"""Run the scenarios over the emulated boundary in a subprocess, and list what it says differently.

`python tests/pyodide/emulator_run.py [version...]` prints the unexplained differences;
with `--keep` it writes them to open.txt.
"""

from __future__ import annotations

import json
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

# Differences that are known and not yet fixed: empty this file, never add to it.
OPEN = judge.SUITE / "open.txt"
TIMEOUT_S = 50


def run(version):
    """The normalised transcripts of the emulator: module -> scenario -> entries."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "transcript.json"
        command = [
            sys.executable, str(judge.SUITE / "emulated.py"), version, ",".join(judge.FLAGS),
            str(output),
        ]  # fmt: skip
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
        if done.returncode != 0:
            raise RuntimeError(f"the scenarios did not run over the emulator:\n{done.stderr}")
        transcripts = json.loads(output.read_text(encoding="utf-8"))["modules"]
    return {name: normalised(transcript) for name, transcript in transcripts.items()}


def unexplained(version, module, transcript):
    real = judge.stored(judge.GENERATIONS[version], module)
    found = differences(module, real, transcript)
    return [difference for difference in found if explanation(difference.where, version) is None]


def still_open(version):
    if not OPEN.exists():
        return set()
    lines = OPEN.read_text(encoding="utf-8").splitlines()
    return {line.removeprefix(f"{version} ") for line in lines if line.startswith(version)}


def main():
    keep = "--keep" in sys.argv
    versions = [arg for arg in sys.argv[1:] if arg != "--keep"] or list(judge.GENERATIONS)
    lines = []
    for version in versions:
        transcripts = run(version)
        for module in judge.modules():
            for difference in unexplained(version, module, transcripts[module]):
                lines.append(f"{version} {difference.where}")
                print(version, difference)
    print(f"{len(lines)} unexplained differences")
    if keep:
        OPEN.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
