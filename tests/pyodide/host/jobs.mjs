// A Worker with jobs, installed into a real Pyodide, and the platform around it:
//   node jobs.mjs <plan.json> <output.json>
// It follows the steps of the plan and writes down, for each, what was answered and what crossed
// between Python and JavaScript. Time stands in `Date.now`, which steps may move forward.

import { count, crossings } from "./crossings.mjs"; // before Pyodide is loaded

import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

import { patchWaitUntil } from "../../../emulator/tsumugi_emulator/pyodide_host/waiting.mjs";
import { ExecutionContext, settle } from "./context.mjs";
import { D1Database } from "./d1.mjs";
import { makeDescribe } from "./describe.mjs";
import { forRpc } from "./fetcher.mjs";
import { makeGlobals } from "./globals.mjs";
import { named } from "./idl.mjs";
import { copyTree, emptyLock, installWheel, keptFetch } from "./installing.mjs";
import { CallLog } from "./log.mjs";
import { makeObjects } from "./objects.mjs";
import { calleeOf, kindOf } from "./python.mjs";
import { makeQueueClasses } from "./queues.mjs";
import { makeRpc } from "./rpc.mjs";

const BATCH_SIZE = 100;
const MESSAGE_BYTES = 128_000;
const BATCH_BYTES = 256_000;
// Longer than any sleep with which Python lets others in.
const QUIET_MS = 8;
const MOST_EVENTS = 2_000;
const OFFLINE = 3;

const [planFile, output] = process.argv.slice(2);
const plan = JSON.parse(fs.readFileSync(planFile, "utf8"));
const failures = [];
process.on("unhandledRejection", (error) => failures.push(`unhandled rejection: ${error}`));
process.on("uncaughtException", (error) => {
  console.error(error?.stack ?? error); // without the line that threw, which is all of Pyodide
  process.exit(1);
});

let ahead = 0;
const now = Date.now;
Date.now = () => now() + ahead;

// Timers that have not fired, for a second and longer: in an object they keep it in memory.
const LONG_MS = 1_000;
const timers = new Set();
const { setTimeout: set, clearTimeout: clear } = globalThis;
globalThis.setTimeout = (work, ms, ...args) => {
  const timer = set((...given) => {
    timers.delete(+timer);
    work(...given);
  }, ms, ...args);
  if (ms >= LONG_MS) timers.add(+timer);
  return timer;
};
globalThis.clearTimeout = (timer) => {
  timers.delete(+timer);
  clear(timer);
};

// -- Pyodide, with what is installed -------------------------------------------------------------

const globals = makeGlobals();
const { loadPyodide } = await import(pathToFileURL(path.join(plan.pyodide, "pyodide.mjs")).href);
const printed = [];
globals.scope.fetch = keptFetch(plan.kept, fetch, (error) => {
  console.error(`nothing can be downloaded: ${error.cause ?? error}`);
  process.exit(OFFLINE);
});
const pyodide = await loadPyodide({
  indexURL: plan.pyodide + path.sep,
  lockFileURL: emptyLock(plan.pyodide, plan.kept),
  jsglobals: globals.scope,
  stdout: (text) => printed.push(text),
  stderr: (text) => printed.push(text),
});
const installed = await installWheel(pyodide, plan);
for (const [folder, place] of Object.entries(plan.copied)) copyTree(pyodide, folder, place);

// -- The platform --------------------------------------------------------------------------------

const env = { ...plan.vars };
const log = new CallLog();
const describe = makeDescribe(pyodide.ffi.PyProxy);
const classes = makeQueueClasses({ log, warn: (text) => log.add(text), describe });
const queued = [];
const seen = [];

class WorkerQueue extends classes.WorkerQueue {
  async sendBatch(messages, options) {
    const bodies = [...messages].map(({ body }) => body);
    const sizes = bodies.map((body) => Buffer.byteLength(body));
    const size = sizes.reduce((sum, each) => sum + each, 0);
    if (bodies.length > BATCH_SIZE || size > BATCH_BYTES || Math.max(...sizes) > MESSAGE_BYTES) {
      throw new Error(`Queue sendBatch failed: Payload Too Large (${bodies.length}, ${size} bytes)`);
    }
    const answer = await super.sendBatch(messages, options);
    log.take();
    queued.push(...bodies);
    seen.push(...bodies);
    return answer;
  }
}

pyodide.registerJsModule("_pyodide_entrypoint_helper", {
  cloudflareWorkersModule: { env, waitUntil: (promise) => { promise.catch(() => {}); } },
  cloudflareSocketsModule: {},
  patchWaitUntil,
});
pyodide.registerJsModule(
  "_cloudflare_compat_flags", Object.fromEntries(plan.flags.map((flag) => [flag, true])),
);
pyodide.runPython("import sys; sys.path.insert(0, '/suite')");
const { run } = pyodide.pyimport("harness.dispatch");
const worker = pyodide.pyimport("worker");

