// The global scope a Worker sees, made of Node's own classes: only the names the Workers runtime
// has, in a scope object of the class the runtime gives it.

import { known } from "./idl.mjs";
import {
  WebSocket, WebSocketPair, WebSocketRequestResponsePair, released,
} from "./sockets.mjs";

const NAMES = `
  Object Array Map Set WeakMap WeakSet Date JSON Math Promise Proxy Reflect Function
  String Number Boolean BigInt Symbol RegExp WeakRef Iterator
  Error TypeError RangeError SyntaxError EvalError ReferenceError URIError AggregateError
  ArrayBuffer SharedArrayBuffer DataView Int8Array Uint8Array Uint8ClampedArray Int16Array
  Uint16Array Int32Array Uint32Array Float32Array Float64Array BigInt64Array BigUint64Array Atomics
  Intl WebAssembly isNaN isFinite parseInt parseFloat NaN Infinity undefined
  encodeURIComponent decodeURIComponent encodeURI decodeURI escape unescape
  Request Response Headers FormData Blob File URL URLSearchParams fetch
  ReadableStream WritableStream TransformStream TextEncoder TextDecoder TextEncoderStream
  TextDecoderStream CompressionStream DecompressionStream ByteLengthQueuingStrategy
  CountQueuingStrategy AbortController AbortSignal Event EventTarget MessageChannel
  CryptoKey SubtleCrypto crypto DOMException structuredClone queueMicrotask
  clearTimeout clearInterval atob btoa console performance
`.trim().split(/\s+/);

class ServiceWorkerGlobalScope {}

// Objects of the runtime that Node has classes of its own for.
const NODE_CLASSES = [
  Response, Request, Headers, FormData, URL, URLSearchParams, Blob, File, ReadableStream,
  WritableStream, TransformStream, AbortController, AbortSignal, TextEncoder, TextDecoder,
];

// The texts of the Workers runtime, where Node's say the same thing in other words.
const NULL_BODY = [101, 204, 205, 304];
const FORM_TYPES = /^(multipart\/form-data|application\/x-www-form-urlencoded)\b/;

class WorkersHeaders extends Headers {
  constructor(init) {
    rephrased(() => super(init));
  }

  append(name, value) {
    return rephrased(() => super.append(name, value));
  }

  set(name, value) {
    return rephrased(() => super.set(name, value));
  }
}

class WorkersResponse extends Response {
  #webSocket = null;

  constructor(body, init) {
    const socket = init?.webSocket ?? null;
    if (socket !== null && body == null && init.status !== 101) {
      throw new RangeError("Responses with a WebSocket must have status code 101.");
    }
    super(body, checkedStatus(body, init));
    if (socket === null) return;
    this.#webSocket = socket;
    Object.defineProperty(this, "status", { value: 101 });
  }

  get webSocket() {
    return this.#webSocket;
  }

  // The same response on the other side of a call: its connection is another socket there.
  static handedOver(response) {
    if (response.#webSocket !== null) response.#webSocket = released(response.#webSocket);
    return response;
  }

  formData() {
    return formData(this, () => super.formData());
  }

  static redirect(url, status = 302) {
    if (![301, 302, 303, 307, 308].includes(Number(status))) {
      throw new RangeError(
        `${status} is not a redirect status code. It must be one of: 301, 302, 303, 307, or 308.`,
      );
    }
    if (!URL.canParse(url)) throw new TypeError(`Unable to parse URL: ${url}`);
    return super.redirect(url, status);
  }
}

class WorkersRequest extends Request {
  constructor(input, init) {
    if (typeof input === "string" && !URL.canParse(input)) {
      throw new TypeError(`Invalid URL: ${input}`);
    }
    if (init?.body != null && ["GET", "HEAD"].includes(init.method ?? input.method ?? "GET")) {
      throw new TypeError("Request with a GET or HEAD method cannot have a body.");
    }
    super(input, init?.body == null ? init : { duplex: "half", ...init });
  }

  get cf() {
    return undefined;
  }

  formData() {
    return formData(this, () => super.formData());
  }
}

class WorkersFormData extends FormData {
  append(name, value, filename) {
    return filename === undefined ? super.append(name, value) : super.append(name, value, filename);
  }
}

class WorkersURL extends URL {
  constructor(url, base) {
    if (!URL.canParse(url, base)) throw new TypeError("Invalid URL string.");
    super(url, base);
  }
}

function workersAtob(text) {
  try {
    return atob(text);
  } catch {
    throw new DOMException(
      "atob() called with invalid base64-encoded data. (Only whitespace, '+', '/', alphanumeric " +
        "ASCII, and up to two terminal '=' signs when the input data length is divisible by 4 are " +
        "allowed.)",
      "InvalidCharacterError",
    );
  }
}

function rephrased(action) {
  try {
    return action();
  } catch (error) {
    const found = /is an invalid header (name|value)/.exec(error.message);
    if (found === null) throw error;
    throw new TypeError(`Invalid header ${found[1]}.`);
  }
}

async function formData(message, parse) {
  const type = message.headers.get("content-type");
  if (type === null) throw new TypeError("Parsing a Body as FormData requires a Content-Type header.");
  if (!FORM_TYPES.test(type)) {
    throw new TypeError(
      "Unrecognized Content-Type header value. FormData can only parse the following MIME types: " +
        "multipart/form-data, application/x-www-form-urlencoded",
    );
  }
  return parse();
}

function checkedStatus(body, init) {
  const status = init?.status;
  if (body != null && NULL_BODY.includes(Number(status))) {
    throw new TypeError(
      "Response with null body status (101, 204, 205, or 304) cannot have a body.",
    );
  }
  if (init?.webSocket != null) return { ...init, status: 200 }; // Node has no 101
  if (status !== undefined && !(Number(status) >= 200 && Number(status) <= 599)) {
    throw new RangeError(
      "Responses may only be constructed with status codes in the range 200 to 599, inclusive.",
    );
  }
  return init;
}

function renamed(cls, name) {
  Object.defineProperty(cls, "name", { value: name });
  return cls;
}

export function makeGlobals() {
  const scope = new ServiceWorkerGlobalScope();
  for (const name of NAMES) {
    if (name in globalThis) scope[name] = globalThis[name];
  }
  scope.Response = renamed(WorkersResponse, "Response");
  const { handedOver } = WorkersResponse;
  delete WorkersResponse.handedOver;
  scope.Request = renamed(WorkersRequest, "Request");
  scope.Headers = renamed(WorkersHeaders, "Headers");
  scope.FormData = renamed(WorkersFormData, "FormData");
  scope.URL = renamed(WorkersURL, "URL");
  for (const cls of ["Response", "Request", "Headers", "FormData", "URL"]) known(scope[cls]);
  for (const cls of NODE_CLASSES) known(cls);
  Object.assign(scope, { WebSocket, WebSocketPair, WebSocketRequestResponsePair });
  scope.atob = workersAtob;
  scope.self = scope;
  scope.globalThis = scope;
  // Timers are numbers in the Workers runtime, objects in Node.
  scope.setTimeout = function setTimeout(callback, delay, ...args) {
    return +globalThis.setTimeout(callback, delay, ...args);
  };
  scope.setInterval = function setInterval(callback, delay, ...args) {
    return +globalThis.setInterval(callback, delay, ...args);
  };
  return { scope, handedOver };
}
