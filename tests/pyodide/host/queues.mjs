// The queue classes of the Workers runtime: names, error texts and rules of precedence are its own,
// the service behind them only remembers what it was given.

import { deserialize, serialize as cloned } from "./clone.mjs";
import { isObject, named, options as optionsParameter, toInt } from "./idl.mjs";

const CONTENT_TYPES = new Set(["text", "bytes", "json", "v8"]);

const METRICS = () => ({
  metadata: {
    metrics: {
      backlogCount: 2,
      backlogBytes: 34,
      oldestMessageTimestamp: new Date("2026-01-02T03:04:05.678Z"),
    },
  },
});

function contentTypeOf(value, { fallback, ignoreCase }) {
  if (value === undefined) return fallback;
  const text = String(value);
  const folded = ignoreCase ? text.toLowerCase() : text;
  if (!CONTENT_TYPES.has(folded)) {
    throw new TypeError(`Unsupported queue message content type: ${text}`);
  }
  return folded;
}

// What is kept of a body, and what a consumer gets of it: { text, received }.
function serialize(body, contentType, { prefix, describe }) {
  switch (contentType) {
    case "text":
      if (typeof body !== "string") {
        throw new TypeError(
          `Content Type "text" requires a value of type string, but received: ${typeof body}`,
        );
      }
      return keptText(Buffer.from(body).toString()); // half a character is lost
    case "bytes":
      if (!ArrayBuffer.isView(body)) {
        throw new TypeError(
          `Content Type "bytes" requires a value of type ArrayBufferView, but received: ${typeof body}`,
        );
      }
      return keptBytes(Buffer.from(body.buffer, body.byteOffset, body.byteLength));
    case "json": {
      const text = JSON.stringify(body);
      if (text === undefined) throw new Error(`${prefix}: Internal Server Error`);
      return { text, received: JSON.parse(text) };
    }
    default:
      return keptClone(cloned(body), describe);
  }
}

function keptText(text) {
  return { text, received: text };
}

function keptBytes(bytes) {
  return { text: bytes.toString("hex"), received: new Uint8Array(bytes).buffer };
}

function keptClone(bytes, describe) {
  const received = deserialize(bytes);
  return { text: describe(received), received };
}

