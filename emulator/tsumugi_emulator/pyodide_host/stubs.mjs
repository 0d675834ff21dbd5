// Objects of the host as this side holds them: classes of the same name with the same members,
// every use of which is a call of the host. What the members do is not known here.

const HANDLE = Symbol("tsumugi.handle");

export class Stubs {
  #host;
  #release;
  #classes = new Map();
  #live = new Map();
  #collected;

  /** `release(id, count)` says that an object is no longer held, after `count` times received. */
  constructor(host, release) {
    this.#host = host;
    this.#release = release;
    this.#collected = new FinalizationRegistry((id) => this.#forget(id));
  }

  handleOf(value) {
    return value[HANDLE];
  }

  /** The stub of an object; `description` comes with the first of its class. */
  receive([id, classId, description, own]) {
    const known = this.#live.get(id);
    const held = known?.stub.deref();
    if (held !== undefined) {
      known.count += 1;
      return held;
    }
    if (description !== null) this.#classes.set(classId, this.#makeClass(description));
    const stub = this.#make(id, this.#classes.get(classId), own);
    this.#live.set(id, { stub: new WeakRef(stub), count: (known?.count ?? 0) + 1 });
    this.#collected.register(stub, id);
    return stub;
  }

  #forget(id) {
    const known = this.#live.get(id);
    if (known === undefined || known.stub.deref() !== undefined) return;
    this.#live.delete(id);
    this.#release(id, known.count);
  }

  // -- Classes -----------------------------------------------------------------------------------

  #makeClass({ name, methods, attributes, callable, iterable, thenable, dynamic }) {
    const host = this.#host;
    const made = { [name]: class extends (callable ? Function : Object) {} }[name];
    const { prototype } = made;
    define(prototype, Symbol.toStringTag, { get: () => name });
    for (const method of methods) {
      const call = function (...args) {
        return host.ask("call", this[HANDLE], method, args);
      };
      define(prototype, method, { value: named(call, method), writable: true });
    }
    for (const attribute of attributes) {
      define(prototype, attribute, {
        get() {
          return host.ask("get", this[HANDLE], attribute, []);
        },
        set(value) {
          host.ask("set", this[HANDLE], attribute, [value]);
        },
      });
    }
    if (iterable) define(prototype, Symbol.iterator, { value: iterator(host, methods) });
    if (thenable) {
      const then = function (...callbacks) {
        return host.ask("await", this[HANDLE], "", []).then(...callbacks);
      };
      define(prototype, "then", { value: then });
    }
    return { prototype, callable, dynamic };
  }

  // -- Objects -----------------------------------------------------------------------------------

  #make(id, { prototype, callable, dynamic }, own) {
    const stub = callable ? this.#function(id, prototype) : Object.create(prototype);
    define(stub, HANDLE, { value: id });
    for (const name of own ?? []) {
      const ask = () => this.#host.ask("get", id, name, []);
      Object.defineProperty(stub, name, { get: ask, enumerable: true, configurable: true });
    }
    return dynamic ? this.#open(id, stub) : stub;
  }

  #function(id, prototype) {
    const host = this.#host;
    const call = function (...args) {
      return new.target ? host.ask("new", id, "", args) : host.ask("apply", id, "", args);
    };
    return Object.setPrototypeOf(call, prototype);
  }

  /** An object on which every name exists: what it is shows when it is used. */
  #open(id, stub) {
    return new Proxy(stub, {
      get: (target, key) => {
        if (typeof key === "symbol" || key in target || NEVER.has(key)) return target[key];
        return this.#member(id, key);
      },
      has: (target, key) => typeof key !== "symbol" && !NEVER.has(key) ? true : key in target,
    });
  }

  #member(id, name) {
    const host = this.#host;
    const real = () => host.ask("get", id, name, []);
    const call = named((...args) => host.ask("call", id, name, args), name);
    return new Proxy(call, {
      get: (target, key) => {
        if (typeof key === "symbol" || key in target || NEVER.has(key)) {
          if (key !== "then") return target[key];
          return (...callbacks) => real().then(...callbacks);
        }
        return real()[key];
      },
    });
  }
}

/** A stub with a `then` could not come out of an async function. */
const NEVER = new Set(["then", "js_object"]);

function iterator(host, methods) {
  if (methods.includes("next")) {
    return function () {
      return this;
    };
  }
  return function () {
    return host.ask("list", this[HANDLE], "", [])[Symbol.iterator]();
  };
}

function define(target, key, property) {
  Object.defineProperty(target, key, { configurable: true, ...property });
}

function named(call, name) {
  Object.defineProperty(call, "name", { value: name });
  return call;
}
