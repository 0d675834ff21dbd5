// What scenarios may ask of the JavaScript side. The emulator's twin of this object is in
// emulated.py: keep it small, and keep values that JavaScript alone can make in `make`.

import { format } from "node:util";

import { makeDescribe } from "./describe.mjs";
import { CallLog } from "./log.mjs";
import { makeQueueClasses, named } from "./queues.mjs";

const SENT_AT = "2026-01-02T03:04:05.678Z";

function metadata() {
  return { metrics: { backlogCount: 0, backlogBytes: 0 } };
}

export class ExecutionContext {
  #pending = [];

  waitUntil(promise) {
    this.#pending.push(Promise.resolve(promise));
  }

  passThroughOnException() {}

  static async settle(context) {
    const results = await Promise.allSettled(context.#pending);
    return results.find(({ status }) => status === "rejected")?.reason;
  }
}
named(ExecutionContext, "ExecutionContext");

const { settle } = ExecutionContext;
delete ExecutionContext.settle;

// Python objects given to waitUntil outlive the call: keep a copy until they settle.
export function patchWaitUntil(context) {
  if (Object.prototype.toString.call(context) !== "[object ExecutionContext]") return;
  if (Object.hasOwn(context, "waitUntil")) return;
  const original = context.waitUntil;
  context.waitUntil = function waitUntil(promise) {
    original.call(context, keep(promise));
  };
}

async function keep(promise) {
  if (!("copy" in promise)) return promise;
  const kept = promise.copy();
  try {
    return await kept;
  } finally {
    kept.destroy();
  }
}

function errorText(error) {
  return error === undefined ? null : `${error?.name ?? typeof error}: ${error?.message ?? error}`;
}

export function makeHost(pyodide, scope) {
  const describe = makeDescribe(pyodide.ffi.PyProxy);
  const log = new CallLog();
  const warn = (text) => log.add(`warning ${text}`);
  const classes = makeQueueClasses({ log, warn, describe });

  scope.console = {};
  for (const level of ["log", "info", "debug", "warn", "error"]) {
    scope.console[level] = (...args) => {
      log.add(`console.${level} ${format(...args)}`);
    };
  }

  class Fetcher {
    async fetch(input, init) {
      const request = new scope.Request(input, init);
      log.add(`fetch ${request.method} ${request.url} ${await request.text()}`);
      return new scope.Response("from the service", { headers: { "x-service": "yes" } });
    }

    async add(a, b) {
      log.add(`add ${describe(a)} ${describe(b)}`);
      return a + b;
    }

    async echo(...args) {
      log.add(`echo ${args.map(describe).join(", ")}`);
      return args.length === 1 ? args[0] : args;
    }
  }

  class Cursor {
    #rows = [{ id: 1, name: "a" }, { id: 2, name: null }];
    #at = 0;
    get rowsRead() { return this.#at + 1; }
    get columnNames() { return ["id", "name"]; }
    next() {
      return this.#at < this.#rows.length
        ? { done: false, value: this.#rows[this.#at++] }
        : { done: true };
    }
    toArray() { return [...this]; }
    [Symbol.iterator]() { return this; }
  }

  named(Fetcher, "Fetcher");
  named(Cursor, "Cursor");

  const env = {
    QUEUE: new classes.WorkerQueue(),
    SERVICE: new Fetcher(),
    TEXT: "a text",
    NUMBER: 5,
    JSON: { a: 1, list: [1, 2], nothing: null },
    LIST: [1, "two"],
    NOTHING: null,
  };

  const sum = { 2: 3 };
  const made = {
    object: () => ({ a: 1, b: "two", nested: { c: [1, 2] }, nothing: null, missing: undefined }),
    array: () => [1, "two", null, undefined, { a: 1 }],
    sparse: () => { const list = [1, 2]; list.length = 3; return list; },
    numbers: () => [1, 1.5, -0, NaN, Infinity, -Infinity, 2 ** 53 - 1, 2 ** 53, -(2 ** 53), 1e20, 2 ** 31],
    bigints: () => [0n, 5n, -5n, 2n ** 64n],
    strings: () => ["", "é", "\u{1F600}", "\uD83D", "a\0b"],
    map: () => new Map([["a", 1], [2, "two"]]),
    mapOfObjects: () => new Map([[{}, 1]]),
    set: () => new Set([1, "a"]),
    setOfObjects: () => new Set([{}]),
    date: () => new Date(SENT_AT),
    invalidDate: () => new Date(NaN),
    error: () => new Error("plain"),
    typeError: () => new TypeError("typed"),
    errorWithCause: () => new Error("outer", { cause: new RangeError("inner") }),
    errorWithoutMessage: () => new Error(),
    namedError: () => Object.assign(new Error("custom"), { name: "CustomError", code: 7 }),
    domException: () => new DOMException("cloned", "DataCloneError"),
    bytes: () => new Uint8Array([1, 2, 255]),
    buffer: () => new Uint8Array([1, 2, 255]).buffer,
    floats: () => new Float64Array([1.5, 2]),
    words: () => new Uint16Array([1, 65535]),
    dataView: () => new DataView(new Uint8Array([1, 2, 3]).buffer, 1),
    symbol: () => Symbol("s"),
    regexp: () => /a+/g,
    function: () => function plus(a, b) { return a + b; },
    classInstance: () => new (class Point { constructor() { this.x = 1; } norm() { return this.x; } })(),
    nullPrototype: () => Object.assign(Object.create(null), { a: 1 }),
    circular: () => { const o = { a: 1 }; o.self = o; return o; },
    promise: () => Promise.resolve({ a: 1 }),
    holderOfPromise: () => ({ promise: Promise.resolve(3) }),
    arrayOfPromises: () => [Promise.resolve(1), Promise.resolve(2)],
    thenable: () => ({ then(resolve) { resolve(7); } }),
    boxed: () => [new String("s"), new Number(1), new Boolean(false)],
    frozen: () => Object.freeze({ a: 1 }),
    getter: () => ({ get bad() { throw new RangeError("from the getter"); }, get good() { return 1; } }),
    pythonNames: () => ({ class: 1, get: 2, items: 3, from_: 4, length: 5, keys: 6, to_py: 7, constructor: 8, "with-dash": 9 }),
    method: () => ({ base: 10, add(a, b = 100) { return this.base + a + b; } }),
    options: () => ({ take(...args) { return describe(args); } }),
    iterable: () => ({ *[Symbol.iterator]() { yield 1; yield "two"; } }),
    generator: () => (function* () { const got = yield 1; yield `got ${got}`; return 9; })(),
    asyncGenerator: () => (async function* () { yield 1; yield 2; })(),
    arrayLike: () => ({ length: 2, 0: "a", 1: "b" }),
    sized: () => ({ size: 3 }),
    url: () => new URL("https://example.com/p?q=1"),
    cursor: () => new Cursor(),
    queue: () => env.QUEUE,
    sum: () => sum,
  };

  return {
    describe,
    env,
    ExecutionContext,
    take: () => JSON.stringify(log.take()),
    make: (name) => made[name](),
    echo: (value) => value,
    args: (...args) => args.map(describe).join(", "),
    kind: (value) => (value === null ? "null" : typeof value),
    call: (callback, ...args) => callback(...args),
    // Calls back after the current call has returned, as an event listener would.
    callLater: (callback, ...args) =>
      new Promise((resolve, reject) => {
        setTimeout(() => {
          try {
            resolve(callback(...args));
          } catch (error) {
            reject(error);
          }
        }, 1);
      }),
    // What JavaScript sees when a Python callback raises.
    caught: (callback) => {
      try {
        return `returned ${describe(callback())}`;
      } catch (error) {
        return `${error.constructor.name} ${errorText(error)}`;
      }
    },
    raise: (name) => { throw made[name](); },
    raiseValue: (value) => { throw value; },
    reject: (value) => Promise.reject(value),
    rejectWith: (name) => Promise.reject(made[name]()),
    later: (value, ms = 1) => new Promise((resolve) => setTimeout(resolve, ms, value)),
    never: () => new Promise(() => {}),
    cloned: (value) => {
      try {
        return describe(structuredClone(value));
      } catch (error) {
        return errorText(error).replace(/#<(\w+)>/, "[object $1]");
      }
    },
    json: (value) => {
      try {
        return String(JSON.stringify(value));
      } catch (error) {
        return errorText(error).split("\n")[0];
      }
    },
    context: () => new ExecutionContext(),
    batch: (bodies) =>
      new classes.QueueController({
        queue: "orders",
        metadata: metadata(),
        messages: Array.from(bodies, (body, index) => ({
          id: `m${index}`, timestamp: new Date(SENT_AT), body, attempts: 1,
        })),
      }),
    // One event: the handler and everything given to waitUntil, then what the service is told.
    runQueue: async (deliver, batch) => {
      const context = new ExecutionContext();
      let failure;
      try {
        await deliver(context, env, batch, undefined, undefined);
      } catch (error) {
        failure = error;
      }
      failure ??= await settle(context);
      return JSON.stringify({
        outcome: failure === undefined ? "ok" : "exception",
        error: errorText(failure),
        ...classes.resultOf(batch),
      });
    },
    runFetch: async (deliver, request) => {
      const context = new ExecutionContext();
      try {
        const response = await deliver(context, env, request, undefined, undefined);
        const failure = await settle(context);
        if (!(response instanceof Response)) {
          throw new TypeError(
            "Incorrect type for Promise: the Promise did not resolve to 'Response'.",
          );
        }
        return JSON.stringify({
          status: response.status,
          headers: [...response.headers],
          body: await response.text(),
          waitUntil: errorText(failure),
        });
      } catch (error) {
        return JSON.stringify({ error: errorText(error) });
      }
    },
  };
}
