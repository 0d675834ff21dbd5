// What an object and its callers hold: ids, the namespace, the object's context.

import { createHash, createHmac, randomBytes } from "node:crypto";

import { isObject, named, options, readOnly, wrongType } from "./idl.mjs";

const HALF = 16;
const JURISDICTION_TEXT = "Jurisdiction restrictions are not implemented in workerd.";
const ABORTED_TEXT = "Application called abort() to reset Durable Object.";

function signed(key, base) {
  const signature = createHmac("sha256", key).update(base).digest().subarray(0, HALF);
  return Buffer.concat([base, signature]).toString("hex");
}

export class DurableObjectId {
  #text;

  constructor(text, name) {
    this.#text = text;
    readOnly(this, { jurisdiction: undefined, name });
  }

  toString() {
    return this.#text;
  }

  equals(other) {
    if (!(other instanceof DurableObjectId)) {
      throw wrongType("equals", "DurableObjectId", 1, "DurableObjectId");
    }
    return this.#text === other.#text;
  }
}

export class DurableObjectNamespace {
  #key;
  #stubOf;

  // `stubOf(id)` makes a stub of one object.
  constructor(name, stubOf) {
    this.#key = createHash("sha256").update(name).digest();
    this.#stubOf = stubOf;
  }

  newUniqueId(given) {
    if (isObject(given) && given.jurisdiction !== undefined) {
      throw new Error(JURISDICTION_TEXT);
    }
    return new DurableObjectId(signed(this.#key, randomBytes(HALF)));
  }

  idFromName(name) {
    return this.#named("idFromName", name);
  }

  idFromString(text) {
    const given = String(text);
    if (!/^[0-9a-f]{64}$/i.test(given)) {
      throw new TypeError("Invalid Durable Object ID: must be 64 hex digits");
    }
    const id = signed(this.#key, Buffer.from(given.slice(0, 2 * HALF), "hex"));
    if (id !== given.toLowerCase()) {
      throw new TypeError("Durable Object ID is not valid for this namespace.");
    }
    return new DurableObjectId(id);
  }

  get(id, given) {
    if (!(id instanceof DurableObjectId)) {
      throw wrongType("get", "DurableObjectNamespace", 1, "DurableObjectId");
    }
    return this.#stub("get", id, given);
  }

  getExisting(id, given) {
    return this.get(id, given);
  }

  getByName(name, given) {
    return this.#stub("getByName", this.#named("getByName", name), given);
  }

  jurisdiction(name) {
    if (name === undefined) return this;
    throw new Error(JURISDICTION_TEXT);
  }

  #named(method, name) {
    if (name === undefined) throw wrongType(method, "DurableObjectNamespace", 1, "string");
    const text = String(name);
    const base = createHmac("sha256", this.#key).update(text).digest().subarray(0, HALF);
    return new DurableObjectId(signed(this.#key, base), text);
  }

  #stub(method, id, given) {
    options(given, {
      method, cls: "DurableObjectNamespace", position: 2, type: "GetDurableObjectOptions",
    });
    return this.#stubOf(id);
  }
}

export class DurableObjectState {
  #object;

  // `object` is the object in memory: { exclusively(work, resets), reset(error), sockets }.
  constructor(id, storage, object, { props, exports }) {
    this.#object = object;
    readOnly(this, { id, storage, props, exports });
  }

  blockConcurrencyWhile(callback) {
    if (typeof callback !== "function") {
      throw wrongType("blockConcurrencyWhile", "DurableObjectState", 1, "function");
    }
    return this.#object.exclusively(callback, { resets: true });
  }

  waitUntil(promise) {
    Promise.resolve(promise).catch(() => {});
  }

  abort(reason) {
    this.#object.reset(new Error(reason === undefined ? ABORTED_TEXT : String(reason)));
  }

  acceptWebSocket(...args) {
    return this.#object.sockets.accept(...args);
  }

  getWebSockets(tag) {
    return this.#object.sockets.all(tag);
  }

  getTags(socket) {
    return this.#object.sockets.tags(socket);
  }

  setWebSocketAutoResponse(pair) {
    return this.#object.sockets.setAutoResponse(pair);
  }

  getWebSocketAutoResponse() {
    return this.#object.sockets.autoResponse();
  }

  getWebSocketAutoResponseTimestamp(socket) {
    return this.#object.sockets.answeredAt(socket);
  }
}

export class AlarmInvocationInfo {
  constructor(retryCount, scheduledTime) {
    readOnly(this, { isRetry: retryCount > 0, retryCount, scheduledTime });
  }
}

named(DurableObjectId);
named(DurableObjectNamespace);
named(DurableObjectState);
named(AlarmInvocationInfo);
