"""Form bodies: ``multipart/form-data`` (RFC 7578) written and read, urlencoded read.

Whole bodies only. They fit in memory, as a Worker's must.
"""

from __future__ import annotations

import re
import secrets
from email.message import Message

from tsumugi_emulator.javascript.errors import type_error
from tsumugi_emulator.javascript.web.blob import File
from tsumugi_emulator.javascript.web.form_data import Entry, FormData
from tsumugi_emulator.javascript.web.search_params import parse_query
from tsumugi_emulator.javascript.web.unicode import utf8

_NEWLINE = re.compile(r"\r\n|\r|\n")


def encode_form(entries: list[Entry]) -> tuple[bytes, str]:
    """The multipart body and its content type, boundary included."""
    boundary = f"----formdata-{secrets.token_hex(16)}"
    parts = []
    for name, value in entries:
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{_escape(name)}"'
        if isinstance(value, File):
            content_type = value._type or "application/octet-stream"
            head += f'; filename="{_escape(value._name)}"\r\nContent-Type: {content_type}'
            content = value._data
        else:
            content = utf8(_NEWLINE.sub("\r\n", value))
        parts.append(utf8(head) + b"\r\n\r\n" + content + b"\r\n")
    body = b"".join(parts) + f"--{boundary}--".encode()
    return body, f"multipart/form-data; boundary={boundary}"


def _escape(text: str) -> str:
    return text.replace("\n", "%0A").replace("\r", "%0D").replace('"', "%22")


def decode_form(data: bytes, content_type: str) -> FormData:
    """The form a body of ``content_type`` holds.

    Raises:
        JsException: TypeError, when it is not a form or not a complete one.
    """
    header = Message()
    header["content-type"] = content_type
    kind = header.get_content_type() if content_type else ""
    if kind == "application/x-www-form-urlencoded":
        return FormData(list(parse_query(data.decode("utf-8", "replace"))))
    if kind != "multipart/form-data":
        raise type_error(
            "Unrecognized Content-Type header value. FormData can only parse the following MIME "
            "types: multipart/form-data, application/x-www-form-urlencoded."
        )
    boundary = header.get_param("boundary")
    if not isinstance(boundary, str) or not boundary:
        raise type_error(
            "No boundary string in Content-Type header. The multipart/form-data MIME type requires "
            "a boundary parameter, e.g. 'Content-Type: multipart/form-data; boundary=\"abcd\"'. "
            "See RFC 7578, section 4."
        )
    return FormData([_decode_part(part) for part in _split(data, boundary.encode())])


def _split(data: bytes, boundary: bytes) -> list[bytes]:
    """The parts between delimiters; each delimiter owns the line break before it."""
    pieces = (b"\r\n" + data).split(b"\r\n--" + boundary)
    if len(pieces) < 2 or not pieces[-1].startswith(b"--"):
        raise type_error("No initial boundary string (or you have a truncated message).")
    return [piece.lstrip(b" \t").removeprefix(b"\r\n") for piece in pieces[1:-1]]


def _decode_part(part: bytes) -> Entry:
    head, separator, content = part.partition(b"\r\n\r\n")
    if not separator:
        raise type_error("No Content-Disposition header in FormData part.")
    headers = Message()
    for line in head.decode("utf-8", "replace").split("\r\n"):
        name, _, value = line.partition(":")
        headers[name.strip()] = value.strip()
    field = _disposition(headers, "name")
    if field is None:
        raise type_error("No name parameter in FormData Content-Disposition header.")
    filename = _disposition(headers, "filename")
    if filename is None:
        return field, content.decode("utf-8", "replace")
    return field, File(content, filename, headers.get("content-type", "text/plain"))


def _disposition(headers: Message, name: str) -> str | None:
    value = headers.get_param(name, header="content-disposition")
    if not isinstance(value, str):
        return None
    return value.replace("%22", '"').replace("%0D", "\r").replace("%0A", "\n")
