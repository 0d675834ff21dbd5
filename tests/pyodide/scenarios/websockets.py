"""WebSockets: pairs, and sockets that a Durable Object accepts for hibernation."""

import asyncio

import js
from pyodide.ffi import create_proxy, to_js
from workers import DurableObject, Response

SEEN = []


class Room(DurableObject):
    async def run(self, work):
        return await WORK[work](self)

    async def fetch(self, request):
        client, server = js.WebSocketPair.new().object_values()
        self.ctx.acceptWebSocket(server, to_js(["room", "first"]))
        server.serializeAttachment(plain({"name": "first"}))
        return Response(None, status=101, web_socket=client)

    async def webSocketMessage(self, ws, message):
        kind = type(message).__name__
        text = message if isinstance(message, str) else bytes(message.to_py())
        SEEN.append(["message", type(ws).__name__, kind, text])
        if message == "attachment":
            kept = ws.deserializeAttachment()
            SEEN.append(["attachment", type(kept).__name__, kept.name])
        elif message == "fail":
            raise ValueError("in the handler")
        elif message == "close":
            ws.close(4001, "asked for")
        elif message == "tags":
            SEEN.append(list(self.ctx.getTags(ws)))
        else:
            ws.send(message)

    async def webSocketClose(self, ws, code, reason, was_clean):
        SEEN.append(["close", code, reason, was_clean, ws.readyState])
        SEEN.append(["sockets", len(self.ctx.getWebSockets())])


class Relaxed(Room):
    """Its handlers take fewer arguments than they are given."""

    async def webSocketMessage(self, ws):
        SEEN.append(["message", type(ws).__name__])
        ws.send("got it")

    def webSocketClose(self):
        SEEN.append(["closed"])


WORK = {}


def plain(value):
    return to_js(value, dict_converter=js.Object.fromEntries)


async def scenario_pairs(record, env, host):
    pair = js.WebSocketPair.new()
    record("pair", type(pair).__name__)
    record("constructor", pair.constructor.name)
    record("values", len(pair.object_values()))
    record("keys", list(pair.object_keys()))
    one, _ = pair.object_values()
    record("socket", [type(one).__name__, one.constructor.name])
    unpacked = list(js.WebSocketPair.new())
    record("unpacked", len(unpacked))
    record.outcome("subscript", lambda: pair[0])
    record.outcome("state", lambda: one.readyState)
    record.outcome("constants", lambda: [js.WebSocket.OPEN, js.WebSocket.READY_STATE_CLOSED])
    record.outcome("url", lambda: host.describe(one.url))
    record.outcome("protocol", lambda: one.protocol)
    record.outcome("extensions", lambda: one.extensions)
    record.outcome("send too early", lambda: one.send("x"))
    record.outcome("close too early", lambda: one.close())
    record.outcome("nothing attached", lambda: host.describe(one.deserializeAttachment()))
    record.outcome("attach a dict", lambda: one.serializeAttachment({"a": 1}))
    record.outcome("attach to_js", lambda: one.serializeAttachment(plain({"a": [1]})))
    record.outcome("attached", lambda: host.describe(one.deserializeAttachment()))
    record.outcome("attach text", lambda: one.serializeAttachment("text"))
    record.outcome("attached text", lambda: one.deserializeAttachment())


async def scenario_events(record, env, host):
    one, two = js.WebSocketPair.new().object_values()
    seen, over = [], asyncio.Event()

    def message(event):
        data = event.data
        seen.append(
            ["message", type(data).__name__, data if isinstance(data, str) else bytes(data.to_py())]
        )

    def close(event):
        seen.append(["close", event.code, event.reason, event.wasClean, event.type])
        over.set()

    for socket in (one, two):
        socket.addEventListener("message", create_proxy(message))
        socket.addEventListener("close", create_proxy(close))
    one.accept()
    two.accept()
    record.outcome("accept twice", lambda: two.accept())
    record.outcome("send text", lambda: one.send("text"))
    record.outcome("send bytes", lambda: two.send(to_js(b"\x01\x02")))
    record.outcome("send a python bytes", lambda: two.send(b"\x03"))
    record.outcome("send a number", lambda: one.send(5))
    record.outcome("send None", lambda: one.send(None))
    record.outcome("send nothing", lambda: one.send())
    record.outcome("send a dict", lambda: one.send({"a": 1}))
    record.outcome("bad code", lambda: one.close(5))
    record.outcome("a reason alone", lambda: one.close(None, "r"))
    record.outcome("state", lambda: one.readyState)
    record.outcome("close", lambda: one.close(3001, "bye"))
    record.outcome("close again", lambda: one.close(3001, "bye"))
    record.outcome("send after close", lambda: one.send("x"))
    record.outcome("closing", lambda: one.readyState)
    await over.wait()
    record("events", seen)


