"""Which file a path means, and whether a path is to be another one. Pure: asks ``exists``.

Rules: Cloudflare's static assets, ``html_handling`` and ``not_found_handling``. Paths are decoded
and start with a slash; files are named as paths.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    type Exists = Callable[[str], bool]

INDEX = "/index.html"


@dataclass(frozen=True, slots=True)
class Serve:
    file: str
    status: int = 200


@dataclass(frozen=True, slots=True)
class Redirect:
    path: str


@dataclass(frozen=True, slots=True)
class _Moved:
    """``file`` has its one address elsewhere."""

    file: str
    address: str


type _Step = Serve | _Moved


def resolve(
    path: str, exists: Exists, *, html_handling: str, not_found_handling: str
) -> Serve | Redirect | None:
    """What to answer; None when there is nothing."""
    for step in _STEPS[html_handling](path):
        if isinstance(step, Serve):
            if exists(step.file):
                return step
        elif _serves(step, exists, html_handling, not_found_handling):
            return Redirect(step.address)
    return _not_found(path, exists, not_found_handling)


def _serves(moved: _Moved, exists: Exists, html_handling: str, not_found_handling: str) -> bool:
    """Whether the address serves the file without another redirect, and no file of its own."""
    if not exists(moved.file) or exists(moved.address):
        return False
    direct = (step for step in _STEPS[html_handling](moved.address) if isinstance(step, Serve))
    found = next((step for step in direct if exists(step.file)), None)
    if found is None:
        found = _not_found(moved.address, exists, not_found_handling)
    return found is not None and found.file == moved.file


def _not_found(path: str, exists: Exists, handling: str) -> Serve | None:
    if handling == "single-page-application" and exists(INDEX):
        return Serve(INDEX)
    if handling == "404-page":
        directory = path
        while directory:
            directory = directory[: directory.rindex("/")]
            if exists(f"{directory}/404.html"):
                return Serve(f"{directory}/404.html", 404)
    return None


# -- html_handling: what to try, in order ---------------------------------------------------------


def _auto(path: str) -> Iterator[_Step]:
    if path.endswith("/index"):
        folder, stem = path.removesuffix("index"), path.removesuffix("/index")
        yield Serve(path)
        yield _Moved(f"{path}.html", folder)
        yield _Moved(f"{stem}.html", stem)
    elif path.endswith(INDEX):
        folder, stem = path.removesuffix("index.html"), path.removesuffix(INDEX)
        yield _Moved(path, folder)
        yield _Moved(f"{stem}.html", stem)
    elif path.endswith("/"):
        stem = path.removesuffix("/")
        yield Serve(f"{path}index.html")
        yield _Moved(f"{stem}.html", stem)
    elif path.endswith(".html"):
        stem = path.removesuffix(".html")
        yield _Moved(path, stem)
        yield _Moved(stem + INDEX, f"{stem}/")
    yield Serve(path)
    yield Serve(f"{path}.html")
    yield _Moved(path + INDEX, f"{path}/")


def _force(path: str) -> Iterator[_Step]:
    if path.endswith("/index"):
        folder, stem = path.removesuffix("index"), path.removesuffix("/index")
        yield Serve(path)
        yield _Moved(f"{path}.html", folder)
        yield _Moved(f"{stem}.html", folder)
    elif path.endswith(INDEX):
        folder, stem = path.removesuffix("index.html"), path.removesuffix(INDEX)
        yield _Moved(path, folder)
        yield _Moved(f"{stem}.html", folder)
    elif path.endswith("/"):
        yield Serve(f"{path}index.html")
        yield Serve(f"{path.removesuffix('/')}.html")
    elif path.endswith(".html"):
        folder = f"{path.removesuffix('.html')}/"
        yield _Moved(path, folder)
        yield Serve(path)
        yield _Moved(f"{folder}index.html", folder)
    yield Serve(path)
    yield _Moved(f"{path}.html", f"{path}/")
    yield _Moved(path + INDEX, f"{path}/")


def _drop(path: str) -> Iterator[_Step]:
    if path == "/index":
        yield Serve(path)
        yield _Moved(INDEX, "/")
    elif path.endswith("/index"):
        stem = path.removesuffix("/index")
        yield Serve(path)
        yield _Moved(f"{stem}.html", stem)
        yield _Moved(f"{path}.html", stem)
    elif path == INDEX:
        yield _Moved(INDEX, "/")
    elif path.endswith(INDEX):
        stem = path.removesuffix(INDEX)
        yield _Moved(path, stem)
        yield Serve(path)
        yield _Moved(f"{stem}.html", stem)
    elif path == "/":
        yield Serve(INDEX)
    elif path.endswith(("/", ".html")):
        stem = path[:-1] if path.endswith("/") else path.removesuffix(".html")
        yield _Moved(f"{stem}.html", stem)
        yield _Moved(stem + INDEX, stem)
    yield Serve(path)
    yield Serve(f"{path}.html")
    yield Serve(path + INDEX)


def _none(path: str) -> Iterator[_Step]:
    yield Serve(path)


_STEPS: dict[str, Callable[[str], Iterator[_Step]]] = {
    "auto-trailing-slash": _auto,
    "force-trailing-slash": _force,
    "drop-trailing-slash": _drop,
    "none": _none,
}
