// Classes written in Python as the runtime calls them, and one Worker written in JavaScript.

import { noMethod, isMethodName } from "./rpc.mjs";

// `run(instance, name, how, ...args)` is the Python side of the runtime (harness/dispatch.py).
export function calleeOf(instance, run) {
  return {
    call(name, args) {
      if (!isMethodName(name) || typeof instance[name] !== "function") throw noMethod(name);
      return run(instance, name, "call", ...args);
    },
    async handle(name, args) {
      if (typeof instance[name] === "function") await run(instance, name, "handle", ...args);
    },
    fetch(request) {
      if (typeof instance.fetch !== "function") throw noMethod("fetch");
      return run(instance, "fetch", "fetch", request);
    },
  };
}

export function kindOf(cls, run) {
  return {
    construct: (state, env) => calleeOf(cls(state, env), run),
    has: (name) => typeof cls[name] === "function",
  };
}

// The far side of a service binding to a Worker in JavaScript: every call is logged.
export function remoteCallee({ log, describe, made }) {
  const methods = {
    echo: (...values) => (values.length === 1 ? values[0] : values),
    give: (name) => made[name](),
    raise(name) {
      throw made[name]();
    },
    callBack: async (callback, ...args) => callback(...args),
    adder: (base) => (value) => base + value,
  };
  return {
    call(name, args) {
      log.add(`remote ${name} ${args.map(describe).join(", ")}`.trim());
      if (!(name in methods)) {
        throw new TypeError(`The RPC receiver does not implement the method "${name}".`);
      }
      return methods[name](...args);
    },
    fetch: (request) => new Response(`remote ${request.method} ${request.url}`),
  };
}
