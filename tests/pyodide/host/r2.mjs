// `env.R2`: a bucket in memory, as far as whole objects, ranges, conditions and listings go.

import { createHash, randomUUID } from "node:crypto";

import { isObject, named, readOnly, wrongType } from "./idl.mjs";

const CLASS = "R2Bucket";
const VALUE_TYPES = "ReadableStream or ArrayBuffer or ArrayBufferView or string or Blob";
const MAX_LISTED = 1000;
const HEADERS = {
  cacheControl: "cache-control", contentDisposition: "content-disposition",
  contentEncoding: "content-encoding", contentLanguage: "content-language",
  contentType: "content-type",
};

async function bytesOf(value) {
  if (value === null) return new Uint8Array();
  const isBytes = value instanceof ArrayBuffer || ArrayBuffer.isView(value);
  const isBody = value instanceof ReadableStream || value instanceof Blob;
  if (typeof value !== "string" && !isBytes && !isBody) {
    throw wrongType("put", CLASS, 2, VALUE_TYPES);
  }
  return new Uint8Array(await new Response(value).arrayBuffer());
}

function httpMetadataOf(value) {
  if (value === undefined) return {};
  if (!(value instanceof Headers)) return { ...value };
  const found = Object.entries(HEADERS).map(([name, header]) => [name, value.get(header)]);
  return Object.fromEntries(found.filter(([, text]) => text !== null));
}


class Checksums {}

export class HeadResult {
  constructor(stored, range) {
    readOnly(this, {
      ssecKeyMd5: undefined, storageClass: "Standard", range, customMetadata: stored.customMetadata,
      httpMetadata: stored.httpMetadata, uploaded: stored.uploaded, checksums: new Checksums(),
      httpEtag: `"${stored.etag}"`, etag: stored.etag, size: stored.bytes.length,
      version: stored.version, key: stored.key,
    });
  }

  writeHttpMetadata(headers) {
    for (const [name, text] of Object.entries(this.httpMetadata)) headers.set(HEADERS[name], text);
  }
}

class GetResult extends HeadResult {
  #response;

  constructor(stored, range) {
    super(stored, range);
    const { offset, length } = range;
    this.#response = new Response(stored.bytes.slice(offset, offset + length));
  }

  get body() {
    return this.#response.body;
  }

  get bodyUsed() {
    return this.#response.bodyUsed;
  }

  async #read(method) {
    if (this.#response.bodyUsed) {
      throw new TypeError(
        "Body has already been used. It can only be used once. Use tee() first if you need to read it twice.",
      );
    }
    return this.#response[method]();
  }

  text() {
    return this.#read("text");
  }

  json() {
    return this.#read("json");
  }

  arrayBuffer() {
    return this.#read("arrayBuffer");
  }

  blob() {
    return this.#read("blob");
  }

  async bytes() {
    return new Uint8Array(await this.#read("arrayBuffer"));
  }
}

function rangeOf(range, size) {
  if (range === undefined) return { offset: 0, length: size };
  const { offset = 0, length = size - offset, suffix } = range;
  if (suffix !== undefined) return { offset: Math.max(0, size - suffix), length: Math.min(suffix, size) };
  if (offset >= size) throw new Error("get: The requested range is not satisfiable (10039)");
  return { offset, length: Math.min(length, size - offset) };
}

function holds({ etagMatches, etagDoesNotMatch } = {}, stored) {
  if (etagMatches !== undefined && etagMatches !== stored?.etag) return false;
  return etagDoesNotMatch === undefined || etagDoesNotMatch !== stored?.etag;
}

function keyOf(key, method) {
  if (key === undefined) throw wrongType(method, CLASS, 1, "string");
  return String(key);
}

export class R2Bucket {
  #stored = new Map();

  async put(key, value, options = {}) {
    const name = keyOf(key, "put");
    if (value === undefined) throw wrongType("put", CLASS, 2, VALUE_TYPES);
    const bytes = await bytesOf(value);
    if (!holds(options.onlyIf, this.#stored.get(name))) return null;
    const stored = {
      key: name,
      bytes,
      version: randomUUID(),
      uploaded: new Date(),
      etag: createHash("md5").update(bytes).digest("hex"),
      httpMetadata: httpMetadataOf(options.httpMetadata),
      customMetadata: { ...options.customMetadata },
    };
    this.#stored.set(name, stored);
    return new HeadResult(stored, undefined);
  }

  async head(key) {
    const stored = this.#stored.get(keyOf(key, "head"));
    return stored === undefined ? null : new HeadResult(stored, rangeOf(undefined, stored.bytes.length));
  }

  async get(key, options = {}) {
    const stored = this.#stored.get(keyOf(key, "get"));
    if (stored === undefined) return null;
    const whole = rangeOf(undefined, stored.bytes.length);
    if (!holds(options.onlyIf, stored)) return new HeadResult(stored, whole);
    return new GetResult(stored, rangeOf(options.range, stored.bytes.length));
  }

  async delete(keys) {
    if (keys === undefined) throw wrongType("delete", CLASS, 1, "string or Array");
    for (const key of Array.isArray(keys) ? keys : [keys]) this.#stored.delete(String(key));
  }

  async list(options = {}) {
    const { prefix = "", limit = MAX_LISTED, cursor, delimiter, include } = isObject(options) ? options : {};
    const start = cursor === undefined ? "" : atob(cursor);
    const names = [...this.#stored.keys()].sort().filter((name) => name.startsWith(prefix) && name > start);
    const page = names.slice(0, limit);
    const prefixes = new Set();
    const objects = [];
    for (const name of page) {
      const end = delimiter === undefined ? -1 : name.indexOf(delimiter, prefix.length);
      if (end >= 0) prefixes.add(name.slice(0, end + delimiter.length));
      else objects.push(this.#listed(name, include ?? []));
    }
    const truncated = page.length < names.length;
    const rest = truncated ? { cursor: btoa(page.at(-1)) } : {};
    return { objects, truncated, ...rest, delimitedPrefixes: [...prefixes] };
  }

  #listed(name, include) {
    const stored = this.#stored.get(name);
    const kept = (kind) => (include.includes(kind) ? stored[kind] : {});
    const shown = { httpMetadata: kept("httpMetadata"), customMetadata: kept("customMetadata") };
    return new HeadResult({ ...stored, ...shown }, undefined);
  }
}

for (const cls of [R2Bucket, HeadResult, GetResult, Checksums]) named(cls);
