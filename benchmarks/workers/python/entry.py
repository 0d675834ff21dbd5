"""The measured Worker; ``workers/javascript/entry.js`` is the same in JavaScript."""

from __future__ import annotations

import asyncio
import time
from urllib.parse import parse_qs, urlsplit

from version import VERSION
from workers import Response, WorkerEntrypoint

BATCH = 100

sent = 0
consumed = 0
last_consumed_ms = 0.0
idle_ms = []


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        url = urlsplit(request.url)
        if url.path == "/":
            return Response("Hello World!")
        query = {name: int(values[0]) for name, values in parse_qs(url.query).items()}
        match url.path:
            case "/version":
                return Response(VERSION)
            case "/burst":
                return await self.burst(query["count"], query["outstanding"])
            case "/send":
                return await self.send(query["count"])
            case "/idle":
                await self.env.IDLE.send({"sent_ms": now_ms()})
                return Response("sent")
            case "/state":
                return Response.from_json(
                    {"consumed": consumed, "last_consumed_ms": last_consumed_ms, "idle_ms": idle_ms}
                )
        return Response("Not found", status=404)

    async def burst(self, count, outstanding):
        """Send ``count`` messages, at most ``outstanding`` (0: any number) of them unconsumed."""
        global sent
        started_ms = now_ms()
        for first in range(0, count, BATCH):
            while outstanding and sent - consumed > outstanding - BATCH:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
            bodies = [{"id": index, "kind": "benchmark"} for index in range(first, first + BATCH)]
            await self.env.BULK.sendBatch([{"body": body} for body in bodies])
            sent += BATCH
        return Response.from_json({"started_ms": started_ms, "sent": count})

    async def send(self, count):
        """Time each of ``count`` sends, one after the other."""
        global sent
        times_ms = []
        started = time.perf_counter()
        for index in range(count):
            before = time.perf_counter()
            await self.env.BULK.send({"id": index, "kind": "benchmark"})
            times_ms.append((time.perf_counter() - before) * 1000)
        total_ms = (time.perf_counter() - started) * 1000
        sent += count
        return Response.from_json({"times_ms": times_ms, "total_ms": total_ms})

    async def queue(self, batch, env=None, ctx=None):
        global consumed, last_consumed_ms
        for message in batch.messages:
            if batch.queue == "benchmark-idle":
                idle_ms.append(now_ms() - message.body["sent_ms"])
            elif message.body["kind"] == "benchmark":
                consumed += 1
            message.ack()
        last_consumed_ms = now_ms()


def now_ms():
    return time.time() * 1000
