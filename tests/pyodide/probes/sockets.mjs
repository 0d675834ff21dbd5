// WebSockets inside an object: asked of the host objects and of the runtime itself.

export async function pairs(say) {
  const pair = new WebSocketPair();
  await say("class", () => [pair.constructor.name, pair[0].constructor.name, Object.keys(pair)]);
  await say("values", () => Object.values(pair).length);
  await say("state", () => pair[0].readyState);
  await say("send too early", () => pair[0].send("x"));
  await say("close too early", () => pair[0].close());
  await say("attachment", () => pair[0].deserializeAttachment());
  pair[0].serializeAttachment({ a: [1] });
  await say("attached", () => pair[0].deserializeAttachment());
  await say("function attached", () => pair[0].serializeAttachment(() => 1));
  const events = [];
  const over = new Promise((resolve) => {
    for (const socket of [pair[0], pair[1]]) {
      socket.addEventListener("message", ({ data }) => events.push(["message", data]));
      socket.addEventListener("close", ({ code, reason, wasClean }) => {
        events.push(["close", code, reason, wasClean]);
        resolve();
      });
    }
  });
  pair[0].accept();
  pair[1].accept();
  await say("accept twice", () => pair[1].accept());
  await say("send text", () => pair[0].send("text"));
  await say("send bytes", () => pair[1].send(new Uint8Array([1, 2])));
  await say("send number", () => pair[0].send(5));
  await say("send nothing", () => pair[0].send());
  await say("bad code", () => pair[0].close(5));
  await say("reason alone", () => pair[0].close(undefined, "r"));
  for (const code of [999, 1000, 1001, 1004, 1005, 1006, 1015, 2999, 3000.7, 5000, "x", null, NaN]) {
    await say(`close ${code}`, () => {
      const [end] = Object.values(new WebSocketPair());
      end.accept();
      return end.close(code);
    });
  }
  await say("close", () => pair[0].close(3001, "bye"));
  await say("send after close", () => pair[0].send("x"));
  await say("closing", () => pair[0].readyState);
  await over;
  await say("events", () => events.map(([name, ...rest]) => [name, ...rest.map((value) =>
    value instanceof ArrayBuffer ? value.byteLength : value)]));
}

export async function responses(say, { ctx }) {
  const socket = () => Object.values(new WebSocketPair())[0];
  const accepted = socket();
  accepted.accept();
  const hibernating = socket();
  ctx.acceptWebSocket(hibernating);
  for (const [name, webSocket] of Object.entries({ fresh: socket(), accepted, hibernating })) {
    await say(name, () => new Response(null, { status: 101, webSocket }).status);
  }
  await say("status 200", () => new Response(null, { status: 200, webSocket: socket() }));
  await say("no status", () => new Response(null, { webSocket: socket() }));
  await say("no socket", () => new Response(null, { status: 101 }));
  await say("a body", () => new Response("x", { status: 101, webSocket: socket() }));
}

export async function accepting(say, { ctx }) {
  const pair = () => Object.values(new WebSocketPair());
  const [client, server] = pair();
  await say("nothing", () => ctx.acceptWebSocket());
  await say("no tags", () => ctx.getTags(server));
  await say("tags of a text", () => ctx.acceptWebSocket(server, "a"));
  await say("accept", () => ctx.acceptWebSocket(server, ["a", "b", "a", 5]));
  await say("accept twice", () => ctx.acceptWebSocket(server));
  await say("accept by itself", () => server.accept());
  await say("tags", () => ctx.getTags(server));
  await say("sockets", () => ctx.getWebSockets().length);
  await say("with a tag", () => ctx.getWebSockets("a").length);
  await say("with a number", () => ctx.getWebSockets(5).length);
  await say("with another tag", () => ctx.getWebSockets("z").length);
  await say("not a new one", () => ctx.getWebSockets("a")[0] === server);
  const [, accepted] = pair();
  accepted.accept();
  await say("accepted before", () => ctx.acceptWebSocket(accepted));
  await say("tags of an accepted one", () => ctx.getTags(accepted));
  await say("many tags", () => ctx.acceptWebSocket(pair()[0], [..."abcdefghijk"]));
  await say("long tag", () => ctx.acceptWebSocket(pair()[0], ["a".repeat(257)]));
  client.accept();
  const [one, two] = pair();
  one.accept();
  await say("pair in use", () => ctx.acceptWebSocket(two));
  await say("no auto response", () => ctx.getWebSocketAutoResponse());
  await say("bad auto response", () => ctx.setWebSocketAutoResponse("ping"));
  ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair("ping", "pong"));
  await say("auto response", () => {
    const { request, response } = ctx.getWebSocketAutoResponse();
    return [request, response];
  });
  await say("answered at", () => ctx.getWebSocketAutoResponseTimestamp(server));
  client.close();
}
