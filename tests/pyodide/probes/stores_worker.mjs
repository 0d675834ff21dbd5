// Ask the local services of the platform: a Worker whose answer is everything that was said.

import { askStores } from "./stores.mjs";

export default {
  async fetch(_request, env) {
    return Response.json(await askStores(env));
  },
};
