"""What Node is told of the host's objects."""

from __future__ import annotations

from tsumugi_emulator.bindings.unsupported import UnsupportedBinding
from tsumugi_emulator.pyodide_runtime.handles import Handles


def test_what_is_not_emulated_has_every_name_so_that_using_one_can_say_so() -> None:
    _, _, described, own = Handles().give(UnsupportedBinding("FLOW", "Workflow"))
    assert described["dynamic"] is True
    assert (described["methods"], described["attributes"], own) == ([], [], None)
