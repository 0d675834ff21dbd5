"""JavaScript's own objects beneath the wrappers of the SDK."""

from __future__ import annotations

from types import SimpleNamespace

from tsumugi.jobs.stubs import bare


class Slotted:
    __slots__ = ()

    def __getattr__(self, name: str) -> object:
        raise AttributeError(name)


def test_the_object_beneath_a_wrapper_is_taken() -> None:
    beneath = object()
    assert bare(SimpleNamespace(_binding=beneath, cached=1)) is beneath


def test_an_object_that_is_wrapped_in_nothing_stays_as_it_is() -> None:
    for plain in (Slotted(), SimpleNamespace(sendBatch=print), object()):
        assert bare(plain) is plain
