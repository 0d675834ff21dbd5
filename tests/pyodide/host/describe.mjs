// Say what a JavaScript value is, in one line that the emulator can produce too.

const TYPED_ARRAYS = new Set([
  "Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array", "Int32Array",
  "Uint32Array", "Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array",
]);

export function makeDescribe(PyProxy) {
  return (value) => describe(value, { PyProxy, seen: new Set() });
}

function describe(value, context) {
  if (value === null) return "null";
  switch (typeof value) {
    case "undefined":
      return "undefined";
    case "string":
      return JSON.stringify(value);
    case "number":
      return Object.is(value, -0) ? "-0" : String(value);
    case "bigint":
      return `${value}n`;
    case "boolean":
      return String(value);
    case "symbol":
      return value.toString();
  }
  // C types name their module too, Python classes do not.
  if (value instanceof context.PyProxy) return `PyProxy<${value.type.split(".").pop()}>`;
  const stub = /^\[object Js(Rpc(?:Stub|Property))\]$/.exec(Object.prototype.toString.call(value));
  if (stub !== null) return stub[1];
  if (typeof value === "function") return `function ${value.name}`.trim();
  if (context.seen.has(value)) return "<circular>";
  context.seen.add(value);
  try {
    return describeObject(value, context);
  } finally {
    context.seen.delete(value);
  }
}

function describeObject(value, context) {
  const inner = (item) => describe(item, context);
  const name = value.constructor?.name ?? "null-prototype";
  if (Array.isArray(value)) return `[${Array.from(value, inner).join(", ")}]`;
  if (name === "Map" || name === "LiteralMap") {
    return `${name} {${[...value].map(([k, v]) => `${inner(k)} => ${inner(v)}`).join(", ")}}`;
  }
  if (name === "Set") return `Set {${[...value].map(inner).join(", ")}}`;
  if (TYPED_ARRAYS.has(name)) return `${name} [${Array.from(value, inner).join(", ")}]`;
  if (name === "ArrayBuffer") return `ArrayBuffer [${Array.from(new Uint8Array(value)).join(", ")}]`;
  if (name === "DataView") return `DataView ${value.byteLength}`;
  if (name === "Date") return `Date ${Number.isNaN(+value) ? "invalid" : value.toISOString()}`;
  if (name === "RegExp") return `RegExp ${value}`;
  if (value instanceof Error || name === "DOMException") return `${value.name}(${JSON.stringify(value.message)})`;
  if (["String", "Number", "Boolean"].includes(name)) return `${name} object ${inner(value.valueOf())}`;
  const fields = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${inner(item)}`);
  const body = `{${fields.join(", ")}}`;
  return name === "Object" ? body : `${name} ${body}`;
}
