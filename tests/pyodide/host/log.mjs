// Every call that reached the JavaScript side, in order, until the recorder takes them.

export class CallLog {
  #entries = [];

  add(text) {
    this.#entries.push(text);
  }

  take() {
    return this.#entries.splice(0);
  }
}
