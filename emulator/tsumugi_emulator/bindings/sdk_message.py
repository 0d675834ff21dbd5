"""A message as the SDK shows it, without its detours for plain values (ADR-0044).

The SDK asks a JavaScript object to convert itself before it wraps it. A message answers with a
subclass of the SDK's own wrapper that reads its body and settles itself directly where nothing
would be lost on the way; every other attribute, value and argument takes the SDK's way.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.json_text import number, parse_tree

if TYPE_CHECKING:
    from tsumugi_emulator.bindings.queue_batch import QueueMessage

#: Keys JavaScript treats as more than data.
_SPECIAL_KEYS = frozenset({"__proto__", "constructor"})
#: Largest delay that needs no conversion on its way through C++'s ``int``.
_LARGEST_DELAY_S = 2**31 - 1


class _DetourError(Exception):
    """The value is not plain: JavaScript would order, name or convert it differently."""


def wrapped(message: QueueMessage) -> Any:
    """What ``batch.messages`` holds in Python."""
    made = object.__new__(_message_class())
    made._binding = message
    made.id = message.id
    made.attempts = message.attempts
    return made


class _Message:
    """``_BindingWrapper`` of a ``QueueMessage``."""

    _binding: QueueMessage
    #: The SDK's wrapper class and its ``JsDict``.
    _wrapper: Any
    _record: Any

    def __getattr__(self, name: str) -> Any:
        if name == "body":
            try:
                self.body = self._plain_body()
            except _DetourError:
                pass
            else:
                return self.body
        return self._wrapper.__getattr__(self, name)

    def _plain_body(self) -> Any:
        message = self._binding
        if message._has_been_read:
            raise _DetourError  # somebody holds the JavaScript value already
        if message._content_type == "text":
            return message._data.decode("utf-8", "replace")
        if message._content_type != "json":
            raise _DetourError
        return plain(parse_tree(message._data), self._record)

    def ack(self, *args: Any, **kwargs: Any) -> None:
        if args or kwargs:
            self._wrapper(self._binding).ack(*args, **kwargs)
        else:
            message = self._binding
            message._settlement.event.owns("QueueMessage")
            message._settlement.ack(message.id)

    def retry(self, *args: Any, **kwargs: Any) -> None:
        delay_s = kwargs.get("delaySeconds")
        if args or len(kwargs) > 1 or (kwargs and not _is_plain_delay(delay_s)):
            self._wrapper(self._binding).retry(*args, **kwargs)
        else:
            message = self._binding
            message._settlement.event.owns("QueueMessage")
            message._settlement.retry(message.id, delay_s)


def _is_plain_delay(value: Any) -> bool:
    return type(value) is int and 0 <= value <= _LARGEST_DELAY_S


def plain(tree: Any, record: Any) -> Any:
    """A parsed JSON document as the SDK converts it, objects as ``record``.

    Raises:
        _DetourError: a key that JavaScript would move or interpret.
    """
    kind = type(tree)
    if kind is str or kind is bool or tree is None:
        return tree
    if kind is dict:
        made = record()
        for key, item in tree.items():
            if "0" <= key < ":" or key in _SPECIAL_KEYS:
                raise _DetourError
            made[key] = item if type(item) is str else plain(item, record)
        return made
    if kind is list:
        return [plain(item, record) for item in tree]
    return number(tree)


@cache
def _message_class() -> type[Any]:
    """Made once the SDK can be imported; called what the SDK's is called."""
    from workers.rpc import JsDict, _BindingWrapper

    members = {
        "__module__": _BindingWrapper.__module__,
        "_record": JsDict,
        "_wrapper": _BindingWrapper,
    }
    return type("_BindingWrapper", (_Message, _BindingWrapper), members)
