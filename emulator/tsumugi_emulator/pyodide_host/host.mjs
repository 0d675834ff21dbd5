// What this process asks of its host, and what the host asks of it.
//
// A call of a host object blocks until it is answered: JavaScript's methods answer at once, with a
// promise where they have to wait. While it blocks, the host may call back. Not here: values.

import { HEAR, SAY } from "./protocol.mjs";

/** What `invoke` gives when the answer follows in a frame of its own. */
export const LATER = Symbol("later");

export class Host {
  #link;
  #where;
  #invoke;
  #promises = new Map();

  /**
   * `where()` tells the event and the line of Python that is running; `invoke(frame)` runs what the
   * host asks for and answers at once, or with a promise.
   */
  constructor(link, { where, invoke }) {
    this.#link = link;
    this.#where = where;
    this.#invoke = invoke;
  }

  /** Ask and wait for the answer. Throws what the host throws. */
  ask(operation, target, name, args) {
    let frame = this.#link.ask([SAY.CALL, this.#where(), operation, target, name, args]);
    while (frame[0] === HEAR.INVOKE) {
      this.#answerNow(frame);
      frame = this.#link.listen();
    }
    const [, ok, value] = frame;
    if (ok) return value;
    throw value;
  }

  /** The host waits for this one: an answer that is a promise goes out as one. */
  #answerNow(frame) {
    const id = frame[1];
    try {
      this.#link.say([SAY.RESULT, id, true, this.#invoke(frame)]);
    } catch (error) {
      this.#link.say([SAY.RESULT, id, false, error]);
    }
  }

  /** Nobody waits: a promise is answered with what it becomes. */
  answer(frame) {
    const id = frame[1];
    const answer = (ok) => (value) => {
      try {
        this.#link.say([SAY.RESULT, id, ok, value]);
      } catch (error) {
        this.#link.say([SAY.RESULT, id, false, error]); // the value cannot cross
      }
    };
    try {
      const result = this.#invoke(frame);
      if (result === LATER) return;
      if (result instanceof Promise) result.then(answer(true), answer(false));
      else answer(true)(result);
    } catch (error) {
      answer(false)(error);
    }
  }

  // -- Promises of the host ----------------------------------------------------------------------

  promise(id) {
    return new Promise((resolve, reject) => this.#promises.set(id, { resolve, reject }));
  }

  settle(id, ok, value) {
    const waiting = this.#promises.get(id);
    this.#promises.delete(id);
    if (ok) waiting?.resolve(value);
    else waiting?.reject(value);
  }
}
