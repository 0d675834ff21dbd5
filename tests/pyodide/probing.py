"""Ask the host objects that Pyodide is run over, and the runtime itself, the same questions.

`python tests/pyodide/probing.py` prints where they differ. The questions are in probes/.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))

import judge

PROBES = judge.SUITE / "probes"
TIMEOUT_S = 60

# The runtime names some types of parameters by its own C++ types, which come and go.
CPP_TYPE = re.compile(r"(is not of type '.*)\bJs(?=[A-Z])")


def install():
    judge.install()
    if (PROBES / "node_modules" / "miniflare").is_dir():
        return
    command = ["npm", "install", "--no-package-lock", "--no-audit", "--no-fund"]
    subprocess.run(command, cwd=PROBES, check=True, capture_output=True)


def asked(script):
    """What `script` says: list of questions -> label -> answer."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "said.json"
        done = subprocess.run(
            ["node", str(PROBES / script), str(output)],
            cwd=PROBES,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        if not output.exists():
            raise RuntimeError(f"{script} did not answer:\n{done.stderr}")
        said = json.loads(output.read_text(encoding="utf-8"))
    return {
        name: {label: CPP_TYPE.sub(r"\1", answer) for label, answer in answers}
        for name, answers in said.items()
    }


def differences():
    """Lines that tell what the host objects answer differently from the runtime."""
    install()
    host, runtime = asked("host.mjs"), asked("runtime.mjs")
    assert host, "nothing was asked"
    return [
        f"{name}: {label}\n    runtime: {runtime[name].get(label)}\n    host:    {answer}"
        for name in host
        for label, answer in host[name].items()
        if runtime[name].get(label) != answer
    ] + [f"{name} is not asked of both" for name in host.keys() ^ runtime.keys()]


def main():
    found = differences()
    print("\n".join([*found, f"{len(found)} differences"]))


if __name__ == "__main__":
    main()
