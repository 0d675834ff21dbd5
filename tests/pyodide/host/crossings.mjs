// Counts what crosses between Python and JavaScript: Pyodide's functions in JavaScript that its
// WebAssembly calls are wrapped when it is instantiated. Import it before loading Pyodide.

const CALL = /^(Jsv(Function_(CallBound|Call_OneArg|Construct)|Object_CallMethod)|raw_call_js)/;
const CONVERSION = new RegExp(
  "^_?(js2python|python2js|_python2js|pyproxy_new|array_to_js|create_promise_handles" +
    "|Jsv(Num|BigInt|Map|LiteralMap|Set|UTF8)|JsvArray_(New|Push)|JsvObject_(New|SetAttr)" +
    "|Js(Array|Object)_(Push|Set|PostProcess))",
);
const ACCESS = /^(Js(Proxy|Array|ObjMap|Map|v|vArray|vObject|Buffer)_|handle_next_result)/;
// Asked once for each proxy that Pyodide makes: part of a conversion that is counted.
const NO_CROSSING = /_(Check|typeflags|constructorName|init)$|_init_/;

// What an import counts as; undefined: nothing crosses in it.
function kindOf(name) {
  if (NO_CROSSING.test(name)) return undefined;
  if (CALL.test(name)) return "calls";
  if (CONVERSION.test(name)) return "conversions";
  return ACCESS.test(name) ? "accesses" : undefined;
}

const counts = new Map();
let total = 0;

function counted(name, work) {
  counts.set(name, 0);
  return function crossing(...args) {
    total += 1;
    counts.set(name, counts.get(name) + 1);
    return work(...args);
  };
}

// Pyodide's own imports; those of its extension modules are found by name, one by one.
function wrapped(imports) {
  if (!Object.hasOwn(imports?.env ?? {}, "JsProxy_GetAttr_js")) return imports;
  const env = { ...imports.env };
  for (const [name, work] of Object.entries(env)) {
    if (typeof work === "function" && kindOf(name) !== undefined) env[name] = counted(name, work);
  }
  return { ...imports, env };
}

for (const method of ["instantiate", "instantiateStreaming"]) {
  const original = WebAssembly[method];
  WebAssembly[method] = (source, imports) => original.call(WebAssembly, source, wrapped(imports));
}

// All crossings so far: to see whether Python does anything.
export function crossings() {
  return total;
}

// Starts counting; the function it gives tells what was counted since, by kind and by name.
export function count() {
  const before = new Map(counts);
  return () => {
    const byKind = { calls: 0, accesses: 0, conversions: 0 };
    const byName = {};
    for (const [name, n] of counts) {
      const more = n - (before.get(name) ?? 0);
      if (more === 0) continue;
      byKind[kindOf(name)] += more;
      byName[name] = more;
    }
    return { ...byKind, byName };
  };
}
