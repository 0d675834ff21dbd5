// The Node child: Pyodide with the Worker in it, and nothing else of its own.
//   node main.mjs <calls fd> <events fd> <lifeline fd> <settings as JSON>
// Everything that waits, stores or talks to the outside is the host process's
// (`pyodide_runtime` in Python), reached over two sockets.

import { Worker } from "node:worker_threads";

import { Bodies } from "./bodies.mjs";
import { endProcess } from "./end.mjs";
import { Files } from "./files.mjs";
import { Foreign } from "./foreign.mjs";
import {
  givenStream, makeGlobals, receivedRequest, receivedResponse, wholeBody,
} from "./globals.mjs";
import { Host } from "./host.mjs";
import { Link } from "./link.mjs";
import { Output } from "./output.mjs";
import { installPlatform, Timers } from "./platform.mjs";
import { HEAR, SAY } from "./protocol.mjs";
import { startPython } from "./python.mjs";
import { Scopes } from "./scopes.mjs";
import { Stubs } from "./stubs.mjs";
import { Values } from "./values.mjs";

/** What the host exits with when Pyodide fails; `child.py` says the same of a Node that died. */
const EXIT_FAILED = 71;

const [calls, events, lifeline] = process.argv.slice(2, 5).map(Number);
const settings = JSON.parse(process.argv[5]);

// Terminals and process managers signal the whole group: only the host decides what ends.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
new Worker(new URL("./lifeline.mjs", import.meta.url), { workerData: lifeline }).unref();

const link = new Link(calls, events);
const scopes = new Scopes();
const output = new Output();
const foreign = new Foreign();
const scope = makeGlobals();
const bodies = new Bodies({
  ...scope, givenStream, wholeBody, receivedRequest, receivedResponse,
});
const released = [];

/** Promises of this side that the host waits for. */
const promises = {
  count: 0,
  track(promise) {
    const id = (this.count += 1);
    const settled = (ok) => (value) => link.say([SAY.SETTLED, id, ok, value]);
    promise.then(settled(true), settled(false));
    return id;
  },
  /** A promise of the host's: pending, fulfilled or rejected. */
  restore(id, state, value) {
    if (state === 0) return host.promise(id);
    return state === 1 ? Promise.resolve(value) : Promise.reject(value);
  },
};

const host = new Host(link, { where: scopes.where, invoke: (frame) => invoke(frame) });
const stubs = new Stubs(host, (id, count) => released.push([id, count]));
const values = new Values({ stubs, foreign, bodies, promises });
const timers = new Timers(host, scopes);
bodies.host = host;
link.special = values.special;
link.restore = values.restore;
installPlatform(scope, host, output.console);
timers.install(scope);

const log = (level, text) => link.say([SAY.LOG, level, text]);
/** End both processes: the host goes by the code. */
function exit(code) {
  link.say([SAY.EXITED, code]);
  endProcess();
}
process.on("unhandledRejection", (error) => log("error", `Uncaught (in promise) ${error}`));
process.on("uncaughtException", (error) => log("error", `Uncaught ${error}`));

// -- Frames --------------------------------------------------------------------------------------

let python;

function invoke([, id, scopeOfCall, kind, ...args]) {
  return scopes.run(scopeOfCall, () => python.work[kind](id, scopeOfCall, ...args));
}

const hear = {
  [HEAR.INVOKE]: (frame) => host.answer(frame),
  [HEAR.SETTLED]: ([, id, ok, value]) => host.settle(id, ok, value),
  [HEAR.FIRE]: ([, id]) => {
    python.fired(id);
    timers.fire(id);
  },
  [HEAR.CANCEL]: ([, id]) => python.cancel(id),
  [HEAR.END]: ([, ended, kind]) => {
    for (const place of python.end(ended)) log("dropped", `${kind}\n${place}`);
  },
  [HEAR.RELEASE]: ([, counts]) => {
    for (const [id, count] of counts) foreign.release(id, count);
  },
  [HEAR.PING]: ([, number]) => link.say([SAY.PONG, number]),
};

link.onFrame = (frame) => hear[frame[0]](frame);
link.onQuiet = (seen) => {
  const cancelled = python.rest();
  output.flush();
  timers.drop(cancelled);
  if (released.length > 0) link.say([SAY.RELEASE, released.splice(0)]);
  link.say([SAY.QUIET, seen, cancelled]);
};
link.onIdle = (seen) => link.say([SAY.IDLE, seen]);

try {
  python = await startPython({
    settings, scope, scopes, host, link, output, timers, foreign, bodies, log, Files,
    onFatal: (error) => {
      output.flush();
      // A status has only what `os._exit()` threw: all else is a fault.
      if (typeof error?.status === "number") exit(error.status);
      log("error", `Pyodide failed: ${error?.message ?? error}`);
      exit(EXIT_FAILED);
    },
  });
  values.isPyProxy = (value) => value instanceof python.PyProxy;
  link.open();
  link.say([SAY.WARM, python.version]);
} catch (error) {
  log("error", `Pyodide did not start: ${error?.stack ?? error}`);
  exit(EXIT_FAILED);
}
