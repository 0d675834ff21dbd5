// Ask the host objects: `node host.mjs <output>`.

import fs from "node:fs";

import { makeGlobals } from "../host/globals.mjs";
import { Fetcher, fetcher, forRpc, routeOver } from "../host/fetcher.mjs";
import { makeObjects } from "../host/objects.mjs";
import { makeRpc } from "../host/rpc.mjs";
import { D1Database } from "../host/d1.mjs";
import { KvNamespace } from "../host/kv.mjs";
import { R2Bucket } from "../host/r2.mjs";
import { Ratelimit } from "../host/ratelimit.mjs";
import { makeClasses } from "./box.mjs";
import { askStores } from "./stores.mjs";

class Base {
  constructor(ctx, env) {
    this.ctx = ctx;
    this.env = env;
  }
}

// A class in JavaScript, as objects.mjs wants it.
function kindOf(cls) {
  return {
    construct: (ctx, env) => callee(new cls(ctx, env)),
    has: (name) => typeof cls.prototype[name] === "function",
  };
}

function callee(instance) {
  return {
    call(name, args) {
      if (typeof instance[name] !== "function") {
        throw new TypeError(`The RPC receiver does not implement the method "${name}".`);
      }
      return instance[name](...args);
    },
    handle: (name, args) => instance[name]?.(...args),
    fetch: (request) => instance.fetch(request),
  };
}

const { scope, handedOver } = makeGlobals();
Object.assign(globalThis, {
  WebSocketPair: scope.WebSocketPair,
  WebSocketRequestResponsePair: scope.WebSocketRequestResponsePair,
  Response: scope.Response,
});
const rpc = makeRpc({ PyProxy: class NoProxy {}, forRpc });
const env = {};
const objects = makeObjects({ rpc, scope, handedOver, env });
const { Box, Service, ask, names } = makeClasses({
  DurableObject: Base, WorkerEntrypoint: Base, RpcTarget: Base,
});
env.BOX = objects.bind("BOX", kindOf(Box));
env.SERVICE = fetcher(routeOver({
  rpc, scope, handedOver, enter: async (work) => work(callee(new Service({}, env))),
}));

const transcripts = {};
for (const name of names) transcripts[name] = await ask(env, name);
const stores = { LIMIT: new Ratelimit(2) };
for (const number of [1, 2, 3]) {
  stores[`DB${number}`] = new D1Database();
  stores[`KV${number}`] = new KvNamespace();
  stores[`R2${number}`] = new R2Bucket();
}
Object.assign(transcripts, await askStores(stores));
fs.writeFileSync(process.argv[2], JSON.stringify(transcripts, null, 1));
process.exit(0);
