// Which event runs now. Python knows for its own tasks; what JavaScript calls back by itself
// belongs to the event that asked for it.

import { AsyncLocalStorage } from "node:async_hooks";

const NONE = "";

export class Scopes {
  #storage = new AsyncLocalStorage();
  #python = () => NONE;

  /** `where()` gives "scope\nplace" of the running Python, or "" when none runs in an event. */
  set python(where) {
    this.#python = where;
  }

  /** "scope\nplace", for the host. */
  where = () => {
    const said = this.#python();
    return said === NONE || said.startsWith("\n") ? `${this.#storage.getStore() ?? NONE}${said || "\n"}` : said;
  };

  current() {
    return this.where().split("\n", 1)[0];
  }

  run(scope, action, ...args) {
    return this.#storage.run(scope, action, ...args);
  }
}
