// The global scope a Worker sees: the product's (`pyodide_host/globals.mjs`), with the sockets of the
// judge, and told to those who ask for the classes of the runtime.

import { makeGlobals as scopeOfTheRuntime } from "../../../emulator/tsumugi_emulator/pyodide_host/globals.mjs";
import { known } from "./idl.mjs";
import {
  WebSocket, WebSocketPair, WebSocketRequestResponsePair, released,
} from "./sockets.mjs";

// Objects of the runtime that Node has classes of its own for.
const NODE_CLASSES = [
  Response, Request, Headers, FormData, URL, URLSearchParams, Blob, File, ReadableStream,
  WritableStream, TransformStream, AbortController, AbortSignal, TextEncoder, TextDecoder,
];

export function makeGlobals() {
  const scope = scopeOfTheRuntime();
  for (const name of ["Response", "Request", "Headers", "FormData", "URL"]) known(scope[name]);
  for (const cls of NODE_CLASSES) known(cls);
  Object.assign(scope, { WebSocket, WebSocketPair, WebSocketRequestResponsePair });
  return { scope, handedOver };
}

/** The same response on the other side of a call: its connection is another socket there. */
function handedOver(response) {
  if (response.webSocket != null) {
    Object.defineProperty(response, "webSocket", {
      value: released(response.webSocket), configurable: true,
    });
  }
  return response;
}
