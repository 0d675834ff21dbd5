// `env.KV`: a key-value namespace in memory. The runtime's checks, and the service's refusals.

import { isObject, named, options as dictionary, toInt, wrongType } from "./idl.mjs";

const CLASS = "KvNamespace";
const MAX_KEY_BYTES = 512;
const MAX_METADATA_BYTES = 1024;
const MAX_LISTED = 1000;
const MAX_READ = 100;
const MIN_TTL_S = 60;
const MIN_CACHE_TTL_S = 30;
const TYPES = new Set(["text", "json", "arrayBuffer", "stream"]);

function refusal(operation, status, text) {
  return new Error(`KV ${operation} failed: ${status} ${text}`);
}

function keyOf(key, method, given, type = "string") {
  if (given === 0) throw wrongType(method, CLASS, 1, type);
  const name = String(key);
  if (name === "") throw new TypeError("Key name cannot be empty.");
  if (name === "." || name === "..") throw new TypeError(`"${name}" is not allowed as a key name.`);
  return name;
}

function checkKey(name, operation) {
  const size = new TextEncoder().encode(name).length;
  if (size <= MAX_KEY_BYTES) return name;
  throw refusal(
    operation, 414, `UTF-8 encoded length of ${size} exceeds key length limit of ${MAX_KEY_BYTES}.`,
  );
}

function isBytes(value) {
  return value instanceof ArrayBuffer || ArrayBuffer.isView(value);
}

async function bytesOf(value) {
  if (typeof value === "symbol") throw new TypeError("Cannot convert a Symbol value to a string");
  if (!isObject(value)) return encoded(String(value));
  if (isBytes(value)) return new Uint8Array(await new Response(value).arrayBuffer());
  if (value instanceof ReadableStream) return new Uint8Array(await new Response(value).arrayBuffer());
  throw new TypeError(
    "KV put() accepts only strings, ArrayBuffers, ArrayBufferViews, and ReadableStreams as values.",
  );
}

// Half a character keeps its bytes, as in the runtime.
function encoded(text) {
  return Uint8Array.from([...text].flatMap((char) => {
    const code = char.codePointAt(0);
    if (code < 0xd800 || code > 0xdfff) return [...new TextEncoder().encode(char)];
    return [0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)];
  }));
}

function readOptions(options) {
  if (options === undefined || options === null) return { type: "text" };
  if (!isObject(options)) return { type: String(options) };
  const type = options.type === undefined ? "text" : String(options.type);
  return { type, cacheTtl: toInt(options.cacheTtl) };
}

function checkCacheTtl(ttl, operation) {
  if (ttl === undefined || ttl >= MIN_CACHE_TTL_S) return;
  throw refusal(
    operation, 400, `Invalid cache_ttl of ${ttl}. Cache TTL must be at least ${MIN_CACHE_TTL_S}.`,
  );
}

function converted(bytes, type) {
  switch (type) {
    case "arrayBuffer":
      return bytes.slice().buffer;
    case "stream":
      return new Response(bytes).body;
    case "json":
      return JSON.parse(new TextDecoder().decode(bytes));
    default:
      return new TextDecoder().decode(bytes);
  }
}

function expiryOf({ expirationTtl, expiration }) {
  const now = Math.trunc(Date.now() / 1000);
  const ttl = toInt(expirationTtl);
  if (ttl !== undefined) {
    const start = `Invalid expiration_ttl of ${ttl}. `;
    if (ttl <= 0) throw refusal("PUT", 400, `${start}Please specify integer greater than 0.`);
    if (ttl < MIN_TTL_S) {
      throw refusal("PUT", 400, `${start}Expiration TTL must be at least ${MIN_TTL_S}.`);
    }
    return now + ttl;
  }
  const at = toInt(expiration);
  if (at === undefined) return undefined;
  const start = `Invalid expiration of ${at}. `;
  if (at <= now) {
    throw refusal("PUT", 400, `${start}Please specify integer greater than the current number of seconds since the UNIX epoch.`);
  }
  if (at < now + MIN_TTL_S) {
    throw refusal("PUT", 400, `${start}Expiration times must be at least ${MIN_TTL_S} seconds in the future.`);
  }
  return at;
}

