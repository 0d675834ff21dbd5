// What the Workers runtime adds to the global scope and the host does: fetch, timers, WebSockets.

import { format } from "node:util";

/** Names production has and neither this nor the emulator has yet. */
const NOT_EMULATED = ["caches", "EventSource", "HTMLRewriter"];
const HOST_CLASSES = [
  "WebSocket", "WebSocketPair", "WebSocketRequestResponsePair", "MessageEvent", "CloseEvent",
  "ErrorEvent",
];
/** Shorter timers are no input: they run like the loop's own callbacks, as in production. */
const SHORT_TIMER_MS = 2;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export class Timers {
  #host;
  #scopes;
  #numbers = 0;
  #waiting = new Map();

  constructor(host, scopes) {
    this.#host = host;
    this.#scopes = scopes;
  }

  /** Call back later: the host keeps the time. The number is the timer's. */
  start(callback, delayMs) {
    const id = (this.#numbers += 1);
    const scope = this.#scopes.current();
    const wanted = Number(delayMs);
    const delay = Number.isFinite(wanted) ? Math.min(Math.max(0, wanted), LONGEST_TIMER_MS) : 0;
    this.#host.ask("timer", id, "", [delay]);
    this.#waiting.set(id, { callback, scope });
    return id;
  }

  /** Pyodide's own scheduling, which this replaces. */
  schedule = (callback, delayMs) => {
    if (delayMs > SHORT_TIMER_MS) return this.start(callback, delayMs);
    setImmediate(callback);
    return 0;
  };

  fire(id) {
    const timer = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (timer !== undefined) this.#scopes.run(timer.scope, timer.callback);
  }

  /** Forget timers that the host has been told not to wait for. */
  drop(ids) {
    for (const id of ids) {
      this.#waiting.get(id)?.callback.destroy?.();
      this.#waiting.delete(id);
    }
  }

  clear(id) {
    if (!this.#waiting.delete(id)) return;
    this.#host.ask("clear", id, "", []);
  }

  install(scope) {
    scope.setTimeout = (callback, delayMs, ...args) =>
      this.start(() => callback(...args), delayMs);
    scope.clearTimeout = (id) => this.clear(Number(id));
    scope.setInterval = (callback, delayMs, ...args) => {
      let current;
      const again = () => {
        current = this.start(tick, delayMs);
        this.#intervals.set(id, current);
      };
      const tick = () => {
        again();
        callback(...args);
      };
      const id = (this.#numbers += 1);
      again();
      return id;
    };
    scope.clearInterval = (id) => {
      this.clear(this.#intervals.get(Number(id)));
      this.#intervals.delete(Number(id));
    };
    scope.scheduler = {
      wait: (delayMs) => new Promise((resolve) => this.start(() => resolve(undefined), delayMs)),
    };
  }

  #intervals = new Map();
}

export function installPlatform(scope, host, write) {
  const { Request } = scope;
  scope.fetch = async function fetch(input, init) {
    if (typeof init?.fetcher === "function") return init.fetcher(input, init);
    const request = new Request(input, init);
    const { signal } = request;
    signal.throwIfAborted();
    const answer = host.ask("fetch", 0, "", [request]);
    return aborted(answer, signal);
  };
  for (const name of HOST_CLASSES) lazily(scope, name, () => host.ask("global", 0, name, []));
  for (const name of NOT_EMULATED) {
    lazily(scope, name, () => {
      throw new Error(`js.${name} exists in production but is not emulated by tsumugi yet`);
    });
  }
  scope.navigator = { userAgent: "Cloudflare-Workers" };
  scope.Cloudflare = { compatibilityFlags: {} };
  scope.reportError = (error) => write("error", `Uncaught ${format(error)}`);
  scope.console = {};
  for (const level of ["log", "info", "debug", "warn", "error", "trace"]) {
    scope.console[level] = (...args) => write(level, format(...args));
  }
}

function aborted(answer, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

function lazily(scope, name, make) {
  Object.defineProperty(scope, name, {
    get() {
      const value = make();
      Object.defineProperty(scope, name, { value, writable: true });
      return value;
    },
    set(value) {
      Object.defineProperty(scope, name, { value, writable: true });
    },
    enumerable: true,
    configurable: true,
  });
}
