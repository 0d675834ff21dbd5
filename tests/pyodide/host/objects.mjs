// The Durable Objects of the test: one in memory for each id, its calls, how it ends.

import { deserialize } from "./clone.mjs";
import { Fetcher, fetcher, routeOver } from "./fetcher.mjs";
import { named } from "./idl.mjs";
import {
  AlarmInvocationInfo, DurableObjectNamespace, DurableObjectState,
} from "./object_state.mjs";
import { DurableObjectStorage, ObjectFile } from "./object_storage.mjs";
import { remoteError } from "./rpc.mjs";
import { ObjectSockets } from "./sockets.mjs";

class DurableObject extends Fetcher {
  #id;

  constructor(id, route) {
    super(route);
    this.#id = id;
  }

  get id() {
    return this.#id;
  }

  get name() {
    return this.#id.name;
  }
}
named(DurableObject);

// One object in memory. `kind` says how its class is made: { construct(state, env), has(name) }.
// What it constructs has call(name, args), handle(name, args) and fetch(request).
class LiveObject {
  #kind;
  #ready;
  #locked = null;
  #broken = null;
  #whenBroken;
  #break;

  constructor(kind, id, file, surroundings) {
    this.#kind = kind;
    this.file = file;
    this.hasAlarm = kind.has("alarm");
    this.sockets = new ObjectSockets((...event) => this.#socketEvent(...event));
    this.#whenBroken = new Promise((_, reject) => { this.#break = reject; });
    this.#whenBroken.catch(() => {});
    const storage = new DurableObjectStorage(file, this);
    const state = new DurableObjectState(id, storage, this, surroundings);
    this.#ready = this.#construct(state, surroundings.env);
    this.#ready.catch(() => {});
  }

  get broken() {
    return this.#broken;
  }

  async #construct(state, env) {
    try {
      this.instance = await this.#kind.construct(state, env);
    } catch (error) {
      this.reset(remoteError(error));
    }
  }

  // Nothing else enters while `work` runs. What is inside another one belongs to it.
  exclusively(work, { resets = false } = {}) {
    const outer = this.#locked;
    const running = (async () => work())();
    const over = running.then(() => {}, () => {});
    this.#locked = over;
    over.then(() => {
      if (this.#locked === over) this.#locked = outer;
    });
    if (!resets) return running;
    return running.catch((error) => {
      this.reset(remoteError(error));
      return new Promise(() => {}); // what waits for it never goes on
    });
  }

  reset(error) {
    if (this.#broken !== null) return;
    this.#broken = error;
    this.#break(error);
  }

  // Run one event when it is its turn.
  async enter(work) {
    await this.#ready;
    while (this.#locked !== null && this.#broken === null) await this.#locked;
    if (this.#broken !== null) throw this.#broken;
    const result = await Promise.race([work(this.instance), this.#whenBroken]);
    if (this.#broken !== null) throw this.#broken; // it ended itself
    return result;
  }

  async #socketEvent(name, args) {
    await this.enter((instance) => instance.handle(name, args));
  }
}

export function makeObjects({ rpc, scope, handedOver, env, exports = {} }) {
  const classes = new Map();

  // Bind a class: the namespace that reaches its objects.
  function bind(name, kind) {
    const found = { kind, files: new Map(), live: new Map() };
    found.namespace = new DurableObjectNamespace(name, (id) => stubOf(found, id));
    classes.set(name, found);
    return found.namespace;
  }

  function fileOf(found, id) {
    const key = id.toString();
    if (!found.files.has(key)) found.files.set(key, new ObjectFile());
    return found.files.get(key);
  }

  function liveOf(found, id) {
    const key = id.toString();
    const known = found.live.get(key);
    if (known !== undefined && known.broken === null) return known;
    const surroundings = { env, props: {}, exports };
    const live = new LiveObject(found.kind, id, fileOf(found, id), surroundings);
    found.live.set(key, live);
    return live;
  }

  // A stub stays broken once its object broke.
  function stubOf(found, id) {
    let connected = null;
    const enter = (work) => {
      connected ??= liveOf(found, id);
      return connected.enter(work);
    };
    const route = routeOver({ rpc, scope, handedOver, enter });
    return fetcher(route, new DurableObject(id, route));
  }

  function find(name, objectName) {
    const found = classes.get(name);
    return { found, id: found.namespace.idFromName(objectName) };
  }

  return {
    bind,
    // Forget what is in memory: the next call finds a new instance over the same file.
    evict: (name) => classes.get(name).live.clear(),
    // Everything in an object's records, as JavaScript sees it.
    records: (name, objectName) => {
      const { found, id } = find(name, objectName);
      const rows = fileOf(found, id).database.own("SELECT key, value FROM _cf_KV ORDER BY key");
      return rows.map(([key, bytes]) => [key, deserialize(bytes)]);
    },
    // Run the alarm of an object as the runtime does when it is due.
    runAlarm: async (name, objectName, retryCount) => {
      const { found, id } = find(name, objectName);
      const live = liveOf(found, id);
      const due = live.file.alarm;
      if (due === null || due > Date.now()) return { ran: false, failed: false };
      live.file.alarmRuns = true;
      try {
        const info = new AlarmInvocationInfo(retryCount, due);
        await live.enter((instance) => instance.handle("alarm", [info]));
        if (live.file.alarmRuns) live.file.alarm = null;
        return { ran: true, failed: false };
      } catch {
        return { ran: true, failed: true };
      } finally {
        live.file.alarmRuns = false;
      }
    },
  };
}
