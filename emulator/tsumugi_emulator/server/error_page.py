"""What a client sees when the Worker failed: a page for browsers, text for everyone else."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

# ruff: noqa: E501  # a page, not code
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root {{ color-scheme: light dark; --bg: #fff; --fg: #1d2330; --soft: #667; --code: #f5f6f8; --bar: #d64545; }}
@media (prefers-color-scheme: dark) {{ :root {{ --bg: #14171c; --fg: #e6e8ec; --soft: #9aa3b2; --code: #1d2229; }} }}
body {{ margin: 0; background: var(--bg); color: var(--fg); font: 16px/1.5 system-ui, sans-serif; }}
main {{ max-width: 60rem; margin: 3rem auto; padding: 0 1.5rem; }}
h1 {{ font-size: 1.25rem; border-left: .25rem solid var(--bar); padding-left: .75rem; overflow-wrap: anywhere; }}
p {{ color: var(--soft); }}
pre {{ background: var(--code); padding: 1rem; border-radius: .5rem; overflow-x: auto; font: 13px/1.6 ui-monospace, monospace; }}
</style></head><body><main><h1>{title}</h1><p>{where}</p><pre>{report}</pre></main></body></html>
"""


async def error_response(
    scope: dict[str, Any],
    send: Callable[[dict[str, Any]], Awaitable[None]],
    title: str,
    report: str,
    *,
    status: int = 500,
) -> None:
    """Answer with the fault; ``title`` is its last line, ``report`` the traceback."""
    where = f"{scope['method']} {scope['path']}"
    if _wants_html(scope):
        text = _PAGE.format(
            title=html.escape(title), where=html.escape(where), report=html.escape(report)
        )
        content_type = b"text/html; charset=utf-8"
    else:
        text = f"{report}\n" if title in report else f"{title}\n\n{report}\n"
        content_type = b"text/plain; charset=utf-8"
    body = text.encode()
    headers = [
        (b"content-type", content_type),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _wants_html(scope: dict[str, Any]) -> bool:
    accept = next((value for name, value in scope["headers"] if name == b"accept"), b"")
    return b"text/html" in accept
