// Run every scenario in one real Pyodide and write the transcript:
//   node run.mjs <pyodide folder> <SDK folder> <tests/pyodide folder> <flags,> <output> [scenario...]

import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

import { patchWaitUntil } from "../../../emulator/tsumugi_emulator/pyodide_host/waiting.mjs";
import { makeGlobals } from "./globals.mjs";
import { makeHost } from "./host.mjs";
import { copyTree } from "./installing.mjs";

const [pyodideDir, sdkDir, suiteDir, flags, output, ...wanted] = process.argv.slice(2);

process.on("unhandledRejection", (error) => console.error("unhandled rejection:", String(error)));
process.on("uncaughtException", (error) => console.error("uncaught:", String(error)));

const { loadPyodide } = await import(pathToFileURL(path.join(pyodideDir, "pyodide.mjs")).href);
const globals = makeGlobals();
const pyodide = await loadPyodide({
  indexURL: pyodideDir + path.sep,
  jsglobals: globals.scope,
  stdout: (text) => console.error(text),
  stderr: (text) => console.error(text),
});
const corpus = process.env.TSUMUGI_CORPUS ?? path.join(suiteDir, "corpus.json");
const host = makeHost(pyodide, globals, fs.readFileSync(corpus, "utf8"));

copyTree(pyodide, sdkDir, "/suite/workers");
for (const folder of ["harness", "scenarios"]) {
  copyTree(pyodide, path.join(suiteDir, folder), `/suite/${folder}`);
}

pyodide.registerJsModule("_pyodide_entrypoint_helper", {
  cloudflareWorkersModule: {
    env: host.env,
    waitUntil: (promise) => { Promise.resolve(promise).catch(() => {}); },
  },
  cloudflareSocketsModule: {},
  patchWaitUntil,
  doAnImport: async (name) => {
    throw new Error(`No such module "${name}".`);
  },
});
pyodide.registerJsModule(
  "_cloudflare_compat_flags",
  Object.fromEntries(flags.split(",").filter(Boolean).map((flag) => [flag, true])),
);
pyodide.runPython("import sys; sys.path.insert(0, '/suite')");
const run = pyodide.runPython("from harness.main import run; run");
const transcript = await run(host, JSON.stringify(wanted));
fs.writeFileSync(output, transcript);
process.exit(0);
