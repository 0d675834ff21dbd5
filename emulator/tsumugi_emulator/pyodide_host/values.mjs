// JavaScript values on their way to the host and back: plain data by copy, the rest by number.
// The twin of `pyodide_runtime/values.py`. Not here: what is done with them.

import { Reference, restoredGraph } from "./graphs.mjs";
import { Extension } from "./messagepack.mjs";
import { VALUE } from "./protocol.mjs";

const DOM_EXCEPTION = "DOMException";

export class Values {
  #stubs;
  #foreign;
  #bodies;
  #promises;
  #isPyProxy = () => false;

  constructor({ stubs, foreign, bodies, promises }) {
    this.#stubs = stubs;
    this.#foreign = foreign;
    this.#bodies = bodies;
    this.#promises = promises;
  }

  set isPyProxy(test) {
    this.#isPyProxy = test;
  }

  // -- Out ---------------------------------------------------------------------------------------

  /** What MessagePack has no form for. */
  special = (value) => {
    switch (typeof value) {
      case "undefined":
        return new Extension(VALUE.UNDEFINED, null);
      case "string":
        return new Extension(VALUE.TEXT, Buffer.from(value, "utf16le"));
      case "bigint":
        return new Extension(VALUE.BIGINT, String(value));
      case "symbol":
        return new Extension(VALUE.SYMBOL, value.description ?? "");
      default:
        return this.#object(value);
    }
  };

  #object(value) {
    if (this.#isPyProxy(value)) return this.#python(value);
    const handle = this.#stubs.handleOf(value);
    if (handle !== undefined) return new Extension(VALUE.HANDLE, handle);
    if (value instanceof Promise) return this.#promise(value);
    return data(value) ?? this.#bodies.pack(value) ?? this.#instance(value);
  }

  #python(proxy) {
    if (typeof proxy.then === "function") return this.#promise(Promise.resolve(proxy));
    const kind = typeof proxy === "function" ? "python function" : "python";
    return this.#held(proxy, kind, proxy.type.split(".").pop(), jsonOf(proxy));
  }

  #instance(value) {
    if (value instanceof Error || value instanceof DOMException) {
      // The very error has to come back, for Python to raise the exception it stands for.
      const own = value.name === "PythonError" ? this.#foreign.hold(value) : null;
      return errorData(value, own);
    }
    const kind = typeof value === "function" ? "function" : "instance";
    return this.#held(value, kind, value.name ?? value.constructor?.name ?? "Object", null);
  }

  #held(value, kind, name, json) {
    const id = this.#foreign.hold(value);
    return new Extension(VALUE.FOREIGN, [id, kind, String(name), textOf(value), json]);
  }

  #promise(promise) {
    return new Extension(VALUE.PROMISE, this.#promises.track(promise));
  }

  // -- In ----------------------------------------------------------------------------------------

  restore = (code, content) => {
    switch (code) {
      case VALUE.UNDEFINED: return undefined;
      case VALUE.BIGINT: return BigInt(content);
      case VALUE.DATE: return new Date(content ?? NaN);
      case VALUE.MAP: return new Map(content);
      case VALUE.LITERAL_MAP: return new Map(content);
      case VALUE.SET: return new Set(content);
      case VALUE.BUFFER: return restoredBuffer(...content);
      case VALUE.ERROR: return restoredError(content);
      case VALUE.TEXT: return content.toString("utf16le");
      case VALUE.REGEXP: return new RegExp(...content);
      case VALUE.SYMBOL: return Symbol(content);
      case VALUE.HANDLE: return this.#stubs.receive(content);
      case VALUE.FOREIGN: return this.#foreign.get(content);
      case VALUE.GRAPH: return restoredGraph(content);
      case VALUE.REFERENCE: return new Reference(content);
      case VALUE.PROMISE: return this.#promises.restore(...content);
      default: return this.#bodies.restore(code, content);
    }
  };
}

function data(value) {
  if (value instanceof Date) return new Extension(VALUE.DATE, Number.isNaN(+value) ? null : +value);
  if (value instanceof Map) {
    const code = value.constructor.name === "LiteralMap" ? VALUE.LITERAL_MAP : VALUE.MAP;
    return new Extension(code, [...value]);
  }
  if (value instanceof Set) return new Extension(VALUE.SET, [...value]);
  if (value instanceof RegExp) return new Extension(VALUE.REGEXP, [value.source, value.flags]);
  if (ArrayBuffer.isView(value)) {
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    return new Extension(VALUE.BUFFER, [value.constructor.name, bytes]);
  }
  if (value instanceof ArrayBuffer) {
    return new Extension(VALUE.BUFFER, ["ArrayBuffer", Buffer.from(value)]);
  }
  return undefined;
}

function restoredBuffer(name, bytes) {
  const { buffer } = Uint8Array.from(bytes);
  return name === "ArrayBuffer" ? buffer : new globalThis[name](buffer);
}

// -- Errors --------------------------------------------------------------------------------------

function errorData(error, own) {
  const extra = {};
  for (const [key, value] of Object.entries(error)) {
    if (["string", "number", "boolean"].includes(typeof value)) extra[key] = value;
  }
  const kind = error instanceof DOMException ? DOM_EXCEPTION : "Error";
  const cause = error.cause instanceof Error ? error.cause : null;
  return new Extension(VALUE.ERROR, [
    kind, String(error.name), String(error.message), cause, extra, own,
  ]);
}

function restoredError([kind, name, message, cause, extra]) {
  if (kind === DOM_EXCEPTION) return new DOMException(message, name);
  const options = cause === null ? undefined : { cause };
  const native = ERRORS.includes(name);
  const error = new (native ? globalThis[name] : Error)(message, options);
  if (!native) define(error, "name", name);
  for (const [key, value] of Object.entries(extra)) define(error, key, value);
  return error;
}

const ERRORS = [
  "Error", "TypeError", "RangeError", "SyntaxError", "ReferenceError", "EvalError", "URIError",
];

function define(error, key, value) {
  Object.defineProperty(error, key, { value, writable: true, configurable: true });
}

// -- What JavaScript makes of an object ----------------------------------------------------------

function textOf(value) {
  try {
    return String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}

function jsonOf(value) {
  try {
    return JSON.stringify(value) ?? null;
  } catch {
    return null;
  }
}
