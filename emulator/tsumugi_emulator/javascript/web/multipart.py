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

NO_BOUNDARY_TEXT = (
    "No boundary string in Content-Type header. The multipart/form-data MIME type requires a "
    "boundary parameter, e.g. 'Content-Type: multipart/form-data; boundary=\"abcd\"'. See RFC "
    "7578, section 4."
)
NOT_A_FORM_TEXT = (
    "Unrecognized Content-Type header value. FormData can only parse the following MIME types: "
    "multipart/form-data, application/x-www-form-urlencoded"
)

_HEAD_END = re.compile(rb"\r?\n\r?\n")
_DISPOSITION = re.compile(r'\s*([\w-]+)\s*((?:;\s*[\w-]+\s*=\s*"(?:[^"\n\\]|\\.)*"\s*)*)')
_PARAMETER = re.compile(r';\s*([\w-]+)\s*=\s*"((?:[^"\n\\]|\\.)*)"')
_ESCAPED = re.compile(r"\\(.)")


def encode_form(entries: list[Entry]) -> tuple[bytes, str]:
    """The multipart body and its content type, boundary included."""
    boundary = secrets.token_hex(16)
    parts: list[bytes] = []
    for name, value in entries:
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{_escape(name)}"'
        if isinstance(value, File):
            content_type = value._type or "application/octet-stream"
            head += f'; filename="{_escape(value._name)}"\r\nContent-Type: {content_type}'
            content = value._data
        else:
            content = utf8(value)
        parts.append(utf8(head) + b"\r\n\r\n" + content + b"\r\n")
    body = b"".join(parts) + f"--{boundary}--".encode()
    return body, f"multipart/form-data; boundary={boundary}"


def _escape(text: str) -> str:
    if text.endswith("\\"):
        raise type_error("Name or filename can't end with backslash")
    return text.replace('"', "%22").replace("\n", "%0A").replace("\\", "\\\\")


def decode_form(data: bytes, content_type: str | None) -> FormData:
    """The form a body of ``content_type`` holds.

    Raises:
        JsException: TypeError, when it is not a form or not a complete one.
    """
    if content_type is None:
        raise type_error("Parsing a Body as FormData requires a Content-Type header.")
    header = Message()
    header["content-type"] = content_type
    kind = header.get_content_type()
    if kind == "application/x-www-form-urlencoded":
        return FormData(list(parse_query(data.decode("utf-8", "replace"))))
    if kind != "multipart/form-data":
        raise type_error(NOT_A_FORM_TEXT)
    boundary = header.get_param("boundary")
    if not isinstance(boundary, str):
        raise type_error(NO_BOUNDARY_TEXT)
    return FormData([_decode_part(part) for part in _split(data, boundary.encode())])


def _split(data: bytes, boundary: bytes) -> list[bytes]:
    """The parts between delimiters. A delimiter owns the line break before it."""
    _, *pieces = (b"\n" + data).split(b"\n--" + boundary)
    if not pieces:
        raise type_error("No initial boundary string (or you have a truncated message).")
    parts: list[bytes] = []
    for index, piece in enumerate(pieces):
        if piece.startswith(b"--"):
            return parts
        start = 1 if piece.startswith(b"\n") else 2 if piece.startswith(b"\r\n") else 0
        if not start:
            raise type_error("Boundary string was not succeeded by CRLF, LF, or '--'.")
        if index < len(pieces) - 1:
            parts.append(piece[start:].removesuffix(b"\r"))
    raise type_error("No subsequent boundary string after multipart message.")


def _decode_part(part: bytes) -> Entry:
    end = _HEAD_END.search(part)
    if end is None:
        raise type_error("No multipart message header termination found.")
    headers = {}
    for line in part[: end.start()].decode("utf-8", "replace").splitlines():
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    content = part[end.end() :]
    field, filename = _disposition(headers.get("content-disposition"))
    if filename is None:
        return field, content.decode("utf-8", "replace")
    return field, File(content, filename, headers.get("content-type", ""))


def _disposition(value: str | None) -> tuple[str, str | None]:
    """The name, and the file name if any, of a Content-Disposition."""
    if value is None:
        raise type_error("No valid Content-Disposition header found in FormData part.")
    match = _DISPOSITION.fullmatch(value)
    if match is None or match[1] != "form-data":
        raise type_error("Invalid Content-Disposition header found in FormData part.")
    parameters = {name: _ESCAPED.sub(r"\1", text) for name, text in _PARAMETER.findall(match[2])}
    if "name" not in parameters:
        raise type_error("Content-Disposition header in FormData part is missing a name.")
    return parameters["name"], parameters.get("filename")
