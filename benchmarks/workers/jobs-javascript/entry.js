// Runs statements that a shard ran elsewhere, and tells the rows that workerd counts for them.

import { DurableObject } from "cloudflare:workers";

export class Replayed extends DurableObject {
  // Each statement is [text, the text of its parameter or null].
  async replay(statements) {
    const sql = this.ctx.storage.sql;
    let read = 0;
    let written = 0;
    for (const [text, given] of statements) {
      const cursor = given === null ? sql.exec(text) : sql.exec(text, given);
      cursor.toArray();
      read += cursor.rowsRead;
      written += cursor.rowsWritten;
    }
    return { read, written };
  }
}

export default {
  async fetch(request, env) {
    if (request.method !== "POST") return new Response("ready");
    const name = new URL(request.url).pathname;
    return Response.json(await env.OBJECTS.getByName(name).replay(await request.json()));
  },
};
