// `ctx` of an entrypoint, and how long what it is given lives.

import { named, readOnly } from "./idl.mjs";

export class ExecutionContext {
  #pending = [];

  constructor({ props = {}, exports = {} } = {}) {
    readOnly(this, { props, exports });
  }

  waitUntil(promise) {
    this.#pending.push(Promise.resolve(promise));
  }

  passThroughOnException() {}

  static async settle(context) {
    const results = await Promise.allSettled(context.#pending);
    return results.find(({ status }) => status === "rejected")?.reason;
  }
}
named(ExecutionContext);

export const { settle } = ExecutionContext;
delete ExecutionContext.settle;
