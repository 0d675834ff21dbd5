// A real SQLite, in memory, with the restrictions and the error texts of the Workers runtime.

import init from "@sqlite.org/sqlite-wasm";

const { capi, wasm } = await init({ print: () => {}, printErr: () => {} });

const PRAGMAS = new Set([
  "case_sensitive_like", "data_version", "defer_foreign_keys", "foreign_key_check",
  "foreign_key_list", "foreign_keys", "function_list", "ignore_check_constraints", "index_info",
  "index_list", "index_xinfo", "legacy_alter_table", "optimize", "quick_check",
  "recursive_triggers", "reverse_unordered_selects", "table_info", "table_list", "table_xinfo",
]);
const NO_FUNCTIONS = new Set([
  "sqlite_compileoption_get", "sqlite_compileoption_used", "sqlite_log", "sqlite_offset",
  "sqlite_source_id", "sqlite_version",
]);
const OWN_TABLES = "_cf_";
const MAX_VARIABLES = 100;

export const TRANSACTION_TEXT =
  "To execute a transaction, please use the state.storage.transaction() or " +
  "state.storage.transactionSync() APIs instead of the SQL BEGIN TRANSACTION or SAVEPOINT " +
  "statements. The JavaScript API is safer because it will automatically roll back on " +
  "exceptions, and because it interacts correctly with Durable Objects' automatic atomic write " +
  "coalescing.";
export const WRONG_BINDINGS = "Wrong number of parameter bindings for SQL query.";
export const NO_STATEMENT = "SQL code did not contain a statement.";
export const ONLY_LAST_BINDS =
  "When executing multiple SQL statements in a single call, only the last statement can have " +
  "parameters.";

export class Database {
  #db;
  #restricted = false;
  #refusedTransaction = false;

