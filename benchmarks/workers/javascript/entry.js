// The measured Worker; `workers/python/entry.py` is the same in Python.

import { VERSION } from "./version.js";

const BATCH = 100;

let sent = 0;
let consumed = 0;
let lastConsumedMs = 0;
const idleMs = [];

export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    if (url.pathname === "/") return new Response("Hello World!");
    const number = (name) => Number(url.searchParams.get(name));
    switch (url.pathname) {
      case "/version":
        return new Response(VERSION);
      case "/burst":
        return burst(env, number("count"), number("outstanding"));
      case "/send":
        return send(env, number("count"));
      case "/idle":
        await env.IDLE.send({ sent_ms: Date.now() });
        return new Response("sent");
      case "/state":
        return Response.json({ consumed, last_consumed_ms: lastConsumedMs, idle_ms: idleMs });
    }
    return new Response("Not found", { status: 404 });
  },

  async queue(batch) {
    for (const message of batch.messages) {
      if (batch.queue === "benchmark-idle") idleMs.push(Date.now() - message.body.sent_ms);
      else if (message.body.kind === "benchmark") consumed += 1;
      message.ack();
    }
    lastConsumedMs = Date.now();
  },
};

// Send `count` messages, at most `outstanding` (0: any number) of them unconsumed.
async function burst(env, count, outstanding) {
  const startedMs = Date.now();
  for (let first = 0; first < count; first += BATCH) {
    while (outstanding && sent - consumed > outstanding - BATCH) await scheduler.wait(1);
    const messages = [];
    for (let id = first; id < first + BATCH; id++) messages.push({ body: { id, kind: "benchmark" } });
    await env.BULK.sendBatch(messages);
    sent += BATCH;
  }
  return Response.json({ started_ms: startedMs, sent: count });
}

// Time each of `count` sends, one after the other.
async function send(env, count) {
  const timesMs = [];
  const started = performance.now();
  for (let id = 0; id < count; id++) {
    const before = performance.now();
    await env.BULK.send({ id, kind: "benchmark" });
    timesMs.push(performance.now() - before);
  }
  sent += count;
  return Response.json({ times_ms: timesMs, total_ms: performance.now() - started });
}
