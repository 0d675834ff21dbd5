"""``env.NAMESPACE``: ids and stubs of one class of Durable Objects. Reaches no object itself."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.bindings.arguments import option, options_object
from tsumugi_emulator.bindings.durable_object_stub import DurableObjectStub
from tsumugi_emulator.bindings.object_port import ObjectAddress
from tsumugi_emulator.durable import ids
from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.errors import js_error, range_error, type_error
from tsumugi_emulator.javascript.functions import js_class, js_method, js_property
from tsumugi_emulator.javascript.strings import to_string
from tsumugi_emulator.javascript.values import JsProxy, jsnull

if TYPE_CHECKING:
    from tsumugi_emulator.bindings.object_port import ObjectPort

OTHER_JURISDICTION_TEXT = (
    "get called on jurisdictional subnamespace with an ID from a different jurisdiction"
)


@js_class("DurableObjectId", constructible=False)
class DurableObjectId(JsProxy):
    __slots__ = ("_address",)

    def __init__(self, address: ObjectAddress) -> None:
        self._address = address

    @js_method
    def toString(self) -> str:
        return self._address.object_id

    @js_method
    def equals(self, other: Any = None) -> bool:
        if not isinstance(other, DurableObjectId):
            raise _wrong_type("equals", "DurableObjectId", "DurableObjectId")
        return self._address.object_id == other._address.object_id

    @js_property
    def name(self) -> str | None:
        return self._address.name

    @js_property
    def jurisdiction(self) -> str | None:
        address = self._address
        return ids.jurisdiction_of(address.namespace, address.object_id)

    def _to_string(self) -> str:
        return self._address.object_id


@js_class("DurableObjectNamespace", constructible=False)
class DurableObjectNamespace(JsProxy):
    __slots__ = ("_jurisdiction", "_key", "_port", "_whole")

    def __init__(self, key: str, port: ObjectPort | None = None) -> None:
        """``key`` is ``durable.ids.namespace_key``; a port may come later (``_connect``)."""
        self._key = key
        self._port = port
        #: That of a part of the namespace, and the namespace it is a part of.
        self._jurisdiction: str | None = None
        self._whole = self

    def _connect(self, port: ObjectPort) -> None:
        """From now on stubs can be made; ids always can."""
        self._port = port

    @js_method
    def newUniqueId(self, options: Any = None) -> DurableObjectId:
        where = option(options, "jurisdiction") if isinstance(options, JsProxy) else None
        jurisdiction = self._jurisdiction if where is None else _known(where)
        text = ids.from_random(self._key, os.urandom(ids.HALF), jurisdiction)
        return DurableObjectId(ObjectAddress(self._key, text))

    @js_method
    def idFromName(self, name: Any = None) -> DurableObjectId:
        return self._named("idFromName", name)

    @js_method
    def idFromString(self, text: Any = None) -> DurableObjectId:
        try:
            found = ids.from_text(self._key, to_string(text))
        except ids.BadId as error:
            raise type_error(str(error)) from None
        return DurableObjectId(ObjectAddress(self._key, found))

    @js_method
    def get(self, object_id: Any = None, options: Any = None) -> DurableObjectStub:
        if not isinstance(object_id, DurableObjectId):
            raise _wrong_type("get", "DurableObjectNamespace", "DurableObjectId")
        _check_options(options, "get")
        if object_id._address.namespace != self._key:
            raise js_error("Error", ids.FOREIGN_TEXT)
        if self._jurisdiction not in (None, object_id.jurisdiction):
            raise type_error(OTHER_JURISDICTION_TEXT)
        return self._stub(object_id)

    @js_method
    def getExisting(self, object_id: Any = None, options: Any = None) -> DurableObjectStub:
        return self.get(object_id, options)  # type: ignore[no-any-return]

    @js_method
    def getByName(self, name: Any = None, options: Any = None) -> DurableObjectStub:
        object_id = self._named("getByName", name)
        _check_options(options, "getByName")
        return self._stub(object_id)

    @js_method
    def jurisdiction(self, name: Any = None) -> DurableObjectNamespace:
        """The part of the namespace whose objects are kept there; without a name, the whole."""
        if name is None or name is jsnull:
            return self._whole
        part = DurableObjectNamespace(self._key)
        part._jurisdiction = _known(name)
        part._whole = self._whole
        return part

    def _named(self, method: str, name: Any) -> DurableObjectId:
        if name is None:
            raise _wrong_type(method, "DurableObjectNamespace", "string")
        text = to_string(name)
        found = ids.from_name(self._key, text, self._jurisdiction)
        return DurableObjectId(ObjectAddress(self._key, found, text))

    def _stub(self, object_id: DurableObjectId) -> DurableObjectStub:
        io_context.require()
        port = self._whole._port
        assert port is not None  # connected before the first event
        return DurableObjectStub(object_id, port)


def _check_options(options: Any, method: str) -> None:
    given = options_object(
        options,
        method=method,
        owner="DurableObjectNamespace",
        position=2,
        expected="GetDurableObjectOptions",
    )
    mode = option(given, "routingMode")
    if mode is not None and to_string(mode) != "primary-only":
        raise range_error(f"unknown routingMode: {to_string(mode)}")


def _known(jurisdiction: Any) -> str:
    """Raises:
    JsException: TypeError, unless it is the name of a jurisdiction.
    """
    name = to_string(jurisdiction)
    if name not in ids.JURISDICTIONS:
        known = ", ".join(ids.JURISDICTIONS)
        raise type_error(f'There is no jurisdiction "{name}": use one of {known}.')
    return name


def _wrong_type(method: str, owner: str, expected: str) -> Exception:
    return type_error(
        f"Failed to execute '{method}' on '{owner}': parameter 1 is not of type '{expected}'."
    )
