// `storage.sql` of a Durable Object: the runtime's binding rules and cursor, over a real SQLite.

import { named, wrongType } from "./idl.mjs";

const NO_RESULT = "Expected exactly one result from SQL query, but got no results.";
const SEVERAL_RESULTS = "Expected exactly one result from SQL query, but got multiple results.";

// A parameter of the C++ type "bytes or string or double, or nothing".
function bound(value) {
  if (value === null || value === undefined) return null;
  if (typeof value === "number") return value;
  if (typeof value === "string") return value;
  if (typeof value === "symbol") throw new TypeError("Cannot convert a Symbol value to a string");
  if (typeof value === "bigint") {
    throw new TypeError("Cannot convert a BigInt value to a number");
  }
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (ArrayBuffer.isView(value)) {
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  return String(value);
}

function shown(value) {
  return value instanceof Uint8Array ? value.slice().buffer : value;
}

export class SqlStorage {
  #file;

  constructor(file) {
    this.#file = file;
  }

  exec(query, ...bindings) {
    if (query === undefined) throw wrongType("exec", "SqlStorage", 1, "String");
    const sql = String(query);
    const values = bindings.map(bound);
    this.#file.begin();
    return new Cursor(this.#file, sql, values);
  }

  get databaseSize() {
    const [[pages]] = this.#file.database.own("PRAGMA page_count");
    const [[bytes]] = this.#file.database.own("PRAGMA page_size");
    return pages * bytes;
  }
}

class Cursor {
  #statement;
  #columns;
  #written;
  #isOver = false;

  constructor(file, sql, values) {
    const before = file.database.changes;
    this.#statement = file.database.run(sql, values);
    this.#columns = this.#statement.columns;
    this.#written = file.database.changes - before;
    if (this.#statement.isOver) this.#finish();
  }

  get columnNames() {
    return [...this.#columns];
  }

  get rowsRead() {
    return this.#statement.stepped;
  }

  get rowsWritten() {
    return this.#written;
  }

  // The values of a row that is stepped already; the one after it is stepped now.
  #take() {
    if (this.#isOver) return undefined;
    const values = this.#statement.row().map(shown);
    if (!this.#statement.step()) this.#finish();
    return values;
  }

  #finish() {
    this.#isOver = true;
    this.#statement.finish();
  }

  #object(values) {
    return Object.fromEntries(this.#columns.map((name, index) => [name, values[index]]));
  }

  next() {
    const values = this.#take();
    return values === undefined ? { done: true } : { done: false, value: this.#object(values) };
  }

  toArray() {
    return [...this];
  }

  one() {
    const first = this.#take();
    if (first === undefined) throw new Error(NO_RESULT);
    if (this.#take() !== undefined) {
      this.#finish();
      throw new Error(SEVERAL_RESULTS);
    }
    return this.#object(first);
  }

  raw() {
    return new RawIterator(() => this.#take());
  }

  [Symbol.iterator]() {
    return this;
  }
}

class RawIterator {
  #take;

  constructor(take) {
    this.#take = take;
  }

  next() {
    const value = this.#take();
    return value === undefined ? { done: true } : { done: false, value };
  }

  toArray() {
    return [...this];
  }

  [Symbol.iterator]() {
    return this;
  }
}

named(SqlStorage);
named(Cursor);
named(RawIterator);
