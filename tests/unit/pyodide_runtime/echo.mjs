// Node's side of test_values_cross.py: every value that comes is sent back as it was understood.
//   node echo.mjs <folder of pyodide_host>

import path from "node:path";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const load = (name) => import(pathToFileURL(path.join(folder, name)).href);
const { Reader, Writer } = await load("messagepack.mjs");
const { Values } = await load("values.mjs");
const { graphOf, isContainer } = await load("graphs.mjs");

const nothing = new Proxy({}, { get: () => () => undefined });
const values = new Values({ stubs: nothing, foreign: nothing, bodies: nothing, promises: nothing });

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const all = Buffer.concat(chunks);
for (let at = 0; at < all.length; ) {
  const end = at + 4 + all.readUInt32LE(at);
  const value = Reader.value(all.subarray(at + 4, end), values.restore);
  const body = encoded(value);
  const head = Buffer.alloc(4);
  head.writeUInt32LE(body.length);
  process.stdout.write(Buffer.concat([head, body]));
  at = end;
}

function encoded(value) {
  try {
    return Writer.bytes(value, values.special);
  } catch (error) {
    if (!(error instanceof RangeError && isContainer(value))) throw error;
    return Writer.bytes(graphOf(value), values.special);
  }
}
