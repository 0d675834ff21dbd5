// The measured Worker; `workers/platform-python/entry.py` is the same in Python.

import { DurableObject } from "cloudflare:workers";

const BATCH = 100;

// Due times of the alarms that ran, in the order in which their handlers began.
const ran = [];
let lastRanMs = 0;

export class Measured extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    this.sql = ctx.storage.sql;
    this.total = 0;
  }

  async add(number) {
    this.total += number;
    return this.total;
  }

  // A table with `count` rows.
  async prepare(count) {
    this.sql.exec("DROP TABLE IF EXISTS items");
    this.sql.exec("CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, size REAL)");
    await this.insert(count);
  }

  async insert(count) {
    const sql = this.sql;
    for (let index = 0; index < count; index++) {
      sql.exec("INSERT INTO items (name, size) VALUES (?, ?)", "item", index);
    }
  }

  async select(count) {
    const sql = this.sql;
    let total = 0;
    for (let index = 1; index <= count; index++) {
      total += sql.exec("SELECT id, name, size FROM items WHERE id = ?", index).one().id;
    }
    return total;
  }

  async scan() {
    let total = 0;
    for (const row of this.sql.exec("SELECT id, name, size FROM items")) total += row.id;
    return total;
  }

  async set_alarm(dueMs) {
    await this.ctx.storage.put("due_ms", dueMs);
    await this.ctx.storage.setAlarm(dueMs);
  }

  async alarm() {
    const dueMs = await this.ctx.storage.get("due_ms");
    ran.push(dueMs);
    await this.ctx.storage.put("ran_ms", dueMs);
    lastRanMs = Date.now();
  }
}

export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    const query = [...url.searchParams.values()].map(Number);
    switch (url.pathname) {
      case "/":
        return new Response("Hello World!");
      case "/rpc":
        await call(env, ...query);
        break;
      case "/prepare":
      case "/insert":
      case "/select":
      case "/scan":
        await env.OBJECTS.getByName("sql")[url.pathname.slice(1)](...query);
        break;
      case "/d1-prepare":
        await env.DB.exec("DROP TABLE IF EXISTS items");
        await env.DB.exec("CREATE TABLE items (id INTEGER PRIMARY KEY, name, size)");
        break;
      case "/d1":
        await write(env, ...query);
        break;
      case "/d1-batch":
        await writeBatches(env, ...query);
        break;
      case "/objects":
        await setAlarms(env, ...query);
        break;
      case "/alarms":
        return Response.json({
          ran: ran.length,
          last_ran_ms: lastRanMs,
          out_of_order: ran.filter((due, index) => index && due < ran[index - 1]).length,
        });
      default:
        return new Response("Not found", { status: 404 });
    }
    return new Response("done");
  },
};

// `count` calls of one object, one after the other.
async function call(env, count) {
  const stub = env.OBJECTS.getByName("rpc");
  for (let index = 0; index < count; index++) await stub.add(1);
}

async function write(env, count) {
  for (let index = 0; index < count; index++) {
    const statement = env.DB.prepare("INSERT INTO items (name, size) VALUES (?, ?)");
    await statement.bind("item", index).run();
  }
}

async function writeBatches(env, count) {
  const statement = env.DB.prepare("INSERT INTO items (name, size) VALUES (?, ?)");
  for (let first = 0; first < count; first += BATCH) {
    const statements = [];
    for (let index = first; index < first + BATCH; index++) {
      statements.push(statement.bind("item", index));
    }
    await env.DB.batch(statements);
  }
}

// An alarm a millisecond, each of an object of its own.
async function setAlarms(env, first, count, dueMs) {
  for (let start = first; start < first + count; start += BATCH) {
    const calls = [];
    for (let index = start; index < start + BATCH; index++) {
      calls.push(env.OBJECTS.getByName(`object-${index}`).set_alarm(dueMs + index));
    }
    await Promise.all(calls);
  }
}
