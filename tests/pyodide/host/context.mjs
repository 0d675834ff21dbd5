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

// Python objects given to waitUntil outlive the call: keep a copy until they settle.
export function patchWaitUntil(context) {
  if (Object.prototype.toString.call(context) !== "[object ExecutionContext]") return;
  if (Object.hasOwn(context, "waitUntil")) return;
  const original = context.waitUntil;
  context.waitUntil = function waitUntil(promise) {
    original.call(context, keep(promise));
  };
}

async function keep(promise) {
  if (!("copy" in promise)) return promise;
  const kept = promise.copy();
  try {
    return await kept;
  } finally {
    kept.destroy();
  }
}
