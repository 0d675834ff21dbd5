"""The host objects that Pyodide is run over answer as the runtime itself does."""

from __future__ import annotations

import probing
import pytest
from judge import node_available


@pytest.mark.long
@pytest.mark.timeout(150)
@pytest.mark.skipif(not node_available(), reason="needs node and npm")
def test_host_objects_answer_as_the_runtime_does():
    found = probing.differences()
    assert not found, "\n" + "\n".join(found)
