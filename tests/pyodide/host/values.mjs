// Values that JavaScript alone can make, by name. The emulator's twin is emulated_values.py.

import { named } from "./idl.mjs";

export const SENT_AT = "2026-01-02T03:04:05.678Z";

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
named(Cursor);

export function makeValues({ describe, queue }) {
  const sum = { 2: 3 };
  return {
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
    queue: () => queue,
    sum: () => sum,
  };
}
