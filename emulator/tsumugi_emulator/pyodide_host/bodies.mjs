// Requests, responses and streams on their way to the host and back. A body that is a stream is
// read by whoever holds it, chunk by chunk, as it is wanted.

import { Extension } from "./messagepack.mjs";
import { VALUE } from "./protocol.mjs";
import { lengthOf } from "./streams.mjs";

export class Bodies {
  #host;
  #scope;
  #numbers = 0;
  #readers = new Map();
  /** Numbers of streams the host has: a request and its options may name the same one. */
  #given = new WeakMap();

  /** `scope` is the Workers' global scope, whose classes these are. */
  constructor(scope) {
    this.#scope = scope;
  }

  set host(host) {
    this.#host = host;
  }

  // -- Out ---------------------------------------------------------------------------------------

  pack(value) {
    const { Request, Response, Headers, URL, Blob } = this.#scope;
    if (value instanceof ReadableStream) return this.#stream(value, lengthOf(value));
    if (value instanceof Response) return new Extension(VALUE.RESPONSE, this.#response(value));
    if (value instanceof Request) return new Extension(VALUE.REQUEST, this.#request(value));
    if (value instanceof Blob) return this.#stream(value.stream(), value.size);
    if (value instanceof Headers) return [...value];
    if (value instanceof URL) return value.href;
    return undefined;
  }

  #request(value) {
    const head = [value.method, value.url, [...value.headers], value.redirect];
    return [...head, value.cf ?? null, this.#body(value)];
  }

  #response(value) {
    const head = [value.status, value.statusText, [...value.headers]];
    return [...head, this.#body(value), value.webSocket ?? null];
  }

  #body(message) {
    const whole = this.#scope.wholeBody(message);
    if (whole !== undefined) return whole;
    const given = this.#scope.givenStream(message) ?? message.body;
    return given === null ? null : this.#stream(message.body, lengthOf(given));
  }

  #stream(stream, length) {
    const known = this.#given.get(stream);
    if (known !== undefined) return new Extension(VALUE.STREAM, [known, length]);
    const id = (this.#numbers += 1);
    this.#given.set(stream, id);
    this.#readers.set(id, stream.getReader());
    return new Extension(VALUE.STREAM, [id, length]);
  }

  /** The next chunk of a stream that the host has, or null at its end. */
  async pull(id) {
    const { done, value } = await this.#readers.get(id).read();
    if (done) {
      this.#readers.delete(id);
      return null;
    }
    if (typeof value === "string") return Buffer.from(value);
    if (value instanceof ArrayBuffer) return Buffer.from(value);
    if (!ArrayBuffer.isView(value)) {
      throw new TypeError(
        "This TransformStream is being used as a byte stream, but received an object of " +
          "non-ArrayBuffer/ArrayBufferView/string type on its writable side.",
      );
    }
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }

  cancel(id, reason) {
    const reader = this.#readers.get(id);
    this.#readers.delete(id);
    return reader?.cancel(new Error(reason));
  }

  // -- In ----------------------------------------------------------------------------------------

  restore(code, content) {
    switch (code) {
      case VALUE.STREAM: return this.#received(...content);
      case VALUE.REQUEST: return this.#scope.receivedRequest(...content);
      case VALUE.RESPONSE: return this.#scope.receivedResponse(...content);
      default: throw new Error(`no value has the code ${code}`);
    }
  }

  #received(id) {
    const host = this.#host;
    return new ReadableStream({
      type: "bytes",
      async pull(controller) {
        const chunk = await host.ask("pull", id, "", []);
        if (chunk === null) {
          controller.close();
          controller.byobRequest?.respond(0);
        } else {
          controller.enqueue(Uint8Array.from(chunk));
        }
      },
      cancel(reason) {
        return host.ask("drop", id, "", [String(reason?.message ?? reason ?? "")]);
      },
    });
  }
}
