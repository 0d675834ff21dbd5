// The classes that ask: the same source runs over the host objects and in the runtime itself.

import * as rpc from "./rpc.mjs";
import * as sockets from "./sockets.mjs";
import * as sql from "./sql.mjs";
import * as storage from "./storage.mjs";
import { describe, transcript } from "./transcript.mjs";

// Run inside an object, each in a fresh one.
const INSIDE = { ...storage, ...sql, ...sockets };
const OUTSIDE = { ...rpc };

export function makeClasses({ DurableObject, WorkerEntrypoint, RpcTarget }) {
  class Service extends WorkerEntrypoint {
    echo(value) {
      return value;
    }

    describe(...values) {
      return values.map((value) => describe(value)).join(", ");
    }

    fetch(request) {
      return new Response(`service ${request.method} ${request.url}`);
    }
  }

  class Box extends DurableObject {
    async inside(name) {
      const { said, say } = transcript();
      const { ctx, env } = this;
      const stub = env.BOX.getByName("another");
      const given = { ctx, env, stub, storage: ctx.storage, sql: ctx.storage.sql };
      await INSIDE[name](say, given);
      return said;
    }

    alarm() {}
  }
  Object.assign(Box.prototype, rpc.methods({ describe, RpcTarget }));

  async function ask(env, name) {
    if (name in INSIDE) return env.BOX.getByName(name).inside(name);
    const { said, say } = transcript();
    await OUTSIDE[name](say, { env, stub: env.BOX.getByName(name) });
    return said;
  }

  return { Box, Service, ask, names: [...Object.keys(INSIDE), ...Object.keys(OUTSIDE)].filter((name) => name !== "methods") };
}
