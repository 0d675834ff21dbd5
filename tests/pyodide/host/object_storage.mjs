// `ctx.storage` of a Durable Object: records, alarm and transactions in one SQLite database.

import { deserialize, serialize } from "./clone.mjs";
import { isObject, named, options as dictionary, wrongType } from "./idl.mjs";
import { SqlStorage } from "./object_sql.mjs";
import { Database } from "./sqlite.mjs";

const UNDEFINED_TEXT = "put() called with undefined value.";
const NO_ALARM_TEXT =
  "Your Durable Object class must have an alarm() handler in order to call setAlarm()";
const ROLLED_BACK_TEXT = (method) => `Cannot ${method}() on rolled back transaction`;
const ENDED_TEXT = (method) =>
  `Cannot call ${method}() on transaction that has already committed: did you move \`txn\` outside of the closure?`;

// What an object has on disk. Writes of one turn are one transaction.
export class ObjectFile {
  database = new Database();
  alarm = null;
  alarmRuns = false;
  #depth = 0;
  #commits = false;

  constructor() {
    this.database.own("CREATE TABLE _cf_KV (key TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID");
  }

  begin() {
    if (this.database.inTransaction) return;
    this.database.own("BEGIN");
    if (this.#commits) return;
    this.#commits = true;
    setTimeout(() => {
      this.#commits = false;
      this.commit();
    });
  }

  commit() {
    if (this.#depth === 0 && this.database.inTransaction) this.database.own("COMMIT");
  }

  // Run `work` in a transaction of its own: `end(keep)` closes it.
  savepoint() {
    this.begin();
    this.#depth += 1;
    const name = `_cf_savepoint_${this.#depth}`;
    this.database.own(`SAVEPOINT ${name}`);
    const alarm = this.alarm;
    return (keep) => {
      if (!keep) {
        this.database.own(`ROLLBACK TO ${name}`);
        this.alarm = alarm;
      }
      this.database.own(`RELEASE ${name}`);
      this.#depth -= 1;
    };
  }

  get inSavepoint() {
    return this.#depth > 0;
  }

  // -- Records ---------------------------------------------------------------------------------

  get(key) {
    const [row] = this.database.own("SELECT value FROM _cf_KV WHERE key = ?", key);
    return row === undefined ? undefined : deserialize(row[0]);
  }

  put(key, value) {
    const bytes = serialize(value);
    this.begin();
    this.database.own("INSERT OR REPLACE INTO _cf_KV VALUES (?, ?)", key, bytes);
  }

  delete(key) {
    const found = this.get(key) !== undefined;
    this.begin();
    this.database.own("DELETE FROM _cf_KV WHERE key = ?", key);
    return found;
  }

  list(options) {
    const { start, after, end, prefix, reverse, limit } = listOptions(options);
    const where = ["1"];
    const values = [];
    const add = (condition, ...added) => {
      where.push(condition);
      values.push(...added);
    };
    if (start !== undefined) add(after ? "key > ?" : "key >= ?", start);
    if (end !== undefined) add("key < ?", end);
    if (prefix !== undefined) add("substr(key, 1, length(?)) = ?", prefix, prefix);
    const order = `ORDER BY key ${reverse ? "DESC" : "ASC"} LIMIT ${limit ?? -1}`;
    return this.database
      .own(`SELECT key, value FROM _cf_KV WHERE ${where.join(" AND ")} ${order}`, ...values)
      .map(([key, bytes]) => [key, deserialize(bytes)]);
  }

  deleteAll() {
    this.commit();
    const tables = this.database.own(
      "SELECT type, name FROM sqlite_schema WHERE type IN ('table', 'view') " +
        "AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
    );
    this.database.own("PRAGMA foreign_keys = OFF");
    for (const [kind, name] of tables) this.database.own(`DROP ${kind} "${name}"`);
    this.database.own("PRAGMA foreign_keys = ON");
    this.emptyRecords();
  }

  emptyRecords() {
    this.database.own("DELETE FROM _cf_KV");
  }
}

function listOptions(options) {
  const { start, startAfter, end, prefix, reverse, limit } = dictionary(options, {
    method: "list", cls: "DurableObjectStorage", position: 1, type: "ListOptions",
  });
  if (start !== undefined && startAfter !== undefined) {
    throw new TypeError("list() cannot be called with both start and startAfter values.");
  }
  if (limit !== undefined && !(Number(limit) >= 1)) {
    throw new TypeError("List limit must be positive.");
  }
  const text = (value) => (value === undefined ? undefined : String(value));
  return {
    start: text(start === undefined ? startAfter : start),
    after: startAfter !== undefined,
    end: text(end),
    prefix: text(prefix),
    reverse: Boolean(reverse),
    limit: limit === undefined ? undefined : Math.trunc(limit),
  };
}

// -- The methods that storage and transactions share ---------------------------------------------

const records = {
  get(file, key) {
    if (key === undefined) throw wrongType("get", "DurableObjectStorage", 1, "string or Array");
    if (!Array.isArray(key)) return file.get(String(key));
    const keys = [...new Set(key.map(String))].sort();
    const found = keys.map((name) => [name, file.get(name)]);
    return new Map(found.filter(([, value]) => value !== undefined));
  },

  put(file, key, ...values) {
    if (isObject(key)) {
      for (const [name, value] of Object.entries(key)) {
        if (value !== undefined) file.put(name, value);
      }
      return;
    }
    if (key === undefined) throw wrongType("put", "DurableObjectStorage", 1, "string or object");
    if (values[0] === undefined) throw new TypeError(UNDEFINED_TEXT);
    file.put(String(key), values[0]);
  },

  delete(file, key) {
    if (key === undefined) throw wrongType("delete", "DurableObjectStorage", 1, "string or Array");
    if (!Array.isArray(key)) return file.delete(String(key));
    return key.filter((name) => file.delete(String(name))).length;
  },

  list(file, options) {
    return new Map(file.list(options));
  },

  getAlarm(file) {
    return file.alarmRuns ? null : file.alarm;
  },

  setAlarm(file, due) {
    file.alarm = due;
    file.alarmRuns = false;
  },
};

function alarmTime(value) {
  if (!(value instanceof Date) && typeof value !== "number") {
    throw wrongType("setAlarm", "DurableObjectStorage", 1, "date");
  }
  const time = Number(value);
  if (!Number.isFinite(time)) {
    throw new TypeError("The value cannot be converted because it is not a valid Date.");
  }
  if (time <= 0) throw new TypeError("setAlarm() cannot be called with an alarm time <= 0");
  return Math.max(Math.trunc(time), Date.now());
}

export class DurableObjectStorage {
  #file;
  #object;

  // `object` is what the storage belongs to: { hasAlarm, exclusively(work) }.
  constructor(file, object) {
    this.#file = file;
    this.#object = object;
    const sql = new SqlStorage(file);
    const kv = new SyncKvStorage(file);
    for (const [name, value] of Object.entries({ kv, sql })) {
      Object.defineProperty(this, name, { value, enumerable: true });
    }
  }

  async get(...args) {
    return records.get(this.#file, ...args);
  }

  async put(...args) {
    return records.put(this.#file, ...args);
  }

  async delete(...args) {
    return records.delete(this.#file, ...args);
  }

  async list(options) {
    return records.list(this.#file, options);
  }

  async deleteAll() {
    if (this.#file.inSavepoint) throw new Error("Cannot call deleteAll() within a transaction");
    this.#file.deleteAll();
  }

  async getAlarm() {
    return records.getAlarm(this.#file);
  }

  async setAlarm(time) {
    const due = alarmTime(time);
    if (!this.#object.hasAlarm) throw new TypeError(NO_ALARM_TEXT);
    records.setAlarm(this.#file, due);
  }

  async deleteAlarm() {
    records.setAlarm(this.#file, null);
  }

  transaction(callback) {
    if (typeof callback !== "function") {
      throw wrongType("transaction", "DurableObjectStorage", 1, "function");
    }
    return this.#object.exclusively(() => this.#transaction(callback));
  }

  async #transaction(callback) {
    const state = { end: this.#file.savepoint(), phase: "open" };
    const end = (keep) => {
      if (state.phase === "open") state.end(keep);
      state.phase = "ended";
    };
    try {
      const result = await callback(new DurableObjectTransaction(this.#file, state));
      end(true);
      return result;
    } catch (error) {
      end(false);
      throw error;
    }
  }

  transactionSync(callback) {
    if (typeof callback !== "function") {
      throw wrongType("transactionSync", "DurableObjectStorage", 1, "function");
    }
    const end = this.#file.savepoint();
    try {
      const result = callback();
      end(true);
      return result;
    } catch (error) {
      end(false);
      throw error;
    }
  }

  async sync() {
    this.#file.commit();
  }
}

class SyncKvStorage {
  #file;

  constructor(file) {
    this.#file = file;
  }

  get(key) {
    return this.#file.get(this.#key(key, "get"));
  }

  put(key, value) {
    this.#file.put(this.#key(key, "put"), value);
  }

  delete(key) {
    return this.#file.delete(this.#key(key, "delete"));
  }

  list(options) {
    return new ListIterator(this.#file.list(options).values());
  }

  #key(key, method) {
    if (key === undefined) throw wrongType(method, "SyncKvStorage", 1, "string");
    return String(key);
  }
}

class ListIterator {
  #rows;

  constructor(rows) {
    this.#rows = rows;
  }

  next() {
    const { done, value } = this.#rows.next();
    return done ? { done } : { done, value };
  }

  [Symbol.iterator]() {
    return this;
  }
}

class DurableObjectTransaction {
  #file;
  #state;

  constructor(file, state) {
    this.#file = file;
    this.#state = state;
  }

  #checked(method) {
    if (this.#state.phase === "rolled back") throw new Error(ROLLED_BACK_TEXT(method));
    if (this.#state.phase === "ended") throw new Error(ENDED_TEXT(method));
    return this.#file;
  }

  async get(...args) {
    return records.get(this.#checked("get"), ...args);
  }

  async put(...args) {
    return records.put(this.#checked("put"), ...args);
  }

  async delete(...args) {
    return records.delete(this.#checked("delete"), ...args);
  }

  async list(options) {
    return records.list(this.#checked("list"), options);
  }

  async getAlarm() {
    return records.getAlarm(this.#checked("getAlarm"));
  }

  async setAlarm(time) {
    records.setAlarm(this.#checked("setAlarm"), alarmTime(time));
  }

  async deleteAlarm() {
    records.setAlarm(this.#checked("deleteAlarm"), null);
  }

  async deleteAll() {
    this.#checked("deleteAll").emptyRecords();
  }

  rollback() {
    if (this.#state.phase === "rolled back") return;
    this.#checked("rollback");
    this.#state.end(false);
    this.#state.phase = "rolled back";
  }
}

named(DurableObjectStorage);
named(SyncKvStorage);
named(ListIterator);
named(DurableObjectTransaction);
