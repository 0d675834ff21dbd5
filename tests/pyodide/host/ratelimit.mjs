// `env.LIMIT`: counts calls by key. Its period is longer than any test.

import { isObject, named } from "./idl.mjs";

export class Ratelimit {
  #counts = new Map();
  #limit;

  constructor(limit) {
    this.#limit = limit;
  }

  async limit(options) {
    if (!isObject(options)) throw new Error("invalid rate limit options");
    const { key = "" } = options;
    if (typeof key !== "string") throw new Error(`invalid key: ${key}`);
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return { success: count <= this.#limit };
  }
}
named(Ratelimit);
