"""The boundary under these tests: registered once, before any of them imports ``js``."""

from __future__ import annotations

import sys

from tsumugi_emulator.javascript import install

if "js" not in sys.modules:
    install(compatibility_flags=frozenset({"python_request_headers_preserve_commas"}))