export class KvNamespace {
  #entries = new Map();

  async get(...args) {
    return this.#read("get", args, (entry, type) => (entry === undefined ? null : converted(entry.bytes, type)));
  }

  async getWithMetadata(...args) {
    return this.#read("getWithMetadata", args, (entry, type, many) => {
      if (many && entry === undefined) return null;
      const value = entry === undefined ? null : converted(entry.bytes, type);
      const metadata = entry?.metadata === undefined ? null : JSON.parse(entry.metadata);
      return many ? { value, metadata } : { value, metadata, cacheStatus: null };
    });
  }

  #read(method, args, answer) {
    const [key, options] = args;
    if (Array.isArray(key)) return this.#readMany(key, options, answer);
    const name = keyOf(key, method, args.length, "string or Array");
    const { type, cacheTtl } = readOptions(options);
    if (!TYPES.has(type)) {
      throw new TypeError(
        'Unknown response type. Possible types are "text", "arrayBuffer", "json", and "stream".',
      );
    }
    checkCacheTtl(cacheTtl, "GET");
    return answer(this.#entries.get(checkKey(name, "GET")), type, false);
  }

  #readMany(keys, options, answer) {
    const names = [...new Set(keys.map(String))];
    const { type } = readOptions(options);
    const refuse = (text) => { throw refusal("GET_BULK", 400, text); };
    if (type !== "text" && type !== "json") refuse(`"${type}" is not a valid type. Use "json" or "text"`);
    if (names.length === 0) refuse("You must request a minimum of 1 key");
    if (names.length > MAX_READ) refuse(`You can request a maximum of ${MAX_READ} keys`);
    if (names.includes("")) refuse("Key names must not be empty");
    try {
      return new Map(names.map((name) => [name, answer(this.#entries.get(name), type, true)]));
    } catch {
      return refuse("At least one of the requested keys corresponds to a non-json value");
    }
  }

  async put(...args) {
    const [key, value, given] = args;
    const name = keyOf(key, "put", args.length);
    if (args.length < 2) throw wrongType("put", CLASS, 2, "string or JsObject");
    const options = dictionary(given, { method: "put", cls: CLASS, position: 3, type: "PutOptions" });
    const metadata = options.metadata === undefined ? undefined : JSON.stringify(options.metadata);
    const bytes = await bytesOf(value);
    checkKey(name, "PUT");
    const expiration = expiryOf(options);
    const size = new TextEncoder().encode(metadata ?? "").length;
    if (size > MAX_METADATA_BYTES) {
      throw refusal("PUT", 413, `Metadata length of ${size} exceeds limit of ${MAX_METADATA_BYTES}.`);
    }
    this.#entries.set(name, { bytes, metadata: metadata === "null" ? undefined : metadata, expiration });
  }

  async delete(...args) {
    this.#entries.delete(checkKey(keyOf(args[0], "delete", args.length), "DELETE"));
  }

  async list(given) {
    const { prefix, limit, cursor } = dictionary(given, {
      method: "list", cls: CLASS, position: 1, type: "ListOptions",
    });
    const most = toInt(limit) ?? 0;
    if (most > MAX_LISTED) {
      throw refusal("GET", 400, `Invalid key_count_limit of ${most}. Please specify an integer less than ${MAX_LISTED}.`);
    }
    const start = cursor === undefined || cursor === null ? "" : atob(String(cursor));
    const names = [...this.#entries.keys()]
      .filter((name) => name.startsWith(prefix ?? "") && name > start)
      .sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
    const page = names.slice(0, most > 0 ? most : MAX_LISTED);
    const isComplete = page.length === names.length;
    const keys = page.map((name) => this.#listed(name));
    const rest = isComplete ? {} : { cursor: btoa(page.at(-1)) };
    return { keys, list_complete: isComplete, ...rest, cacheStatus: null };
  }

  #listed(name) {
    const { expiration, metadata } = this.#entries.get(name);
    return {
      name,
      ...(expiration === undefined ? {} : { expiration }),
      ...(metadata === undefined ? {} : { metadata: JSON.parse(metadata) }),
    };
  }
}
named(KvNamespace);