async def scenario_accepting(record, env, host):
    host.bind_objects(ROOM=Room)

    async def accepting(room):
        ctx = room.ctx
        client, server = js.WebSocketPair.new().object_values()
        record.outcome("nothing", lambda: ctx.acceptWebSocket())
        record.outcome("a text", lambda: ctx.acceptWebSocket("x"))
        record.outcome("tags before", lambda: ctx.getTags(server))
        record.outcome("a python list of tags", lambda: ctx.acceptWebSocket(server, ["a"]))
        client, server = js.WebSocketPair.new().object_values()
        record.outcome("text as tags", lambda: ctx.acceptWebSocket(server, "a"))
        record.outcome("accept", lambda: ctx.acceptWebSocket(server, to_js(["a", "b", "a"])))
        record.outcome("accept twice", lambda: ctx.acceptWebSocket(server))
        record.outcome("accept by itself", lambda: server.accept())
        record.outcome("tags", lambda: list(ctx.getTags(server)))
        record.outcome("type of tags", lambda: type(ctx.getTags(server)).__name__)
        sockets = ctx.getWebSockets()
        record("type of sockets", type(sockets).__name__)
        record("with a tag", len(ctx.getWebSockets("b")))
        record("with another tag", len(ctx.getWebSockets("z")))
        record.outcome(
            "many tags",
            lambda: ctx.acceptWebSocket(
                js.WebSocketPair.new().object_values()[0], to_js(list("abcdefghijk"))
            ),
        )
        record.outcome("no auto response", lambda: host.describe(ctx.getWebSocketAutoResponse()))
        record.outcome("a text as auto response", lambda: ctx.setWebSocketAutoResponse("ping"))
        pair = js.WebSocketRequestResponsePair.new("ping", "pong")
        record.outcome("auto response", lambda: ctx.setWebSocketAutoResponse(pair))
        record.outcome("its request", lambda: ctx.getWebSocketAutoResponse().request)
        record.outcome(
            "answered", lambda: host.describe(ctx.getWebSocketAutoResponseTimestamp(server))
        )
        record.outcome("answer with it", lambda: Response(None, status=101, web_socket=server))
        client.accept()
        client.close()

    WORK["accepting"] = accepting
    await env.ROOM.getByName("accepting").run("accepting")
    await asyncio.sleep(0.05)  # its last event is none of the next scenario's


async def talk(record, stub, messages):
    """Connect, send, and take down what comes back until it is quiet."""
    response = await stub.fetch("https://room.example/", headers={"Upgrade": "websocket"})
    record("status", response.status)
    socket = response.js_object.webSocket
    record("socket", socket.constructor.name)
    got = []

    def message(event):
        data = event.data
        got.append(data if isinstance(data, str) else bytes(data.to_py()))

    def close(event):
        got.append(["close", event.code, event.reason, event.wasClean])

    socket.addEventListener("message", create_proxy(message))
    socket.addEventListener("close", create_proxy(close))
    socket.accept()
    for item in messages:
        socket.send(item if isinstance(item, str) else to_js(item))
        await asyncio.sleep(0.03)
    return socket, got


async def scenario_hibernation(record, env, host):
    host.bind_objects(ROOM=Room)
    SEEN.clear()
    messages = ["hello", b"\x01\x02", "attachment", "tags", "fail", "after the failure"]
    socket, got = await talk(record, env.ROOM.getByName("a"), messages)
    record("the object saw", list(SEEN))
    record("the client got", list(got))
    SEEN.clear()
    socket.close(3002, "done")
    await asyncio.sleep(0.05)
    record("the object saw the end", list(SEEN))


async def scenario_closed_by_the_object(record, env, host):
    host.bind_objects(ROOM=Room)
    SEEN.clear()
    _socket, got = await talk(record, env.ROOM.getByName("b"), ["close"])
    await asyncio.sleep(0.03)
    record("the object saw", list(SEEN))
    record("the client got", got)


async def scenario_relaxed_handlers(record, env, host):
    host.bind_objects(ROOM=Relaxed)
    SEEN.clear()
    socket, got = await talk(record, env.ROOM.getByName("a"), ["hello"])
    socket.close(3000, "bye")
    await asyncio.sleep(0.05)
    record("the object saw", list(SEEN))
    record("the client got", got)
