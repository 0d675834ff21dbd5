// Structured clones as the runtime makes them: the bytes that storage and queues keep.

import v8 from "node:v8";

import { cloneError, runtimeClass } from "./idl.mjs";

// What can be cloned for a call only, and how the refusal to store it reads.
const ONLY_FOR_CALLS = new Map([
  ["DurableObject", "ServiceStub cannot be serialized in this context."],
  ["Fetcher", "ServiceStub cannot be serialized in this context."],
  ["ReadableStream", "ReadableStream can only be serialized for RPC."],
  ["Response", "ReadableStream can only be serialized for RPC."],
]);

export function serialize(value) {
  refuseObjects(value, new Set());
  try {
    return v8.serialize(value);
  } catch (error) {
    throw error.name === "Error" && /could not be cloned/.test(error.message)
      ? cloneError(inTheRuntimesWords(error.message))
      : error;
  }
}

export function deserialize(bytes) {
  return v8.deserialize(bytes);
}

// Proxies of Python's objects, which Node names by what they are proxies of.
export function inTheRuntimesWords(text) {
  return text
    .replace(/^#<Object>/, "[object Object]")
    .replace(/^function\(\)\{\}/, "function() {\n        }"); // not minified there
}

export function unserializable(name) {
  return cloneError(
    `Could not serialize object of type "${name}". This type does not support serialization.`,
  );
}

// Objects of the runtime are plain data to Node: find them first.
function refuseObjects(value, seen) {
  if (typeof value !== "object" || value === null || seen.has(value)) return;
  seen.add(value);
  const name = runtimeClass(value);
  if (name !== undefined) {
    const text = ONLY_FOR_CALLS.get(name);
    throw text === undefined ? unserializable(name) : cloneError(text);
  }
  if (value instanceof Map) {
    for (const [key, item] of value) [key, item].forEach((part) => refuseObjects(part, seen));
  } else if (value instanceof Set) {
    for (const item of value) refuseObjects(item, seen);
  } else if (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype) {
    for (const item of Object.values(value)) refuseObjects(item, seen);
  }
}
