// What the SDK asks its host for about waitUntil, in Pyodide and where it is judged.

/** Python objects given to waitUntil outlive the call: keep a copy until they settle. */
export function patchWaitUntil(context) {
  if (Object.prototype.toString.call(context) !== "[object ExecutionContext]") return;
  if (Object.hasOwn(context, "waitUntil")) return;
  const original = context.waitUntil;
  context.waitUntil = function waitUntil(promise) {
    original.call(context, keep(promise));
  };
}

async function keep(promise) {
  if (!("copy" in promise)) return promise;
  const kept = promise.copy();
  try {
    return await kept;
  } finally {
    kept.destroy();
  }
}
