// Calls between Workers and objects: values are copied, functions and stubs go along, errors come
// back as the runtime words them.

import { types } from "node:util";

import { inTheRuntimesWords, unserializable } from "./clone.mjs";
import { cloneError, named, runtimeClass } from "./idl.mjs";

const ERROR_CLASSES = {
  Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, AggregateError,
};
// Handlers of events, which are no methods to call.
const RESERVED = new Set([
  "alarm", "connect", "constructor", "dup", "webSocketClose", "webSocketError", "webSocketMessage",
]);
const NOT_METHODS = new Set(["ctx", "env"]);
// Objects of the runtime that pass as they are: what they hold is read on the other side.
const PASSED = new Set(["Headers", "ReadableStream", "Request", "Response", "Blob", "RpcStub"]);
const PROXY_TEXT =
  "Proxy could not be serialized because it is not a valid RPC receiver type. The Proxy must " +
  "emulate either a plain object or an RpcTarget, as indicated by the Proxy's prototype chain.";

// What answers a call: a promise that is no Promise.
export class RpcPromise {
  #promise;

  constructor(promise) {
    this.#promise = promise;
    promise.catch(() => {}); // not awaiting it is the caller's choice
  }

  then(...handlers) {
    return this.#promise.then(...handlers);
  }

  catch(handler) {
    return this.#promise.catch(handler);
  }

  finally(handler) {
    return this.#promise.finally(handler);
  }
}
named(RpcPromise, { tag: "JsRpcPromise" });

function RpcStub() {}
function RpcProperty() {}
named(RpcStub, { tag: "JsRpcStub" });
named(RpcProperty, { tag: "JsRpcProperty" });

// A function that is an object of one of the runtime's classes.
function callable(cls, call) {
  Object.defineProperty(call, "name", { value: "" });
  // Pyodide 0.26 calls functions by it; the runtime's build of it calls them without.
  Object.defineProperty(call, "apply", { value: Function.prototype.apply });
  return Object.setPrototypeOf(call, cls.prototype);
}

// An object whose every other property is a method to call on the other side.
export function withMethods(target, call) {
  return new Proxy(target, {
    get(object, name) {
      if (typeof name === "symbol" || name in object) {
        const value = Reflect.get(object, name, object);
        return typeof value === "function" && name !== "constructor" ? value.bind(object) : value;
      }
      return name === "then" ? undefined : method(name, call);
    },
    has: (object, name) => (typeof name === "string" && name !== "then") || name in object,
  });
}

function method(name, call) {
  return callable(RpcProperty, (...args) => {
    if (RESERVED.has(name)) {
      return rejected(
        new TypeError(`'${name}' is a reserved method and cannot be called over RPC.`),
      );
    }
    return call(name, args);
  });
}

function rejected(error) {
  return new RpcPromise(Promise.reject(error));
}

export function makeRpc({ PyProxy, forRpc }) {
  // Call `run(args)` on the other side with copies, and bring its result back as one.
  function call(args, run) {
    let copies;
    try {
      copies = args.map((value) => transfer(value));
    } catch (error) {
      return rejected(error);
    }
    return new RpcPromise(answer(copies, run));
  }

  async function answer(args, run) {
    try {
      return transfer(await run(args));
    } catch (error) {
      throw remoteError(error);
    }
  }

  function transfer(value) {
    return copied(value, new Map());
  }

  function copied(value, seen) {
    if (typeof value === "symbol") throw cloneError(`${String(value)} could not be cloned.`);
    if (typeof value !== "object" && typeof value !== "function") return value;
    if (value === null) return value;
    if (seen.has(value)) return seen.get(value);
    const name = runtimeClass(value);
    if (name !== undefined) return passedOn(value, name);
    if (value instanceof PyProxy && typeof value === "function") return toFunction(value.copy());
    if (typeof value === "function") return toFunction(value);
    if (types.isProxy(value)) throw cloneError(PROXY_TEXT);
    return copiedObject(value, seen);
  }

  function passedOn(value, name) {
    if (PASSED.has(name)) return value;
    if (value[forRpc] !== undefined) return value[forRpc]();
    throw unserializable(name);
  }

  function copiedObject(value, seen) {
    const inner = (item) => copied(item, seen);
    const kept = (copy) => {
      seen.set(value, copy);
      return copy;
    };
    if (Array.isArray(value)) {
      const copy = kept(new Array(value.length));
      for (const [index, item] of Object.entries(value)) copy[index] = inner(item);
      return copy;
    }
    if (value instanceof Map) {
      const copy = kept(new Map());
      for (const [key, item] of value) copy.set(inner(key), inner(item));
      return copy;
    }
    if (value instanceof Set) {
      const copy = kept(new Set());
      for (const item of value) copy.add(inner(item));
      return copy;
    }
    if (Object.getPrototypeOf(value) === Object.prototype) {
      const copy = kept({});
      for (const [key, item] of Object.entries(value)) define(copy, key, inner(item));
      return copy;
    }
    return kept(copiedWhole(value));
  }

  // A function on the other side: calling it runs it where it came from.
  function toFunction(target) {
    const stub = (...args) => call(args, (given) => target(...given));
    return callable(RpcStub, stub);
  }

  return { call, transfer };
}

// Also "__proto__" is a property like any other.
function define(target, key, value) {
  Object.defineProperty(target, key, {
    value, enumerable: true, configurable: true, writable: true,
  });
}

// Dates, buffers, errors, boxed values and the like: what a clone makes of them.
function copiedWhole(value) {
  if (value instanceof Error) return copiedError(value);
  const name = value.constructor?.name ?? "Object";
  if (!CLONED.has(name)) throw unserializable(name); // an object of some class
  try {
    return structuredClone(value);
  } catch (error) {
    throw cloneError(inTheRuntimesWords(error.message));
  }
}

const CLONED = new Set([
  "Date", "RegExp", "String", "Number", "Boolean", "ArrayBuffer", "DataView", "Int8Array",
  "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array", "Int32Array", "Uint32Array",
  "Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array", "DOMException", "Promise",
  "WeakMap",
]);

function copiedError(error) {
  const cls = error.name === "AggregateError" ? Error : ERROR_CLASSES[error.name] ?? Error;
  return new cls(error.message);
}

// What the caller sees: the class of the error only if it is one of JavaScript's own.
export function remoteError(error) {
  return Object.assign(asError(error), { remote: true });
}

function asError(error) {
  if (error instanceof DOMException) return new DOMException(error.message, error.name);
  if (!(error instanceof Error)) return new Error(describedThrown(error));
  const cls = ERROR_CLASSES[error.name];
  return cls === undefined ? new Error(`${error.name}: ${error.message}`) : new cls(error.message);
}

function describedThrown(value) {
  if (typeof value !== "object" || value === null) return String(value);
  const name = value.constructor?.name ?? "Object";
  return Object.prototype.toString.call(value) === "[object Object]"
    ? `#<${name}>`
    : Object.prototype.toString.call(value);
}

export function noMethod(name) {
  return NOT_METHODS.has(name)
    ? new TypeError(`The RPC receiver does not implement the method "${name}".`)
    : new TypeError(`Method ${name} does not exist`);
}

export function isMethodName(name) {
  return !NOT_METHODS.has(name);
}
