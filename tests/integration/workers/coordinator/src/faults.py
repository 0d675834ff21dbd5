"""An env whose bindings fail as they are told. What they are told ends with the process."""

import asyncio

FAULTS = {}


class Failing:
    """``env`` as the coordinator gets it."""

    def __init__(self, env):
        self._env = env

    def __getattr__(self, name):
        binding = getattr(self._env, name)
        match name:
            case "TSUMUGI_QUEUE":
                return FailingQueue(binding)
            case "TSUMUGI_SHARD":
                return FailingShards(binding)
            case "TSUMUGI_DB":
                return FailingDatabase(binding)
        return binding


class FailingQueue:
    def __init__(self, queue):
        self._queue = queue

    async def sendBatch(self, messages):
        match FAULTS.get("send"):
            case "refuse":
                raise ConnectionError("the queue refuses")
            case "lose-answer":
                await self._queue.sendBatch(messages)
                raise ConnectionError("the answer is lost")
            case "double":
                await self._queue.sendBatch(messages)
                await asyncio.sleep(0.05)  # so that they come in batches of their own
        return await self._queue.sendBatch(messages)


class FailingShards:
    def __init__(self, namespace):
        self._namespace = namespace

    def getByName(self, name):
        return FailingShard(self._namespace.getByName(name))


class FailingShard:
    def __init__(self, stub):
        self._stub = stub

    def __getattr__(self, method):
        async def call(*texts):
            fault = FAULTS.get(method)
            if fault == "lose":
                raise ConnectionError("the call is lost")
            answer = await getattr(self._stub, method)(*texts)
            if fault == "lose-answer":
                raise ConnectionError("the answer is lost")
            return answer

        return call


class FailingDatabase:
    # Its methods by name: whatever has a `constructor` is taken for an object of JavaScript.
    def __init__(self, database):
        self._database = database

    def prepare(self, sql):
        return self._reached().prepare(sql)

    async def batch(self, statements):
        return await self._reached().batch(statements)

    def _reached(self):
        if FAULTS.get("database") == "refuse":
            raise ConnectionError("the database refuses")
        return self._database
