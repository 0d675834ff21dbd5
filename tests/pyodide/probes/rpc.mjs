// Calls of an object from outside: asked of the host objects and of the runtime itself.

class Point {
  constructor() {
    this.x = 1;
  }
}

function values(env) {
  const circular = { a: 1 };
  circular.self = circular;
  const shared = [1];
  return {
    plain: { a: [1, null, undefined, { b: true }] },
    numbers: [1, 1.5, -0, NaN, Infinity, 2 ** 53, 5n],
    text: "\uD83D",
    date: new Date(0),
    regexp: /a/g,
    map: new Map([["a", 1], [2, new Set([1])]]),
    bytes: new Uint8Array([1, 2, 3]).subarray(1),
    buffer: new Uint8Array([1, 2]).buffer,
    boxed: [new String("s"), new Number(1), new Boolean(false)],
    error: new RangeError("r"),
    namedError: Object.assign(new Error("c"), { name: "Custom" }),
    circular,
    shared: { one: shared, two: shared },
    instance: new Point(),
    symbol: Symbol("s"),
    promise: Promise.resolve(1),
    function: () => 1,
    stub: env.BOX.getByName("b"),
    inside: { stub: env.BOX.getByName("b") },
    service: env.SERVICE,
    id: env.BOX.idFromName("b"),
    namespace: env.BOX,
    url: new URL("https://example.com/"),
    formData: new FormData(),
    headers: new Headers([["a", "b"]]),
  };
}

export function methods({ describe }) {
  return {
    echo(value) {
      return value;
    },
    count(...args) {
      return args.length;
    },
    describe(...args) {
      return args.map((value) => describe(value)).join(", ");
    },
    async callBack(callback, value) {
      return [callback.constructor.name, await callback(value)];
    },
    adder(a) {
      return (b) => a + b;
    },
    throws(name) {
      throw {
        error: new Error("plain"),
        range: new RangeError("r"),
        named: Object.assign(new Error("c"), { name: "PythonError" }),
        dom: new DOMException("d", "DataCloneError"),
        text: "text",
        object: { a: 1 },
        nothing: undefined,
      }[name];
    },
    async rejects(name) {
      await 0;
      this.throws(name);
    },
    give(name) {
      return values(this.env)[name];
    },
    async fetch(request) {
      if (request.url.endsWith("/boom")) throw new RangeError("fetch boom");
      if (request.url.endsWith("/text")) return "text";
      return new Response(`${request.method} ${request.url} ${await request.text()}`, {
        status: 201, headers: { "x-a": "b" },
      });
    },
    fail() {
      return this.ctx.blockConcurrencyWhile(async () => { throw new RangeError("blocked"); });
    },
    end(reason) {
      this.ctx.abort(reason);
    },
    async remember(value) {
      this.seen ??= [];
      this.seen.push(value);
      return this.seen;
    },
  };
}

export async function calls(say, { env, stub }) {
  for (const [name, value] of Object.entries(values(env))) {
    await say(`argument ${name}`, () => stub.describe(value));
    await say(`result ${name}`, () => stub.give(name));
    await say(`service argument ${name}`, () => env.SERVICE.describe(value));
  }
  await say("echo undefined", () => stub.echo(undefined));
  await say("no arguments", () => stub.count());
  await say("nulls", () => stub.count(null, undefined));
  await say("call back", () => stub.callBack((value) => value + 1, 1));
  await say("call back with a promise", () => stub.callBack(async (value) => value + 1, 1));
  await say("call back that fails", () => stub.callBack(() => { throw new RangeError("back"); }, 1));
  await say("a function of theirs", async () => {
    const add = await stub.adder(1);
    return [add.constructor.name, typeof add, await add(2)];
  });
  for (const name of ["error", "range", "named", "dom", "text", "object", "nothing"]) {
    await say(`throws ${name}`, () => stub.throws(name));
    await say(`rejects ${name}`, () => stub.rejects(name));
  }
  await say("is remote", async () => {
    try {
      await stub.throws("range");
    } catch (error) {
      return error.remote;
    }
  });
  for (const name of ["alarm", "dup", "webSocketClose", "env", "ctx", "nope"]) {
    await say(`reserved ${name}`, async () => (await stub[name]("a:1")) ?? "nothing");
  }
  await say("kind of a call", () => {
    const call = stub.count();
    call.then(() => {});
    return [call.constructor.name, call instanceof Promise, typeof call.then];
  });
}

export async function requests(say, { env, stub }) {
  const read = async (promise) => {
    const response = await promise;
    return [response.status, response.headers.get("x-a"), await response.text()];
  };
  await say("get", () => read(stub.fetch("https://example.com/p?q=1")));
  await say("post", () => read(stub.fetch("https://example.com/", { method: "POST", body: "b" })));
  await say("request", () => read(stub.fetch(new Request("https://example.com/r"))));
  await say("bad url", () => stub.fetch("/x"));
  await say("throws", () => stub.fetch("https://example.com/boom"));
  await say("service", () => read(env.SERVICE.fetch("https://example.com/s")));
}

export async function endings(say, { env }) {
  const of = (name) => env.BOX.getByName(name);
  const stub = of("ends");
  await say("before", () => stub.remember(1));
  await say("again", () => stub.remember(2));
  await say("abort", () => stub.end("why"));
  await say("the same stub", () => stub.remember(3));
  await say("a new stub", () => of("ends").remember(4));
  await say("abort without a reason", () => of("ends").end());
  const other = of("blocks");
  await say("blocked", () => other.fail());
  await say("still broken", () => other.remember(1));
  await say("fresh", () => of("blocks").remember(2));
}
