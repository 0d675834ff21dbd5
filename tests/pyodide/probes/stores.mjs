// Databases, key-value stores and buckets: each list of questions is asked of a fresh one.

import * as d1 from "./d1.mjs";
import * as kv from "./kv.mjs";
import * as r2 from "./r2.mjs";
import { transcript } from "./transcript.mjs";

export const QUESTIONS = { ...d1, ...kv, ...r2 };

// `env` has DB1, DB2..., KV1... and R21..., and LIMIT, which lets 2 through.
export async function askStores(env) {
  const transcripts = {};
  const counts = { DB: 0, KV: 0, R2: 0 };
  const next = (kind) => env[`${kind}${(counts[kind] += 1)}`];
  for (const [name, ask] of Object.entries(QUESTIONS)) {
    const { said, say } = transcript();
    const given = name.startsWith("d1") ? { db: next("DB") }
      : name.startsWith("kv") ? { kv: next("KV") }
      : name.startsWith("r2") ? { r2: next("R2") } : { limit: env.LIMIT };
    await ask(say, given);
    transcripts[name] = said;
  }
  return transcripts;
}
