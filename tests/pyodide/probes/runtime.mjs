// Ask the runtime itself and its local services: `node runtime.mjs <output>`.

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { Miniflare, kCurrentWorker } from "miniflare";

const suite = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const modules = ["worker", "box", "rpc", "sockets", "sql", "storage", "stores", "d1", "kv", "r2", "transcript"]
  .map((name) => `probes/${name}.mjs`)
  .concat("host/describe.mjs")
  .map((file) => ({
    type: "ESModule", path: file, contents: fs.readFileSync(path.join(suite, file), "utf8"),
  }));

const numbered = (kind) => [1, 2, 3].map((number) => `${kind}${number}`);

const miniflare = new Miniflare({
  modules,
  modulesRoot: ".",
  // The date at which the facts of the Python runtime were taken down.
  compatibilityDate: "2025-09-01",
  durableObjects: { BOX: { className: "Box", useSQLite: true } },
  serviceBindings: { SERVICE: { name: kCurrentWorker, entrypoint: "Service" } },
  d1Databases: numbered("DB"),
  kvNamespaces: numbered("KV"),
  r2Buckets: numbered("R2"),
  ratelimits: { LIMIT: { simple: { limit: 2, period: 60 } } },
});
const response = await miniflare.dispatchFetch("http://probes.example/");
fs.writeFileSync(process.argv[2], await response.text());
await miniflare.dispose();