const states = new Map();
const objects = makeObjects({
  rpc: makeRpc({ PyProxy: pyodide.ffi.PyProxy, forRpc }), ...globals, env,
});
const kind = kindOf(worker.TsumugiJobShard, run);
env.TSUMUGI_SHARD = objects.bind("TSUMUGI_SHARD", {
  ...kind,
  construct(state, itsEnv) {
    states.set(state.id.name, state);
    return kind.construct(state, itsEnv);
  },
});
env.TSUMUGI_QUEUE = new (named(WorkerQueue))();
env.TSUMUGI_DB = new D1Database();
for (const sql of plan.migrations) await env.TSUMUGI_DB.prepare(sql).run();

// -- Events --------------------------------------------------------------------------------------

async function event(deliver) {
  const context = new ExecutionContext();
  const answer = await deliver(calleeOf(worker.Default(context, env), run));
  const failure = await settle(context);
  if (failure !== undefined) throw failure;
  return answer;
}

// A place may name what an earlier step was answered: `/job/{name.0}`.
async function fetched({ method = "GET", place, body, token = plan.vars.TSUMUGI_TOKEN }) {
  const url = place.replace(/\{([^.]+)\.(\d+)\}/g, (_, name, index) =>
    encodeURIComponent(steps[name].answer.body[index]));
  const request = new globals.scope.Request(`https://worker.test${url}`, {
    method,
    body: body === undefined ? undefined : JSON.stringify(body),
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
  });
  const response = await event((callee) => callee.fetch(request));
  return { status: response.status, body: await response.json() };
}

let delivered = 0;

async function deliver(bodies) {
  const batch = new classes.QueueController({
    queue: "jobs",
    metadata: { metrics: { backlogCount: queued.length, backlogBytes: 0 } },
    messages: bodies.map((body) => {
      delivered += 1;
      return { id: `m${delivered}`, timestamp: new Date(), body, attempts: 1 };
    }),
  });
  await event((callee) => callee.call("queue", [batch, undefined, undefined]));
  if (!classes.resultOf(batch).ackAll) throw new Error("a batch was not acknowledged");
}

async function alarms() {
  const set = [];
  for (const [name, state] of states) {
    const at = await state.storage.getAlarm();
    if (at !== null) set.push({ name, at });
  }
  return set.sort((one, other) => one.at - other.at);
}

// Until Python has nothing to do. Its short timers run before this one.
async function quiet() {
  for (let before = -1; before !== crossings();) {
    before = crossings();
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  }
}

// Every event that follows, in time up to `ms` from now; how many there were.
async function follow(ms) {
  const until = Date.now() + ms;
  const events = { queue: 0, alarm: 0, wanted: null };
  for (let n = 0; n < MOST_EVENTS; n += 1) {
    await quiet();
    if (queued.length > 0) {
      events.queue += 1;
      await deliver(queued.splice(0, BATCH_SIZE));
      continue;
    }
    const [next] = await alarms();
    if (next === undefined || next.at > until) return { ...events, wanted: next?.at ?? null };
    ahead += Math.max(0, next.at - Date.now());
    events.alarm += 1;
    const { failed } = await objects.runAlarm("TSUMUGI_SHARD", next.name, 0);
    if (failed) throw new Error(`the alarm of ${next.name} failed`);
  }
  throw new Error(`${MOST_EVENTS} events and no end`);
}

const STEPS = {
  fetch: fetched,
  follow,
  // The last messages again, as a queue may deliver them.
  again: async (n) => deliver(seen.slice(-n)),
  evict: async () => objects.evict("TSUMUGI_SHARD"),
  cron: async () => event((callee) => callee.call("scheduled", [undefined, undefined, undefined])),
  python: async (name) => JSON.parse(await worker[name]()),
  rows: async (sql) => (await env.TSUMUGI_DB.prepare(sql).all()).results,
};

timers.clear(); // downloading packages, the first time, leaves some
const steps = {};
for (const [name, what, given] of plan.steps) {
  const [counted, begun] = [count(), process.cpuUsage()];
  const answer = (await STEPS[what](given)) ?? null;
  const { user, system } = process.cpuUsage(begun);
  const cpuMs = (user + system) / 1_000;
  steps[name] = { answer, crossings: counted(), cpuMs, timers: timers.size };
}
fs.writeFileSync(output, JSON.stringify({ installed, steps, printed, failures }));
process.exit(0);