  constructor() {
    const place = wasm.allocPtr();
    capi.sqlite3_open_v2(
      ":memory:", place, capi.SQLITE_OPEN_READWRITE | capi.SQLITE_OPEN_CREATE, null,
    );
    this.#db = wasm.peekPtr(place);
    wasm.dealloc(place);
    this.own("PRAGMA foreign_keys = ON");
    for (const rule of [capi.SQLITE_DBCONFIG_DQS_DML, capi.SQLITE_DBCONFIG_DQS_DDL]) {
      capi.sqlite3_db_config(this.#db, rule, 1, 0); // "text" may be a text, as it is there
    }
    capi.sqlite3_limit(this.#db, capi.SQLITE_LIMIT_VARIABLE_NUMBER, MAX_VARIABLES);
    capi.sqlite3_set_authorizer(this.#db, (...asked) => this.#authorize(...asked), 0);
  }

  get inTransaction() {
    return capi.sqlite3_get_autocommit(this.#db) === 0;
  }

  get changes() {
    return capi.sqlite3_total_changes(this.#db);
  }

  get lastRowId() {
    return Number(capi.sqlite3_last_insert_rowid(this.#db));
  }

  // A statement of the runtime's own: all its rows, unrestricted.
  own(sql, ...values) {
    const statement = this.#compile(sql, false).statement;
    const rows = [];
    statement.bind(values);
    while (statement.step()) rows.push(statement.row());
    statement.finish();
    return rows;
  }

  // Run every statement of the user's; the last one is given back, stepped once.
  run(sql, values, { wrongBindings = WRONG_BINDINGS } = {}) {
    let rest = sql;
    for (;;) {
      const { statement, tail } = this.#compile(rest, true);
      if (statement === null) throw new Error(NO_STATEMENT);
      const isLast = tail.trim() === "";
      if (isLast && values.length !== statement.parameters) {
        statement.finish();
        throw new Error(wrongBindings);
      }
      if (!isLast && statement.parameters > 0) {
        statement.finish();
        throw new Error(ONLY_LAST_BINDS);
      }
      if (isLast) {
        statement.bind(values);
        statement.step();
        return statement;
      }
      while (statement.step());
      statement.finish();
      rest = tail;
    }
  }

  #compile(sql, restricted) {
    const scope = wasm.scopedAllocPush();
    try {
      const [text, bytes] = wasm.scopedAllocCString(sql, true);
      const [place, tailPlace] = wasm.scopedAllocPtr(2);
      this.#restricted = restricted;
      this.#refusedTransaction = false;
      const code = capi.sqlite3_prepare_v3(this.#db, text, bytes + 1, 0, place, tailPlace);
      this.#restricted = false;
      if (code !== capi.SQLITE_OK) throw this.error();
      const handle = wasm.peekPtr(place);
      const tail = wasm.cstrToJs(wasm.peekPtr(tailPlace));
      return { statement: handle === 0 ? null : new Statement(this, handle), tail };
    } finally {
      wasm.scopedAllocPop(scope);
    }
  }

  // What went wrong last, in the runtime's words.
  error() {
    if (this.#refusedTransaction) return new Error(TRANSACTION_TEXT);
    const code = capi.sqlite3_extended_errcode(this.#db);
    const primary = capi.sqlite3_js_rc_str(code & 0xff);
    const offset = capi.sqlite3_error_offset(this.#db);
    const place = offset < 0 ? "" : ` at offset ${offset}`;
    const more = code === (code & 0xff) ? "" : ` (extended: ${capi.sqlite3_js_rc_str(code)})`;
    return new Error(`${capi.sqlite3_errmsg(this.#db)}${place}: ${primary}${more}`);
  }

  #authorize(_context, action, firstName, secondName) {
    if (!this.#restricted) return capi.SQLITE_OK;
    const first = (firstName || "").toLowerCase();
    const second = (secondName || "").toLowerCase();
    const isTransaction =
      action === capi.SQLITE_TRANSACTION || action === capi.SQLITE_SAVEPOINT;
    if (isTransaction) this.#refusedTransaction = true;
    return isTransaction || refuses(action, first, second) ? capi.SQLITE_DENY : capi.SQLITE_OK;
  }
}

function refuses(action, first, second) {
  switch (action) {
    case capi.SQLITE_PRAGMA:
      return !PRAGMAS.has(first);
    case capi.SQLITE_FUNCTION:
      return NO_FUNCTIONS.has(second);
    case capi.SQLITE_ATTACH:
    case capi.SQLITE_DETACH:
    case capi.SQLITE_CREATE_TEMP_TABLE:
    case capi.SQLITE_CREATE_TEMP_INDEX:
    case capi.SQLITE_CREATE_TEMP_TRIGGER:
    case capi.SQLITE_CREATE_TEMP_VIEW:
      return true;
    case capi.SQLITE_READ:
    case capi.SQLITE_INSERT:
    case capi.SQLITE_UPDATE:
    case capi.SQLITE_DELETE:
    case capi.SQLITE_CREATE_TABLE:
    case capi.SQLITE_DROP_TABLE:
      return first.startsWith(OWN_TABLES);
    default:
      return false;
  }
}

// Half a character keeps its bytes, as in the runtime.
function utf8(text) {
  if (text.isWellFormed?.() ?? !/\p{Surrogate}/u.test(text)) return new TextEncoder().encode(text);
  return Uint8Array.from([...text].flatMap((char) => {
    const code = char.codePointAt(0);
    if (code < 0xd800 || code > 0xdfff) return [...new TextEncoder().encode(char)];
    return [0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)];
  }));
}

// One compiled statement. Values are null, numbers, strings, and Uint8Arrays for blobs.
class Statement {
  #database;
  #handle;
  #hasRow = false;
  stepped = 0;

  constructor(database, handle) {
    this.#database = database;
    this.#handle = handle;
  }

  get parameters() {
    return capi.sqlite3_bind_parameter_count(this.#handle);
  }

  get isOver() {
    return !this.#hasRow;
  }

  get columns() {
    const count = this.#handle === 0 ? 0 : capi.sqlite3_column_count(this.#handle);
    return Array.from({ length: count }, (_, i) => capi.sqlite3_column_name(this.#handle, i));
  }

  bind(values) {
    values.forEach((value, index) => {
      const code = this.#bindOne(index + 1, value);
      if (code !== capi.SQLITE_OK) throw this.#failed();
    });
  }

  #bindOne(index, value) {
    if (value === null) return capi.SQLITE_OK; // what is not bound is NULL
    if (typeof value === "number") return capi.sqlite3_bind_double(this.#handle, index, value);
    const isText = typeof value === "string";
    const bytes = isText ? utf8(value) : value;
    const bind = isText ? capi.sqlite3_bind_text : capi.sqlite3_bind_blob;
    const scope = wasm.scopedAllocPush();
    try {
      const copy = wasm.scopedAlloc(bytes.length + 1); // an empty text is not NULL
      wasm.heap8u().set(bytes, copy);
      return bind(this.#handle, index, copy, bytes.length, capi.SQLITE_TRANSIENT);
    } finally {
      wasm.scopedAllocPop(scope);
    }
  }

  // Whether there is a row now.
  step() {
    const code = capi.sqlite3_step(this.#handle);
    if (code !== capi.SQLITE_ROW && code !== capi.SQLITE_DONE) throw this.#failed();
    this.#hasRow = code === capi.SQLITE_ROW;
    if (this.#hasRow) this.stepped += 1;
    return this.#hasRow;
  }

  row() {
    return this.columns.map((_, index) => this.#column(index));
  }

  #column(index) {
    switch (capi.sqlite3_column_type(this.#handle, index)) {
      case capi.SQLITE_NULL:
        return null;
      case capi.SQLITE_INTEGER:
        return Number(capi.sqlite3_column_int64(this.#handle, index));
      case capi.SQLITE_FLOAT:
        return capi.sqlite3_column_double(this.#handle, index);
      case capi.SQLITE_TEXT:
        return capi.sqlite3_column_text(this.#handle, index);
      default:
        return this.#blob(index);
    }
  }

  #blob(index) {
    const size = capi.sqlite3_column_bytes(this.#handle, index);
    if (size === 0) return new Uint8Array();
    const start = capi.sqlite3_column_blob(this.#handle, index);
    return wasm.heap8u().slice(start, start + size);
  }

  #failed() {
    const error = this.#database.error();
    this.finish();
    return error;
  }

  finish() {
    if (this.#handle !== 0) capi.sqlite3_finalize(this.#handle);
    this.#handle = 0;
    this.#hasRow = false;
  }
}
