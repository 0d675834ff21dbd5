"""What Pyodide's streams write to the terminal, as the CPython child's do: whole lines."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from tsumugi_emulator import pyodide_runtime

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")

OUTPUT = Path(pyodide_runtime.__file__).parent.parent / "pyodide_host" / "output.mjs"
#: Pyodide writes in pieces of a few kilobytes.
PIECE = "x" * 8192


def written(*pieces: str) -> str:
    """What comes out when Python writes the pieces, and then nothing for a while."""
    script = f"""
        import fs from "node:fs";
        import {{ Output }} from {json.dumps(OUTPUT.as_uri())};
        const streams = {{}};
        const capture = (name) => (stream) => (streams[name] = stream);
        const output = new Output();
        output.prefix = "[w] ";
        output.capture({{
          setStdout: capture("out"), setStderr: capture("error"), setStdin() {{}},
        }});
        const pieces = JSON.parse(fs.readFileSync(0));
        for (const piece of pieces) streams.out.write(new TextEncoder().encode(piece));
        output.flush();
    """
    done = subprocess.run(
        ["node", "--input-type=module", "--eval", script],
        input=json.dumps(pieces),
        capture_output=True,
        check=True,
        text=True,
        timeout=30,
    )
    return done.stdout


def test_a_line_is_one_however_long_it_is_and_in_how_many_pieces_it_comes() -> None:
    assert written(*[PIECE] * 20, "\nnext\n") == f"[w] {PIECE * 20}\n[w] next\n"


def test_a_line_that_has_begun_is_ended_when_nothing_more_may_come() -> None:
    assert written("held") == "[w] held\n"
    assert written(*[PIECE] * 9) == f"[w] {PIECE * 9}\n"
