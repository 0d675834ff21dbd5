from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from tsumugi.delivery import content_type_of
from tsumugi.testing.values import JsDict, delivered


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (None, "json"),
        ("text", "json"),
        (True, "json"),
        (1.5, "json"),
        (2**53 - 2, "json"),
        (JsDict(a=[1, {"b": None}]), "json"),
        (memoryview(b"\x00"), "bytes"),
        (float("nan"), "v8"),
        (2**53 - 1, "v8"),
        ({"at": datetime(2026, 1, 1)}, "v8"),
        ([{1, 2}], "v8"),
        ({"raw": memoryview(b"\x00")}, "v8"),
    ],
)
def test_a_delivered_body_is_sent_on_in_an_encoding_that_loses_nothing(
    body: Any, content_type: str
) -> None:
    assert content_type_of(body) == content_type
    again, _ = delivered(body, content_type_of(body))
    assert again == body or again != again  # NaN differs from itself
    assert type(again) is type(body) or isinstance(body, dict)
