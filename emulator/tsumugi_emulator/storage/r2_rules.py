"""R2's decisions: which range, whether a condition holds, which limits. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_KEY_BYTES = 1024
MAX_CUSTOM_METADATA_BYTES = 2048
MAX_LISTED = 1000
MIN_PART_BYTES = 5 * 1024 * 1024

#: Codes and texts of the service.
ERRORS = {
    10001: "We encountered an internal error. Please try again.",
    10011: "Your proposed upload is smaller than the minimum allowed object size.",
    10012: "Your metadata headers exceed the maximum allowed metadata size.",
    10020: "The specified object name is not valid.",
    10022: "MaxKeys params must be positive integer <= 1000.",
    10024: "The specified multipart upload does not exist.",
    10025: "One or more of the specified parts could not be found.",
    10039: "The requested range is not satisfiable",
    10048: "There was a problem with the multipart upload.",
}


class R2Error(Exception):
    """The service refused, with a code."""

    def __init__(self, code: int, message: str | None = None) -> None:
        self.code = code
        self.message = message if message is not None else ERRORS[code]
        super().__init__(f"{self.message} ({code})")


class Range(NamedTuple):
    """What part of an object is asked for; a suffix excludes the others."""

    offset: int | None = None
    length: int | None = None
    suffix: int | None = None

    def resolve(self, size: int) -> tuple[int, int]:
        """Offset and length within an object of ``size`` bytes.

        Raises:
            R2Error: nothing would be left.
        """
        if self.suffix is not None:
            length = min(self.suffix, size)
            offset = size - length
        else:
            offset = self.offset or 0
            length = max(0, size - offset)
            if self.length is not None:
                length = min(length, self.length)
        if length <= 0:
            raise R2Error(10039)
        return offset, length


class ETag(NamedTuple):
    value: str
    weak: bool = False

    @property
    def is_any(self) -> bool:
        return self.value == "*"


class Condition(NamedTuple):
    """What must hold of the stored object, as HTTP's conditional headers say it."""

    etag_matches: Sequence[ETag] | None = None
    etag_does_not_match: Sequence[ETag] | None = None
    uploaded_before_ms: int | None = None
    uploaded_after_ms: int | None = None
    whole_seconds: bool = False

    def holds(self, stored: tuple[str, int] | None) -> bool:
        """``stored`` is the object's etag and upload time; None if there is none."""
        if stored is None:
            return self.etag_matches is None and self.uploaded_after_ms is None
        etag, uploaded_ms = stored
        match = self.etag_matches is None or _names(self.etag_matches, etag, weak=False)
        no_match = self.etag_does_not_match is None or not _names(
            self.etag_does_not_match, etag, weak=True
        )
        before = self._is_before(uploaded_ms) or (self.etag_matches is not None and match)
        after = self._is_after(uploaded_ms) or (self.etag_does_not_match is not None and no_match)
        return match and no_match and before and after

    def _is_before(self, uploaded_ms: int) -> bool:
        if self.uploaded_before_ms is None:
            return True
        return self._granular(uploaded_ms) < self._granular(self.uploaded_before_ms)

    def _is_after(self, uploaded_ms: int) -> bool:
        if self.uploaded_after_ms is None:
            return True
        return self._granular(uploaded_ms) > self._granular(self.uploaded_after_ms)

    def _granular(self, time_ms: int) -> int:
        return time_ms // 1000 if self.whole_seconds else time_ms


def _names(etags: Sequence[ETag], etag: str, *, weak: bool) -> bool:
    return any(
        listed.is_any or (listed.value == etag and (weak or not listed.weak)) for listed in etags
    )
