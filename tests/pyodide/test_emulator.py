"""The emulated boundary says what real Pyodide said."""

from __future__ import annotations

import pytest
from emulator_run import still_open, unexplained
from judge import GENERATIONS, modules


@pytest.mark.parametrize("module", modules())
@pytest.mark.parametrize("version", GENERATIONS)
def test_the_emulator_says_what_real_pyodide_says(version, module, emulated):
    known = still_open(version)
    found = unexplained(version, module, emulated(version)[module])
    new = [difference for difference in found if difference.where not in known]
    assert not new, "\n" + "\n".join(map(str, new))
