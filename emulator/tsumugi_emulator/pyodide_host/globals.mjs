// The global scope a Worker sees, made of Node's own classes: only the names the Workers runtime
// has, in a scope object of the class the runtime gives it, with the runtime's error texts.

import { FixedLengthStream, IdentityTransformStream } from "./streams.mjs";

const NAMES = `
  Object Array Map Set WeakMap WeakSet Date JSON Math Promise Proxy Reflect Function
  String Number Boolean BigInt Symbol RegExp WeakRef Iterator
  Error TypeError RangeError SyntaxError EvalError ReferenceError URIError AggregateError
  ArrayBuffer SharedArrayBuffer DataView Int8Array Uint8Array Uint8ClampedArray Int16Array
  Uint16Array Int32Array Uint32Array Float32Array Float64Array BigInt64Array BigUint64Array Atomics
  Intl WebAssembly isNaN isFinite parseInt parseFloat NaN Infinity undefined
  encodeURIComponent decodeURIComponent encodeURI decodeURI escape unescape
  Request Response Headers FormData Blob File URL URLSearchParams URLPattern fetch
  ReadableStream WritableStream TransformStream TextEncoder TextDecoder TextEncoderStream
  TextDecoderStream CompressionStream DecompressionStream ByteLengthQueuingStrategy
  CountQueuingStrategy AbortController AbortSignal Event EventTarget CustomEvent MessageChannel
  CryptoKey SubtleCrypto crypto DOMException structuredClone queueMicrotask
  clearTimeout clearInterval atob btoa console performance
`.trim().split(/\s+/);

class ServiceWorkerGlobalScope {}

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
  #body;

  constructor(body, init) {
    const socket = init?.webSocket ?? null;
    if (socket !== null && body == null && Number(init.status) !== 101) {
      throw new RangeError("Responses with a WebSocket must have status code 101.");
    }
    super(body, checkedStatus(body, init));
    if (socket !== null) {
      fixed(this, "status", 101);
      fixed(this, "webSocket", socket);
    }
    this.#body = body;
  }

  get webSocket() {
    return null;
  }

  formData() {
    return formData(this, () => super.formData());
  }

  /** The body as it was given. */
  static given(response) {
    return #body in response ? response.#body : undefined;
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
const { given: givenResponse } = WorkersResponse;
delete WorkersResponse.given;

class WorkersRequest extends Request {
  #body;

  constructor(input, init) {
    if (typeof input === "string" && !URL.canParse(input)) {
      throw new TypeError(`Invalid URL: ${input}`);
    }
    if (init?.body != null && ["GET", "HEAD"].includes(init.method ?? input.method ?? "GET")) {
      throw new TypeError("Request with a GET or HEAD method cannot have a body.");
    }
    super(input, init?.body == null ? init : { duplex: "half", ...init });
    this.#body = init?.body;
    const cf = init?.cf ?? input?.cf;
    if (cf != null) fixed(this, "cf", cf);
  }

  get cf() {
    return undefined;
  }

  formData() {
    return formData(this, () => super.formData());
  }

  static given(request) {
    return #body in request ? request.#body : undefined;
  }
}
const { given: givenRequest } = WorkersRequest;
delete WorkersRequest.given;

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

function untouched(message, body) {
  if (message.bodyUsed || message.body?.locked) return undefined;
  if (typeof body === "string") return Buffer.from(body);
  if (body instanceof ArrayBuffer) return Buffer.from(body);
  if (!ArrayBuffer.isView(body)) return undefined;
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

function renamed(cls, name) {
  Object.defineProperty(cls, "name", { value: name });
  return cls;
}

function fixed(target, key, value) {
  Object.defineProperty(target, key, { value, configurable: true });
}

export function makeGlobals() {
  const scope = new ServiceWorkerGlobalScope();
  for (const name of NAMES) {
    if (name in globalThis) scope[name] = globalThis[name];
  }
  scope.Response = renamed(WorkersResponse, "Response");
  scope.Request = renamed(WorkersRequest, "Request");
  scope.Headers = renamed(WorkersHeaders, "Headers");
  scope.FormData = renamed(WorkersFormData, "FormData");
  scope.URL = renamed(WorkersURL, "URL");
  scope.atob = workersAtob;
  scope.IdentityTransformStream = IdentityTransformStream;
  scope.FixedLengthStream = FixedLengthStream;
  scope.self = scope;
  scope.globalThis = scope;
  // Timers are numbers in the Workers runtime, objects in Node.
  scope.setTimeout = function setTimeout(callback, delay, ...args) {
    return +globalThis.setTimeout(callback, delay, ...args);
  };
  scope.setInterval = function setInterval(callback, delay, ...args) {
    return +globalThis.setInterval(callback, delay, ...args);
  };
  return scope;
}

// -- What comes from outside ---------------------------------------------------------------------

function given(message) {
  return message instanceof WorkersResponse ? givenResponse(message) : givenRequest(message);
}

/** The bytes of a message's body, if they are at hand without waiting. */
export function wholeBody(message) {
  return untouched(message, given(message));
}

/** The stream that a message was made with, if it was one. */
export function givenStream(message) {
  const body = given(message);
  return body instanceof ReadableStream ? body : undefined;
}

/** A request as it came in: with a method and a body that `new Request` would refuse, too. */
export function receivedRequest(method, url, pairs, body, redirect, cf) {
  const made = new WorkersRequest(url, { method: "POST", headers: pairs, body, redirect });
  fixed(made, "method", method);
  if (cf !== null) fixed(made, "cf", cf);
  return made;
}

export function receivedResponse(status, statusText, pairs, body, { url, redirected, webSocket }) {
  const allowed = status >= 200 && status <= 599 ? status : 200;
  const content = NULL_BODY.includes(allowed) ? null : body;
  const made = new WorkersResponse(content, { status: allowed, statusText, headers: pairs });
  if (allowed !== status) fixed(made, "status", status);
  fixed(made, "url", url);
  fixed(made, "redirected", redirected);
  if (webSocket !== null) fixed(made, "webSocket", webSocket);
  return made;
}
