// The platform around a Worker, and what a scenario may do to it from outside. The emulator's twin
// is emulated_platform.py.

import { ExecutionContext } from "./context.mjs";
import { D1Database } from "./d1.mjs";
import { fetcher, forRpc, routeOver } from "./fetcher.mjs";
import { KvNamespace } from "./kv.mjs";
import { makeObjects } from "./objects.mjs";
import { calleeOf, kindOf, remoteCallee } from "./python.mjs";
import { R2Bucket } from "./r2.mjs";
import { Ratelimit } from "./ratelimit.mjs";
import { makeRpc } from "./rpc.mjs";

export function makePlatform({ pyodide, scope, handedOver, env, describe, log, made }) {
  const rpc = makeRpc({ PyProxy: pyodide.ffi.PyProxy, forRpc });
  const exports = {};
  const objects = makeObjects({ rpc, scope, handedOver, env, exports });

  function serviceTo(enter) {
    return fetcher(routeOver({ rpc, scope, handedOver, enter }));
  }

  const remote = remoteCallee({ log, describe, made });
  env.REMOTE = serviceTo(async (work) => work(remote));

  return {
    // `run` is kept: every event of the class goes through it.
    bindObject: (name, cls, run) => {
      env[name] = objects.bind(name, kindOf(cls.copy(), run.copy()));
    },
    bindService: (name, cls, run) => {
      const kept = [cls.copy(), run.copy()];
      env[name] = serviceTo(async (work) => {
        const context = new ExecutionContext({ exports });
        return work(calleeOf(kept[0](context, env), kept[1]));
      });
    },
    // New and empty ones, under the names every scenario knows.
    bindStores: () => {
      Object.assign(env, {
        DB: new D1Database(), KV: new KvNamespace(), R2: new R2Bucket(), LIMIT: new Ratelimit(2),
      });
    },
    evict: (name) => objects.evict(name),
    records: (name, objectName) =>
      objects.records(name, objectName).map(([key, value]) => `${key} = ${describe(value)}`),
    runAlarm: async (name, objectName, retryCount) =>
      JSON.stringify(await objects.runAlarm(name, objectName, retryCount)),
  };
}
