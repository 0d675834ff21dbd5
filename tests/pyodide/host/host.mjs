// What scenarios may ask of the JavaScript side. The emulator's twin of this object is in
// emulated.py: keep it small, and keep values that JavaScript alone can make in `make`.

import { format } from "node:util";

import { ExecutionContext, settle } from "./context.mjs";
import { makeDescribe } from "./describe.mjs";
import { named } from "./idl.mjs";
import { CallLog } from "./log.mjs";
import { makePlatform } from "./platform.mjs";
import { makeQueueClasses } from "./queues.mjs";
import { SENT_AT, makeValues } from "./values.mjs";

function metadata() {
  return { metrics: { backlogCount: 0, backlogBytes: 0 } };
}

function errorText(error) {
  return error === undefined ? null : `${error?.name ?? typeof error}: ${error?.message ?? error}`;
}

export function makeHost(pyodide, { scope, handedOver }, corpus = "[]") {
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

  named(Fetcher);

  const env = {
    QUEUE: new classes.WorkerQueue(),
    SERVICE: new Fetcher(),
    TEXT: "a text",
    NUMBER: 5,
    JSON: { a: 1, list: [1, 2], nothing: null },
    LIST: [1, "two"],
    NOTHING: null,
  };

  const made = makeValues({ describe, queue: env.QUEUE });
  const platform = makePlatform({ pyodide, scope, handedOver, env, describe, log, made });

  return {
    ...platform,
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
    corpus: () => corpus,
    // What was sent since it was asked last, as a consumer gets it.
    sentBatch: () =>
      new classes.QueueController({
        queue: "orders",
        metadata: metadata(),
        messages: classes.takeSent().map((body, index) => ({
          id: `m${index}`, timestamp: new Date(SENT_AT), body, attempts: 1,
        })),
      }),
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
