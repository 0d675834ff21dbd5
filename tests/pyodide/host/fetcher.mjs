// A way to another Worker or object: `fetch`, and every other name is a method to call there.

import { named } from "./idl.mjs";
import { remoteError, withMethods } from "./rpc.mjs";

const CONNECT_TEXT = "Incoming CONNECT on a worker not supported";
const NOT_A_RESPONSE = "Incorrect type for Promise: the Promise did not resolve to 'Response'.";

// What a caller holds becomes this when it is passed on in a call.
export const forRpc = Symbol("for RPC");

export class Fetcher {
  #route;

  // `route` reaches the other side: { fetch(request), call(name, args) }.
  constructor(route) {
    this.#route = route;
  }

  fetch(input, init) {
    return this.#route.fetch(input, init);
  }

  connect() {
    throw new TypeError(CONNECT_TEXT);
  }

  [forRpc]() {
    return fetcher(this.#route);
  }
}
named(Fetcher);

export function fetcher(route, target = new Fetcher(route)) {
  return withMethods(target, (name, args) => route.call(name, args));
}

// A route over `enter(work)`, which runs work on the other side, in the turn that is its own.
export function routeOver({ rpc, scope, handedOver, enter }) {
  return {
    async fetch(input, init) {
      const request = new scope.Request(input, init);
      let response;
      try {
        response = await enter((callee) => callee.fetch(request));
      } catch (error) {
        throw remoteError(error);
      }
      if (!(response instanceof Response)) throw new TypeError(NOT_A_RESPONSE);
      return handedOver(response);
    },
    call: (name, args) => rpc.call(args, (given) => enter((callee) => callee.call(name, given))),
  };
}
