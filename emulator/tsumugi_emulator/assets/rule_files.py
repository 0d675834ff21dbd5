"""``_headers`` and ``_redirects`` as they are on disk now. Knows not what their lines mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsumugi_emulator.assets.header_rules import HEADERS_FILE, HeaderRules, parse_headers
from tsumugi_emulator.assets.redirect_rules import REDIRECTS_FILE, RedirectRules, parse_redirects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tsumugi_emulator.assets.rules import Fault


class _File[Rules]:
    """One of them, read again when it has changed."""

    def __init__(self, path: Path, parse: Callable[[str], Rules], none: Rules) -> None:
        self._path = path
        self._parse = parse
        self._none = none
        self._rules = none
        self._looks: tuple[int, int] | None = None

    def rules(self) -> Rules:
        try:
            status = self._path.stat()
            looks = (status.st_mtime_ns, status.st_size)
            if looks != self._looks:
                text = self._path.read_text(encoding="utf-8", errors="replace")
                self._rules, self._looks = self._parse(text), looks
        except OSError:
            self._rules, self._looks = self._none, None
        return self._rules


class RuleFiles:
    """Both files of one directory."""

    def __init__(self, directory: Path, *, html_handling: str) -> None:
        self._headers = _File(directory / HEADERS_FILE, parse_headers, HeaderRules())
        self._redirects = _File(
            directory / REDIRECTS_FILE,
            lambda text: parse_redirects(text, html_handling=html_handling),
            RedirectRules(),
        )
        self._directory = directory

    @property
    def headers(self) -> HeaderRules:
        return self._headers.rules()

    @property
    def redirects(self) -> RedirectRules:
        return self._redirects.rules()

    def faults(self) -> Iterator[tuple[Path, Fault]]:
        """Lines that are not obeyed, with the file they are in."""
        for fault in self.headers.faults:
            yield self._directory / HEADERS_FILE, fault
        for fault in self.redirects.faults:
            yield self._directory / REDIRECTS_FILE, fault
