// WebSockets whose two ends are in this process: pairs, and those a Durable Object accepts.

import { deserialize, serialize } from "./clone.mjs";
import { isObject, named, wrongType } from "./idl.mjs";

const MAX_TAGS = 10;
const MAX_TAG_CHARS = 256;
const NO_CODE = 1005;
const RESERVED_CODES = new Set([1004, 1005, 1006, 1015]);
const NOT_ACCEPTED_TEXT =
  "You must call one of accept() or state.acceptWebSocket() on this WebSocket before sending " +
  "messages.";
const PAIR_USED_TEXT =
  "Cannot call `acceptWebSocket()` on this WebSocket because its pair has already been accepted " +
  "or used in a Response.";

export class CloseEvent extends Event {
  constructor({ code, reason, wasClean }) {
    super("close");
    Object.assign(this, { code, reason, wasClean });
  }
}

// One direction of a connection: what arrives waits until somebody reads it.
class End {
  #items = [];
  #read = null;

  get isRead() {
    return this.#read !== null;
  }

  send(item) {
    this.peer.#arrive(item);
  }

  #arrive(item) {
    if (this.#read === null) this.#items.push(item);
    else setTimeout(() => this.#read(item));
  }

  attach(read) {
    this.#read = read;
    for (const item of this.#items.splice(0)) this.#arrive(item);
  }
}

function closeFrame(code, reason) {
  const number = code === undefined ? NO_CODE : Number(code) | 0;
  if (code !== undefined && (number < 1000 || number > 4999 || RESERVED_CODES.has(number))) {
    throw new DOMException(`Invalid WebSocket close code: ${number}.`, "InvalidAccessError");
  }
  if (code === undefined && reason !== undefined) {
    throw new DOMException(
      "If you specify a WebSocket close reason, you must also specify a code.",
      "InvalidAccessError",
    );
  }
  return { code: number, reason: reason === undefined ? "" : String(reason) };
}

// What accepting and returning a socket need of its inside.
const inside = Symbol("inside");

export class WebSocket extends EventTarget {
  static CONNECTING = 0;
  static OPEN = 1;
  static CLOSING = 2;
  static CLOSED = 3;
  static READY_STATE_CONNECTING = 0;
  static READY_STATE_OPEN = 1;
  static READY_STATE_CLOSING = 2;
  static READY_STATE_CLOSED = 3;

  #attachment = null;
  #closedIn = false;
  #closedOut = false;
  #state = "idle";
  #end;

  constructor(end) {
    super();
    if (!(end instanceof End)) throw new TypeError("the test connects to nobody");
    this.#end = end;
  }

  accept() {
    if (this.#state === "released") {
      throw new TypeError("Can't accept() WebSocket that was already used in a response.");
    }
    if (this.#state === "hibernatable") {
      throw new TypeError("Can't accept() WebSocket after enabling hibernation.");
    }
    if (this.#state === "accepted") return;
    this.#state = "accepted";
    this.#end.attach((item) => this.#take(item));
  }

  send(message) {
    if (message === undefined) {
      throw wrongType("send", "WebSocket", 1, "ArrayBuffer or ArrayBufferView or string");
    }
    if (this.#closedOut) throw new TypeError("Can't call WebSocket send() after close().");
    this.#checkAccepted();
    if (message instanceof ArrayBuffer) this.#end.send(message.slice());
    else if (ArrayBuffer.isView(message)) {
      this.#end.send(new Uint8Array(message.buffer, message.byteOffset, message.byteLength).slice().buffer);
    } else this.#end.send(String(message));
  }

  close(code, reason) {
    if (this.#closedOut || this.#state === "released") return;
    this.#checkAccepted();
    const close = closeFrame(code, reason);
    this.#closedOut = true;
    this.#end.send(close);
  }

  serializeAttachment(value) {
    this.#attachment = serialize(value);
  }

  deserializeAttachment() {
    return this.#attachment === null ? null : deserialize(this.#attachment);
  }

  get readyState() {
    if (this.#closedIn && this.#closedOut) return WebSocket.CLOSED;
    return this.#closedIn || this.#closedOut ? WebSocket.CLOSING : WebSocket.OPEN;
  }

  get url() {
    return null;
  }

  get protocol() {
    return "";
  }

  get extensions() {
    return "";
  }

  #checkAccepted() {
    if (!["accepted", "hibernatable"].includes(this.#state)) throw new TypeError(NOT_ACCEPTED_TEXT);
  }

  #take(item) {
    if (this.#closedIn) return;
    if (typeof item === "string" || item instanceof ArrayBuffer) {
      this.dispatchEvent(new MessageEvent("message", { data: item }));
      return;
    }
    this.#closedIn = true;
    this.dispatchEvent(new CloseEvent({ ...item, wasClean: true }));
  }

  [inside] = {
    // Hand the connection to a Durable Object, whose events it makes from now on.
    hibernate: (deliver) => {
      if (["accepted", "hibernatable"].includes(this.#state)) {
        throw new Error(
          "Cannot call `acceptWebSocket()` if the WebSocket was already accepted via `accept()`",
        );
      }
      if (this.#state !== "idle") {
        throw new TypeError(
          "Tried to make an api::WebSocket hibernatable when it was in an incompatible state.",
        );
      }
      if (this.#end.peer.isRead) throw new Error(PAIR_USED_TEXT);
      this.#state = "hibernatable";
      this.#end.attach((item) => {
        if (this.#closedIn) return;
        this.#closedIn = isObject(item) && !(item instanceof ArrayBuffer);
        deliver(item);
      });
    },
    // The same connection for whoever gets the response that this socket is part of.
    release: () => {
      const text = {
        released: "Can't return WebSocket that was already used in a response.",
        hibernatable: "Can't return WebSocket in a Response after calling acceptWebSocket().",
        accepted: "Can't return WebSocket in a Response after calling accept().",
      }[this.#state];
      if (text !== undefined) throw new TypeError(text);
      this.#state = "released";
      return new WebSocket(this.#end);
    },
    isAccepted: () => this.#state === "accepted",
    reply: (text) => this.#end.send(text),
  };
}

export function released(socket) {
  return socket[inside].release();
}

export class WebSocketPair {
  constructor() {
    const ends = [new End(), new End()];
    ends[0].peer = ends[1];
    ends[1].peer = ends[0];
    ends.forEach((end, index) => { this[index] = new WebSocket(end); });
  }

  *[Symbol.iterator]() {
    yield this[0];
    yield this[1];
  }
}

export class WebSocketRequestResponsePair {
  constructor(request, response) {
    this.request = String(request);
    this.response = String(response);
  }
}

function tagsOf(value) {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw wrongType("acceptWebSocket", "DurableObjectState", 2, "Array");
  const tags = new Set();
  for (const tag of value.map(String)) {
    if (tags.size >= MAX_TAGS) {
      throw new Error(`a Hibernatable WebSocket cannot have more than ${MAX_TAGS} tags`);
    }
    if (tag.length > MAX_TAG_CHARS) {
      throw new Error(`"${tag}" is longer than the max tag length (${MAX_TAG_CHARS} characters).`);
    }
    tags.add(tag);
  }
  return [...tags];
}

// The sockets one object has accepted, the oldest first.
export class ObjectSockets {
  #accepted = new Map();
  #autoResponse = null;
  #answered = new Map();
  #event;

  // `event(name, args)` runs a handler of the object.
  constructor(event) {
    this.#event = event;
  }

  accept(socket, tags) {
    this.#check(socket, "acceptWebSocket");
    const names = tagsOf(tags);
    socket[inside].hibernate((item) => this.#deliver(socket, item));
    this.#accepted.set(socket, names);
  }

  #check(socket, method) {
    if (!(socket instanceof WebSocket)) {
      throw wrongType(method, "DurableObjectState", 1, "WebSocket");
    }
  }

  #deliver(socket, item) {
    if (item === this.#autoResponse?.request) {
      this.#answered.set(socket, new Date());
      socket[inside].reply(this.#autoResponse.response);
      return undefined;
    }
    if (typeof item === "string" || item instanceof ArrayBuffer) {
      return this.#event("webSocketMessage", [socket, item]);
    }
    const over = this.#event("webSocketClose", [socket, item.code, item.reason, true]);
    return over.finally(() => this.#accepted.delete(socket));
  }

  all(tag) {
    if (tag === undefined) return [...this.#accepted.keys()].reverse();
    const found = [...this.#accepted].filter(([, tags]) => tags.includes(String(tag)));
    return found.map(([socket]) => socket);
  }

  tags(socket) {
    this.#check(socket, "getTags");
    const found = this.#accepted.get(socket);
    if (found !== undefined) return [...found];
    if (socket[inside].isAccepted()) {
      throw new Error("only hibernatable websockets can have tags.");
    }
    throw new Error(
      "you must call 'acceptWebSocket()' before attempting to access the tags of a WebSocket.",
    );
  }

  setAutoResponse(pair) {
    if (pair !== undefined && !(pair instanceof WebSocketRequestResponsePair)) {
      throw wrongType(
        "setWebSocketAutoResponse", "DurableObjectState", 1, "WebSocketRequestResponsePair",
      );
    }
    this.#autoResponse = pair ?? null;
  }

  autoResponse() {
    return this.#autoResponse;
  }

  answeredAt(socket) {
    this.#check(socket, "getWebSocketAutoResponseTimestamp");
    return this.#answered.get(socket) ?? null;
  }
}

for (const cls of [WebSocket, WebSocketPair, WebSocketRequestResponsePair, CloseEvent]) named(cls);
