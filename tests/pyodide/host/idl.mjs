// How the runtime's own classes look to JavaScript, and how they refuse arguments.

const INT_MIN = -(2 ** 31);
const INT_MAX = 2 ** 31 - 1;
const runtimeClasses = new Set();

// A class of the runtime: its objects are named by a tag and are no plain data.
export function named(cls, { name = cls.name, tag = name } = {}) {
  Object.defineProperty(cls, "name", { value: name });
  Object.defineProperty(cls.prototype, Symbol.toStringTag, { value: tag, configurable: true });
  runtimeClasses.add(cls);
  return cls;
}

// The same for a class of Node's that stands for one of the runtime.
export function known(cls) {
  runtimeClasses.add(cls);
}

// The name of the runtime's class that `value` is an object of, if it is one.
export function runtimeClass(value) {
  for (let proto = Object.getPrototypeOf(value); proto !== null; proto = Object.getPrototypeOf(proto)) {
    if (runtimeClasses.has(proto.constructor)) return proto.constructor.name;
  }
  return undefined;
}

export function isObject(value) {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

export function wrongType(method, cls, position, type) {
  return new TypeError(
    `Failed to execute '${method}' on '${cls}': parameter ${position} is not of type '${type}'.`,
  );
}

// An optional dictionary argument.
export function options(value, { method, cls, position, type }) {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw wrongType(method, cls, position, type);
  return value;
}

// A C++ `int` out of a JavaScript value.
export function toInt(value) {
  if (value === undefined) return undefined;
  if (typeof value === "bigint") throw new TypeError("Cannot convert a BigInt value to a number");
  const number = Number(value);
  if (!Number.isFinite(number)) return 0;
  if (number < INT_MIN || number > INT_MAX) {
    throw new TypeError(
      `Value out of range. Must be between ${INT_MIN} and ${INT_MAX} (inclusive).`,
    );
  }
  return Math.trunc(number) + 0;
}

export function cloneError(text) {
  return new DOMException(text, "DataCloneError");
}

// A getter that is a property of the object itself, as the runtime has them for what never changes.
export function readOnly(target, values) {
  for (const [key, value] of Object.entries(values)) {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true });
  }
}
