// `env.DB`: the client of D1 over a real SQLite. Types and texts are D1's.

import { named } from "./idl.mjs";
import { Database } from "./sqlite.mjs";

const NO_STATEMENT = "No SQL statements detected.";
const ANY_INSTANCE = new Set(["", "first-primary", "first-unconstrained"]);

function failure(kind, message) {
  return new Error(`${kind}: ${message}`, { cause: new Error(message) });
}

// What SQLite is given. Numbers and booleans are doubles, arrays of bytes are blobs.
function bound(value) {
  switch (typeof value) {
    case "string":
      return value;
    case "number":
      return Number.isFinite(value) ? value : null;
    case "boolean":
      return value ? 1 : 0;
    case "object": {
      if (value === null) return null;
      if (Array.isArray(value) && value.every(isByte)) return Uint8Array.from(value);
      if (value instanceof ArrayBuffer) return new Uint8Array(value.slice());
      if (ArrayBuffer.isView(value)) return Uint8Array.from(value.length === undefined ? [] : value);
      break;
    }
  }
  throw failure("D1_TYPE_ERROR", `Type '${typeof value}' not supported for value '${value}'`);
}

function isByte(item) {
  return typeof item === "number" && item >= 0 && item < 256;
}

function shown(value) {
  if (value instanceof Uint8Array) return [...value];
  if (typeof value !== "number") return value;
  return Number.isFinite(value) ? value + 0 : null; // rows come as JSON
}

// One database: every call is all or nothing.
class Service {
  #database = new Database();

  run(queries) {
    if (queries.length === 0) throw new Error(NO_STATEMENT);
    this.#database.own("BEGIN");
    try {
      const results = queries.map(([sql, values]) => this.#query(sql, values));
      this.#database.own("COMMIT");
      return results;
    } catch (error) {
      if (this.#database.inTransaction) this.#database.own("ROLLBACK");
      throw error;
    }
  }

  #query(sql, values) {
    const database = this.#database;
    if (sql.trim() === "") throw new Error(NO_STATEMENT);
    const [before, schema] = [database.changes, this.#schema()];
    const statement = database.run(sql, values);
    const { columns } = statement;
    const rows = [];
    for (; !statement.isOver; statement.step()) rows.push(statement.row().map(shown));
    statement.finish();
    const changes = database.changes - before;
    const changed = changes > 0 || schema !== this.#schema();
    return { columns, rows, changes, changed, lastRowId: database.lastRowId };
  }

  #schema() {
    return this.#database.own("PRAGMA schema_version")[0][0];
  }
}

function resultOf({ columns, rows, changes, changed, lastRowId }) {
  return {
    success: true,
    meta: {
      served_by: "the judge", duration: 0, changes, last_row_id: lastRowId, changed_db: changed,
      size_after: 8192, rows_read: rows.length, rows_written: changes,
    },
    results: rows.map((row) => recordOf(columns, row)),
  };
}

function recordOf(columns, row) {
  return Object.fromEntries(columns.map((name, index) => [name, row[index]]));
}

class Session {
  bookmark = null;

  constructor(service) {
    this.service = service;
  }

  run(queries) {
    try {
      const results = this.service.run(queries);
      this.bookmark ??= "00000000-00000000-00000000-0";
      return results;
    } catch (error) {
      throw failure("D1_ERROR", error.message);
    }
  }

  prepare(sql) {
    return new D1PreparedStatement(this, sql, []);
  }

  async batch(statements) {
    const queries = statements.map((statement) => D1PreparedStatement.query(statement));
    return this.run(queries).map(resultOf);
  }
}

class D1PreparedStatement {
  #session;
  #sql;
  #values;

  constructor(session, sql, values) {
    this.#session = session;
    this.#sql = sql;
    this.#values = values;
  }

  static query(statement) {
    return [statement.#sql, statement.#values];
  }

  bind(...values) {
    return new D1PreparedStatement(this.#session, this.#sql, values.map(bound));
  }

  #run() {
    if (typeof this.#sql !== "string") throw failure("D1_ERROR", "SQL is no string");
    return this.#session.run([[this.#sql, this.#values]])[0];
  }

  async run() {
    return resultOf(this.#run());
  }

  async all() {
    return this.run();
  }

  async first(column) {
    const { columns, rows } = this.#run();
    if (rows.length === 0) return null;
    const record = recordOf(columns, rows[0]);
    if (column === undefined) return record;
    if (record[column] === undefined) {
      throw new Error(`D1_COLUMN_NOTFOUND: Column not found (${column})`, {
        cause: new Error("Column not found"),
      });
    }
    return record[column];
  }

  async raw(options) {
    const { columns, rows } = this.#run();
    return options?.columnNames ? [columns, ...rows] : rows;
  }
}

class D1DatabaseSession {
  #session;

  constructor(session) {
    this.#session = session;
  }

  prepare(sql) {
    return this.#session.prepare(sql);
  }

  async batch(statements) {
    return this.#session.batch(statements);
  }

  getBookmark() {
    return this.#session.bookmark;
  }
}

export class D1Database {
  #session = new Session(new Service());

  prepare(sql) {
    return this.#session.prepare(sql);
  }

  async batch(statements) {
    return this.#session.batch(statements);
  }

  async exec(query) {
    const lines = query.trim().split("\n").filter((line) => line !== "");
    try {
      this.#session.service.run(lines.length > 0 ? lines.map((line) => [line, []]) : [["", []]]);
    } catch (error) {
      // Whichever line it was.
      throw failure("D1_EXEC_ERROR", `Error in line 1: ${lines[0] ?? ""}: ${error.message}`);
    }
    return { count: lines.length, duration: 0 };
  }

  withSession(constraint) {
    const text = constraint?.trim === undefined && constraint != null ? refused() : constraint?.trim();
    const session = new Session(this.#session.service);
    session.bookmark = ANY_INSTANCE.has(text ?? "") ? null : text;
    return new D1DatabaseSession(session);
  }

  async dump() {
    throw new Error("D1_DUMP_ERROR: Status + 404", { cause: new Error("Status 404") });
  }
}

function refused() {
  throw new TypeError("constraintOrBookmark?.trim is not a function");
}

for (const cls of [D1Database, D1DatabaseSession, D1PreparedStatement]) named(cls);
