// Ask the runtime itself: a Worker whose answer is everything that was said.

import { DurableObject, RpcTarget, WorkerEntrypoint } from "cloudflare:workers";

import { makeClasses } from "./box.mjs";
import { askStores } from "./stores.mjs";

const { Box, Service, ask, names } = makeClasses({ DurableObject, RpcTarget, WorkerEntrypoint });

export { Box, Service };

export default {
  async fetch(_request, env) {
    const transcripts = {};
    for (const name of names) transcripts[name] = await ask(env, name);
    return Response.json({ ...transcripts, ...(await askStores(env)) });
  },
};
