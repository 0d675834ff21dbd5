// What the Worker prints: whole lines, once, under its name, as the CPython child writes them.

import fs from "node:fs";

/** Longest run of text without a newline that is held back for its line's end. */
const MAX_HELD_CHARACTERS = 64 * 1024;
const PAUSE_MS = 1;
const PAUSE = new Int32Array(new SharedArrayBuffer(4));
const ERROR_LEVELS = new Set(["warn", "error", "trace"]);

class LineWriter {
  #descriptor;
  #held = "";
  /** Whether the beginning of the line has been written: it was too long to be held. */
  #withinLine = false;
  #decoder = new TextDecoder("utf-8");
  prefix = "";

  constructor(descriptor) {
    this.#descriptor = descriptor;
  }

  bytes(data) {
    this.write(this.#decoder.decode(data, { stream: true }));
  }

  write(text) {
    const whole = this.#held + text;
    const end = whole.lastIndexOf("\n");
    this.#held = whole.slice(end + 1);
    if (end >= 0) this.#emit(whole.slice(0, end), "\n");
    if (this.#held.length > MAX_HELD_CHARACTERS) {
      this.#emit(this.#held, "");
      this.#held = "";
    }
  }

  /** End the line that has begun, and show it. */
  flush() {
    if (this.#held !== "" || this.#withinLine) this.#emit(this.#held, "\n");
    this.#held = "";
  }

  #emit(text, end) {
    const first = this.#withinLine ? "" : this.prefix;
    this.#withinLine = end === "";
    const data = Buffer.from(first + text.replaceAll("\n", () => `\n${this.prefix}`) + end);
    writeAll(this.#descriptor, data);
  }
}

function writeAll(descriptor, data) {
  for (let at = 0; at < data.length; ) {
    try {
      at += fs.writeSync(descriptor, data, at);
    } catch (error) {
      if (error.code !== "EAGAIN") return; // the terminal is gone; the Worker goes on
      // Whoever shares the descriptor does not want to block: wait until it is read from.
      Atomics.wait(PAUSE, 0, 0, PAUSE_MS);
    }
  }
}

export class Output {
  #out = new LineWriter(1);
  #error = new LineWriter(2);

  set prefix(prefix) {
    this.#out.prefix = prefix;
    this.#error.prefix = prefix;
  }

  /** Route Python's streams through here. */
  capture(pyodide) {
    for (const [set, writer] of [["setStdout", this.#out], ["setStderr", this.#error]]) {
      pyodide[set]({
        write: (data) => {
          writer.bytes(data);
          return data.length;
        },
        isatty: false,
      });
    }
    pyodide.setStdin({ stdin: () => null });
  }

  console = (level, text) => {
    (ERROR_LEVELS.has(level) ? this.#error : this.#out).write(`${text}\n`);
  };

  flush() {
    this.#out.flush();
    this.#error.flush();
  }
}