export function makeQueueClasses({ log, warn, describe }) {
  const sent = [];

  class WorkerQueue {
    async send(body, options) {
      if (arguments.length < 1) {
        throw new TypeError(
          "Failed to execute 'send' on 'WorkerQueue': parameter 1 is not of type 'JsValue'.",
        );
      }
      const settings = optionsParameter(options, {
        method: "send", cls: "WorkerQueue", position: 2, type: "SendOptions",
      });
      const wanted = settings.contentType;
      const delay = toInt(settings.delaySeconds);
      if (body === undefined) throw new TypeError("Message body cannot be undefined");
      const contentType = contentTypeOf(wanted, { fallback: "json", ignoreCase: true });
      const payload = serialize(body, contentType, { prefix: "Queue send failed", describe });
      await undefined; // it leaves after the call has returned
      sent.push(payload.received);
      log.add(`sent ${contentType} ${payload.text}${delayed(delay)}`);
      return METRICS();
    }

    async sendBatch(messages, options) {
      if (!isObject(messages) || typeof messages[Symbol.iterator] !== "function") {
        throw new TypeError(
          "Failed to execute 'sendBatch' on 'WorkerQueue': parameter 1 is not of type 'Sequence'.",
        );
      }
      const items = [...messages].map((message) => {
        if (!isObject(message)) {
          throw new TypeError(
            "Incorrect type: the provided value is not of type 'MessageSendRequest'.",
          );
        }
        return {
          body: message.body,
          contentType: message.contentType,
          delay: toInt(message.delaySeconds),
        };
      });
      const settings = optionsParameter(options, {
        method: "sendBatch", cls: "WorkerQueue", position: 2, type: "SendBatchOptions",
      });
      const batchDelay = toInt(settings.delaySeconds);
      if (items.length === 0) throw new TypeError("sendBatch() requires at least one message");
      const parts = items.map(({ body, contentType: wanted, delay }) => {
        if (body === undefined) throw new TypeError("Message body cannot be undefined");
        const contentType = contentTypeOf(wanted, { fallback: "json", ignoreCase: false });
        const payload = serialize(body, contentType, { prefix: "Queue sendBatch failed", describe });
        return { ...payload, text: `${contentType} ${payload.text}${delayed(delay)}` };
      });
      await undefined;
      sent.push(...parts.map(({ received }) => received));
      const texts = parts.map(({ text }) => text);
      log.add(`sent ${texts.join("; ")}${batchDelay === undefined ? "" : ` all${delayed(batchDelay)}`}`);
      return METRICS();
    }

    async metrics() {
      log.add("metrics");
      return METRICS().metadata.metrics;
    }
  }

  function delayed(seconds) {
    return seconds === undefined ? "" : ` delay ${seconds}`;
  }

  function retryOptions(cls, method, options) {
    const settings = optionsParameter(options, {
      method, cls, position: 1, type: "QueueRetryOptions",
    });
    return toInt(settings.delaySeconds);
  }

  function readOnly(target, values) {
    for (const [key, value] of Object.entries(values)) {
      Object.defineProperty(target, key, { value, enumerable: true, configurable: true });
    }
  }

  class QueueMessage {
    #state;

    constructor({ id, timestamp, body, attempts }, state) {
      this.#state = state;
      readOnly(this, { id, timestamp, body, attempts });
    }

    retry(options) {
      const state = this.#state;
      const delaySeconds = retryOptions("QueueMessage", "retry", options);
      for (const call of ["ackAll", "ack"]) {
        if (call === "ackAll" ? !state.ackAll : !state.explicitAcks.has(this.id)) continue;
        warn(ineffective({ call: "retry", id: this.id, after: call }));
        return;
      }
      state.retryMessages.set(this.id, delaySeconds);
    }

    ack() {
      const state = this.#state;
      if (state.ackAll) return;
      for (const call of ["retryAll", "retry"]) {
        if (call === "retryAll" ? !state.retryBatch.retry : !state.retryMessages.has(this.id)) continue;
        warn(ineffective({ call: "ack", id: this.id, after: call }));
        return;
      }
      state.explicitAcks.add(this.id);
    }
  }

  function ineffective({ call, id, after }) {
    const which = id === undefined ? "" : ` on message ${id}`;
    const any = id === undefined ? "" : " on a message";
    return (
      `Received a call to ${call}()${which} after ${after}() was already called. ` +
      `Calling ${call}()${any} after calling ${after}() has no effect.`
    );
  }

  class QueueController {
    #state;

    constructor({ queue, messages, metadata }) {
      this.#state = {
        ackAll: false,
        retryBatch: { retry: false, delaySeconds: undefined },
        explicitAcks: new Set(),
        retryMessages: new Map(),
      };
      readOnly(this, {
        metadata,
        queue,
        messages: messages.map((message) => new QueueMessage(message, this.#state)),
      });
    }

    retryAll(options) {
      const state = this.#state;
      const delaySeconds = retryOptions("QueueController", "retryAll", options);
      if (state.ackAll) {
        warn(ineffective({ call: "retryAll", after: "ackAll" }));
        return;
      }
      state.retryBatch.retry = true;
      if (delaySeconds !== undefined) state.retryBatch.delaySeconds = delaySeconds;
    }

    ackAll() {
      const state = this.#state;
      if (state.retryBatch.retry) {
        warn(ineffective({ call: "ackAll", after: "retryAll" }));
        return;
      }
      state.ackAll = true;
    }

    // What the runtime reports to the queue service; not visible to the worker.
    static resultOf(controller) {
      const { ackAll, retryBatch, explicitAcks, retryMessages } = controller.#state;
      return {
        ackAll,
        retryAll: retryBatch.retry,
        retryAllDelay: retryBatch.delaySeconds ?? null,
        acks: [...explicitAcks],
        retries: [...retryMessages].map(([id, delay]) => [id, delay ?? null]),
      };
    }
  }

  const { resultOf } = QueueController;
  delete QueueController.resultOf;
  return {
    WorkerQueue: named(WorkerQueue, "WorkerQueue"),
    QueueController: named(QueueController, "QueueController"),
    QueueMessage: named(QueueMessage, "QueueMessage"),
    resultOf,
    // Bodies that were sent, as a consumer gets them.
    takeSent: () => sent.splice(0),
  };
}
