"""Results and errors of attempts as JSON, within their limits. Pure: reports to nobody."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tsumugi.jobs.context import ELLIPSIS, cut, storable
from tsumugi.jobs.core.reports import Outcome
from tsumugi.jobs.wire import ERROR_LENGTH, RESULT_LENGTH, ErrorReport, dumps

if TYPE_CHECKING:
    from types import TracebackType

#: Characters of an error's type, and of its message when there is a traceback to show as well.
_TYPE_LENGTH: Final = 200
_MESSAGE_LENGTH: Final = 1_000
#: Characters of a line in the log.
_LINE_LENGTH: Final = 500
#: Frames of a traceback; those nearest to the error are kept.
_FRAMES: Final = 20
#: Frames of these are the consumer's, at the beginning of every traceback.
_OWN_FRAMES: Final = "tsumugi.jobs.consumer"


class Ended(NamedTuple):
    """How an attempt ended. ``members`` is what the report says of it, as JSON members."""

    outcome: Outcome
    members: str = ""
    #: Raised past the performer, and not for it alone: the event is about to be stopped.
    fatal: BaseException | None = None
    #: What a developer wants to be told of it, in a line; nothing of an attempt that went well.
    why: str = ""


def succeeded(result: object) -> Ended:
    """Of an attempt that returned ``result``: kept as JSON, or null with a note saying why."""
    if result is None:
        return Ended(Outcome.SUCCEEDED)
    text, problem = _written(result)
    if problem is None and len(text) > RESULT_LENGTH:
        problem = f"the result has {len(text)} characters as JSON, and {RESULT_LENGTH} are kept"
    if problem is not None:
        note = cut(storable(problem), ERROR_LENGTH)
        return Ended(Outcome.SUCCEEDED, f',"note":{dumps(note)}', why=_line(note))
    return Ended(Outcome.SUCCEEDED, f',"result":{text}')


def _written(result: object) -> tuple[str, str | None]:
    """The result as JSON, or why there is none."""
    try:
        try:
            text = dumps(result)
        except TypeError:
            text = _written_by_pydantic(result)
    except Exception as error:  # whatever a serialiser of the user's raises
        return "", f"the result is not JSON: {_message(error)}"
    return text, None


def _written_by_pydantic(result: Any) -> str:
    """Models, dataclasses, times, ids, sets, as a developer expects them."""
    from pydantic_core import to_json

    return to_json(result, inf_nan_mode="null").decode()


def failed(outcome: Outcome, error: BaseException, *, fatal: BaseException | None = None) -> Ended:
    """Of an attempt that ended with ``error``."""
    report = error_report(error)
    why = _line(f"{report['type']}: {report['message']}") + _place(error)
    return Ended(outcome, f',"error":{dumps(report)}', fatal, why)


def refused(outcome: Outcome, type_: str, message: str) -> Ended:
    """Of an attempt that failed without an exception."""
    report = ErrorReport(type=type_, message=cut(storable(message), ERROR_LENGTH), traceback="")
    return Ended(outcome, f',"error":{dumps(report)}', why=_line(report["message"]))


def _line(text: str) -> str:
    """The first line, for a log; the whole of it is kept with the job."""
    return cut(text.partition("\n")[0], _LINE_LENGTH)


def _place(error: BaseException) -> str:
    """Where the performer was, as ``file:line``; it may have called others."""
    trace = _users(error.__traceback__)
    if trace is None or trace.tb_frame.f_globals.get("__name__", "").startswith("tsumugi."):
        return ""
    return f" ({trace.tb_frame.f_code.co_filename}:{trace.tb_lineno})"


def error_report(error: BaseException) -> ErrorReport:
    """Type, message and traceback in ``ERROR_LENGTH`` characters; the traceback's end counts."""
    kind = type(error)
    name = (
        kind.__qualname__
        if kind.__module__ == "builtins"
        else f"{kind.__module__}.{kind.__qualname__}"
    )
    name = cut(storable(name), _TYPE_LENGTH)
    message = storable(_message(error))
    trace = storable(_trace(error))
    left = ERROR_LENGTH - len(name)
    message = cut(message, max(_MESSAGE_LENGTH, left - len(trace)))
    left -= len(message)
    if len(trace) > left:
        trace = ELLIPSIS + trace[len(trace) - left + 1 :]
    return {"type": name, "message": message, "traceback": trace}


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as broken:
        return f"(its message cannot be read: {type(broken).__name__})"


def _trace(error: BaseException) -> str:
    try:
        lines = traceback.TracebackException(
            type(error), error, _users(error.__traceback__), limit=-_FRAMES, compact=True
        ).format()
        return "".join(lines).rstrip()
    except Exception:  # a __str__ or a source line that cannot be read
        return ""


def _users(trace: TracebackType | None) -> TracebackType | None:
    """From the first frame that is not the consumer's."""
    while trace is not None and trace.tb_frame.f_globals.get("__name__", "").startswith(
        _OWN_FRAMES
    ):
        trace = trace.tb_next
    return trace


def report_text(local: str, epoch: int, ended: Ended, *, started_ms: int, finished_ms: int) -> str:
    """An ``AttemptReport`` as JSON. The id is hexadecimal and needs no escape."""
    return (
        f'{{"id":"{local}","epoch":{epoch},"outcome":"{ended.outcome}",'
        f'"started_ms":{started_ms},"finished_ms":{finished_ms}{ended.members}}}'
    )
