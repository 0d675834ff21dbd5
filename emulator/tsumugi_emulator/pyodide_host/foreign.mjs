// What of this side the host holds: functions, Python objects, promises that go on here.

export class Foreign {
  #numbers = 0;
  #byId = new Map();
  #ids = new Map();

  /** The number of an object, the same as long as the host holds it. */
  hold(object) {
    const known = this.#ids.get(object);
    if (known !== undefined) {
      this.#byId.get(known).count += 1;
      return known;
    }
    const id = (this.#numbers += 1);
    this.#byId.set(id, { object, count: 1 });
    this.#ids.set(object, id);
    return id;
  }

  get(id) {
    return this.#byId.get(id)?.object;
  }

  /** The host let go of what it was given `count` times. */
  release(id, count) {
    const held = this.#byId.get(id);
    if (held === undefined) return;
    held.count -= count;
    if (held.count > 0) return;
    this.#byId.delete(id);
    this.#ids.delete(held.object);
  }
}
