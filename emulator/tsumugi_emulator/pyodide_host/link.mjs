// The line to the host process (`pyodide_runtime` in Python): frames in order, both ways.
//
// Two sockets. Over the first, this process writes everything it says and reads the answers it
// blocks for; over the second come frames that nobody waits for. Knows no frame's meaning.

import fs from "node:fs";
import net from "node:net";

import { endProcess } from "./end.mjs";
import { graphOf, isContainer } from "./graphs.mjs";
import { Reader, Writer } from "./messagepack.mjs";

const LENGTH_BYTES = 4;
const READ_BYTES = 64 * 1024;
/** How long nothing may happen before the process looks whether anything still can. */
const IDLE_AFTER_MS = 20;
/** A larger frame is a bug, not a message. */
const MAX_FRAME_BYTES = 256 * 1024 * 1024;

class Frames {
  #held = Buffer.alloc(0);

  feed(data) {
    this.#held = this.#held.length === 0 ? Buffer.from(data) : Buffer.concat([this.#held, data]);
  }

  /** The next complete frame's body, or undefined. */
  next() {
    if (this.#held.length < LENGTH_BYTES) return undefined;
    const length = this.#held.readUInt32LE(0);
    if (length > MAX_FRAME_BYTES) throw new Error(`frame of ${length} bytes`);
    const end = LENGTH_BYTES + length;
    if (this.#held.length < end) return undefined;
    const body = this.#held.subarray(LENGTH_BYTES, end);
    this.#held = this.#held.subarray(end);
    return body;
  }
}

export class Link {
  #calls;
  #events;
  #answers = new Frames();
  #arriving = new Frames();
  #chunk = Buffer.allocUnsafe(READ_BYTES);
  #seen = 0;
  /** Set by whoever knows values: how they become extensions, and back. */
  special;
  restore;
  onFrame;
  /** Called with the number of frames that came when no code is runnable here. */
  onQuiet;
  /** As `onQuiet`, when nothing here will make any runnable either. */
  onIdle;
  #looking = false;
  #idleTimer;

  constructor(callsFd, eventsFd) {
    this.#calls = callsFd;
    this.#events = new net.Socket({ fd: eventsFd, readable: true, writable: false });
  }

  /** Begin to hear frames. */
  open() {
    this.#events.on("data", (data) => {
      clearTimeout(this.#idleTimer);
      this.#events.ref();
      this.#arriving.feed(data);
      for (let body; (body = this.#arriving.next()) !== undefined; ) {
        this.#seen += 1;
        this.onFrame(this.#decode(body));
      }
      this.#look();
    });
    for (const end of ["end", "error", "close"]) this.#events.on(end, endProcess);
    // Node itself knows best that nothing is left to wait for: it is about to end.
    process.on("beforeExit", () => {
      this.onIdle(this.#seen);
      this.#events.ref();
    });
    this.#look();
  }

  /** Tell when the callbacks that are due have run. */
  #look() {
    if (this.#looking) return;
    this.#looking = true;
    setImmediate(() => {
      this.#looking = false;
      // This callback itself is not counted any more.
      if (process.getActiveResourcesInfo().includes("Immediate")) {
        this.#look();
        return;
      }
      this.onQuiet(this.#seen);
      clearTimeout(this.#idleTimer);
      this.#idleTimer = setTimeout(() => this.#events.unref(), IDLE_AFTER_MS);
    });
  }

  say(frame) {
    const body = this.#encode(frame);
    const head = Buffer.allocUnsafe(LENGTH_BYTES);
    head.writeUInt32LE(body.length);
    const whole = Buffer.concat([head, body]);
    for (let at = 0; at < whole.length; ) at += fs.writeSync(this.#calls, whole, at);
  }

  /** Say something and block until a frame comes back. */
  ask(frame) {
    this.say(frame);
    return this.listen();
  }

  listen() {
    for (;;) {
      const body = this.#answers.next();
      if (body !== undefined) return this.#decode(body);
      const count = fs.readSync(this.#calls, this.#chunk, 0, READ_BYTES, null);
      if (count === 0) endProcess(); // the host is gone
      this.#answers.feed(this.#chunk.subarray(0, count));
    }
  }

  #encode(frame) {
    try {
      return Writer.bytes(frame, this.special);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      // A tree of it has no end, or is too deep: something in it contains itself.
      const parts = frame.map((part) => (isContainer(part) ? graphOf(part) : part));
      return Writer.bytes(parts, this.special);
    }
  }

  #decode(body) {
    return Reader.value(body, this.restore);
  }
}
