"""The jobs API decides who may use it inside real Pyodide, with a real Web Crypto."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from judge import GENERATIONS, NODE, PACKAGES, SUITE, node_available

SDK = Path(__file__).parents[2] / "sdk"


@pytest.mark.long
@pytest.mark.timeout(90)
@pytest.mark.skipif(not node_available(), reason="needs node and npm")
@pytest.mark.parametrize("version", GENERATIONS)
def test_tokens_are_judged_alike_in_every_pyodide(version):
    package = PACKAGES / GENERATIONS[version].package
    if not package.is_dir():
        pytest.skip(f"{package.name} is not installed: run the judge once")
    command = [*NODE, SUITE / "probes" / "access.mjs", package, SDK]
    done = subprocess.run(command, capture_output=True, text=True, timeout=80, check=False)
    assert done.returncode == 0, done.stderr
    wrong = "the signature is wrong"
    assert json.loads(done.stdout) == [None, wrong, None, wrong, True, False]
