// The platform around a Worker, and what a scenario may do to it from outside. The emulator's twin
// is emulated_platform.py.

import { ExecutionContext } from "./context.mjs";
import { fetcher, forRpc, routeOver } from "./fetcher.mjs";
import { makeObjects } from "./objects.mjs";
import { calleeOf, kindOf, remoteCallee } from "./python.mjs";
import { makeRpc } from "./rpc.mjs";

export function makePlatform({ pyodide, scope, env, describe, log, made }) {
  const rpc = makeRpc({ PyProxy: pyodide.ffi.PyProxy, forRpc });
  const exports = {};
  const objects = makeObjects({ rpc, scope, env, exports });

  function serviceTo(enter) {
    return fetcher(routeOver({ rpc, scope, enter }));
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
    evict: (name) => objects.evict(name),
    records: (name, objectName) =>
      objects.records(name, objectName).map(([key, value]) => `${key} = ${describe(value)}`),
    runAlarm: async (name, objectName, retryCount) =>
      JSON.stringify(await objects.runAlarm(name, objectName, retryCount)),
  };
}
