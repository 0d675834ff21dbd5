// What the Worker prints: whole lines, once, under its name, as the CPython child writes them.

import fs from "node:fs";

/** Longest run of text without a newline that is held back for its line's end. */
const MAX_HELD_CHARACTERS = 64 * 1024;
const ERROR_LEVELS = new Set(["warn", "error", "trace"]);

class LineWriter {
  #descriptor;
  #held = "";
  #decoder = new TextDecoder("utf-8");
  prefix = "";

  constructor(descriptor) {
    this.#descriptor = descriptor;
  }

  bytes(data) {
    this.write(this.#decoder.decode(data, { stream: true }));
  }

  write(text) {
    const lines = (this.#held + text).split("\n");
    this.#held = lines.pop();
    if (lines.length > 0) this.#emit(lines);
    if (this.#held.length > MAX_HELD_CHARACTERS) this.flush();
  }

  /** Write what is held although its line has not ended. */
  flush() {
    if (this.#held !== "") this.#emit([this.#held]);
    this.#held = "";
  }

  #emit(lines) {
    const data = Buffer.from(lines.map((line) => `${this.prefix}${line}\n`).join(""));
    try {
      for (let at = 0; at < data.length; ) at += fs.writeSync(this.#descriptor, data, at);
    } catch {
      // the terminal is gone; the Worker goes on
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
