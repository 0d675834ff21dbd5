// Installs a wheel into Pyodide as micropip does in a browser. What it downloads is kept in a
// folder, so that a second run needs no network.

import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";

export function copyTree(pyodide, from, to) {
  pyodide.FS.mkdirTree(to);
  for (const entry of fs.readdirSync(from, { withFileTypes: true })) {
    const source = path.join(from, entry.name);
    if (entry.name === "__pycache__") continue;
    if (entry.isDirectory()) copyTree(pyodide, source, `${to}/${entry.name}`);
    else pyodide.FS.writeFile(`${to}/${entry.name}`, fs.readFileSync(source));
  }
}

// Pyodide's own list of packages, without the packages: those are not in the npm package, and
// what is installed comes from the index that everybody uses.
export function emptyLock(pyodideDir, folder) {
  const lock = JSON.parse(fs.readFileSync(path.join(pyodideDir, "pyodide-lock.json"), "utf8"));
  const file = path.join(folder, `${path.basename(pyodideDir)}-lock.json`);
  fs.writeFileSync(file, JSON.stringify({ ...lock, packages: {} }));
  return file;
}

// `fetch` that asks the network once for each address. `offline` is told that there is none.
export function keptFetch(folder, fetch, offline) {
  return async (input, init = {}) => {
    const url = String(input?.url ?? input);
    const headers = [...new Headers(init.headers ?? input?.headers)];
    const key = createHash("sha256").update(JSON.stringify([url, headers])).digest("hex");
    const file = path.join(folder, key);
    if (!fs.existsSync(file)) {
      const response = await fetch(url, init).catch(offline);
      if (!response.ok) return response;
      keep(file, response.headers.get("content-type"), Buffer.from(await response.arrayBuffer()));
    }
    const kept = JSON.parse(fs.readFileSync(file, "utf8"));
    return new Response(Buffer.from(kept.body, "base64"), {
      headers: { "content-type": kept.type },
    });
  };
}

// Whole or not at all: another run may be writing it, too.
function keep(file, type, body) {
  const part = `${file}.${process.pid}`;
  fs.writeFileSync(part, JSON.stringify({ type, body: body.toString("base64") }));
  fs.renameSync(part, file);
}

const INSTALL = `
import importlib.metadata
import json
import sys

sys.path.append("/micropip")
import micropip

async def install(wheel, absent):
    for name, version in absent.items():
        missing = f"raise ImportError('{name} was not to be had for this Pyodide')"
        micropip.add_mock_package(name, version, modules={name: missing})
    await micropip.install(f"emfs:{wheel}")
    found = importlib.metadata.distributions()
    return json.dumps({each.metadata["Name"]: each.version for each in found})

lambda wheel, absent: install(wheel, json.loads(absent))
`;

// What is installed then, by name. `absent` names packages that only pretend to be there: importing
// one raises ImportError.
export async function installWheel(pyodide, { wheel, micropip, absent }) {
  copyTree(pyodide, micropip, "/micropip");
  pyodide.FS.mkdirTree("/wheels");
  const place = `/wheels/${path.basename(wheel)}`;
  pyodide.FS.writeFile(place, fs.readFileSync(wheel));
  const install = pyodide.runPython(INSTALL);
  return JSON.parse(await install(place, JSON.stringify(absent)));
}
