"""A job says what happens to it: {"name": ..., "do": "ack" | "fail" | ...}."""

import os
import sys
from urllib.parse import parse_qs, urlsplit

from workers import Response, WorkerEntrypoint, fetch


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        url = urlsplit(request.url)
        if url.path == "/pid":
            return Response(str(os.getpid()))
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        options = {"delaySeconds": int(query["delay"])} if "delay" in query else {}
        for job in await request.json():
            await self.env.JOBS.send(job, **options)
        return Response("sent")

    async def queue(self, batch, env=None, ctx=None):
        for message in batch.messages:
            job = message.body
            print(f"{batch.queue} {job['name']} attempt {message.attempts}")
            if batch.queue != "dead":
                await perform(job, message)


async def perform(job, message):
    match job.get("do", "ack"):
        case "ack":
            message.ack()
        case "fail":
            raise ValueError(f"told to fail {job['name']}")
        case "retry later":
            message.retry(delaySeconds=3600)
        case "once then ack":
            if message.attempts == 1:
                raise ValueError("the first time fails")
        case "wait":
            await fetch(job["gate"])
            print(f"finished {job['name']}")
        case "exit":
            if message.attempts == 1:
                os._exit(3)
        case "sys.exit":
            if message.attempts == 1:
                sys.exit(4)
        case "recurse":
            if message.attempts == 1:
                sys.setrecursionlimit(10**9)
                recurse(0)
        case "busy":
            if message.attempts == 1:
                while True:
                    pass


def recurse(depth):
    return [recurse(depth + 1)]
