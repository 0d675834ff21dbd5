// Values that contain themselves: their objects in a list, each other by number.
// The twin of `pyodide_runtime/graphs.py`.

import { Extension } from "./messagepack.mjs";
import { VALUE } from "./protocol.mjs";

/** Stands for an object of the graph until all are made. */
export class Reference {
  constructor(index) {
    this.index = index;
  }
}

/** The graph of an array or object; whatever else it holds is left as it is. */
export function graphOf(root) {
  const indices = new Map([[root, 0]]);
  const waiting = [root];
  const refer = (value) => {
    if (!isContainer(value)) return value;
    if (!indices.has(value)) {
      indices.set(value, indices.size);
      waiting.push(value);
    }
    return new Extension(VALUE.REFERENCE, indices.get(value));
  };
  const nodes = [];
  for (const value of waiting) nodes.push(node(value, refer)); // it grows meanwhile
  return new Extension(VALUE.GRAPH, nodes);
}

export function isContainer(value) {
  if (typeof value !== "object" || value === null) return false;
  return Array.isArray(value) || [Object.prototype, Map.prototype, Set.prototype, null]
    .includes(Object.getPrototypeOf(value));
}

function node(value, refer) {
  if (Array.isArray(value)) return ["array", Array.from(value, refer)];
  if (value instanceof Map) return ["map", Array.from(value, (pair) => pair.map(refer))];
  if (value instanceof Set) return ["set", Array.from(value, refer)];
  return ["object", Object.entries(value).map(([key, item]) => [key, refer(item)])];
}

const SHELLS = { array: () => [], map: () => new Map(), set: () => new Set(), object: () => ({}) };

export function restoredGraph(nodes) {
  const made = nodes.map(([kind]) => SHELLS[kind]());
  const real = (value) => (value instanceof Reference ? made[value.index] : value);
  nodes.forEach(([kind, items], index) => {
    const shell = made[index];
    if (kind === "array") shell.push(...items.map(real));
    else if (kind === "set") items.forEach((item) => shell.add(real(item)));
    else if (kind === "map") items.forEach(([key, item]) => shell.set(real(key), real(item)));
    else items.forEach(([key, item]) => { shell[key] = real(item); });
  });
  return made[0];
}
