"""Alarms of Durable Objects: setting, reading, the handler and what it is given."""

import datetime
import time

import js
from workers import DurableObject

SEEN = []


class Timed(DurableObject):
    async def run(self, work):
        return await WORK[work](self)

    async def alarm(self, info):
        storage = self.ctx.storage
        SEEN.append(type(info).__name__)
        SEEN.append(info.constructor.name)
        SEEN.append([info.isRetry, info.retryCount, type(info.scheduledTime).__name__])
        SEEN.append(abs(info.scheduledTime - time.time() * 1000) < 60_000)
        SEEN.append(await storage.getAlarm())
        await WORK["in the handler"](self)


class Bare(DurableObject):
    async def run(self):
        await self.ctx.storage.setAlarm(time.time() * 1000 + 1000)


class Now(DurableObject):
    """Sets an alarm that is due at once."""

    async def run(self):
        await self.ctx.storage.setAlarm(1)


class NowNoArguments(Now):
    async def alarm(self):
        SEEN.append("called")


class NowTooMany(Now):
    async def alarm(self, info, more):
        SEEN.append("called")


class NowReturns(Now):
    def alarm(self, info):
        return (1, 2)


WORK = {}


async def scenario_setting(record, env, host):
    host.bind_objects(TIMED=Timed)
    due = time.time() * 1000 + 100_000

    async def setting(box):
        storage = box.ctx.storage
        await record.settled("none", storage.getAlarm())
        for label, value in {
            "int": int(due),
            "float": int(due) + 5.75,
            "datetime": datetime.datetime.fromtimestamp(due / 1000),
            "aware datetime": datetime.datetime.fromtimestamp(due / 1000, datetime.UTC),
            "js.Date": js.Date.new(int(due)),
            "options": (int(due)),
        }.items():
            await record.settled(f"set {label}", lambda v=value: storage.setAlarm(v))
            got = await storage.getAlarm()
            record(f"got {label}", [type(got).__name__, abs(got - due) < 6])
        for label, value in {"seconds": time.time(), "one": 1, "past": due - 200_000}.items():
            await record.settled(f"set {label}", lambda v=value: storage.setAlarm(v))
            record(f"got {label}", abs(await storage.getAlarm() - time.time() * 1000) < 5000)
        for label, value in {
            "str": "x", "None": None, "bool": True, "2**60": 2**60, "nan": float("nan"),
            "inf": float("inf"), "zero": 0, "negative": -1, "timedelta": datetime.timedelta(1),
            "date": datetime.date(2030, 1, 1), "dict": {}, "list": [1], "tuple": (1,),
        }.items():  # fmt: skip
            await record.settled(f"set {label}", lambda v=value: storage.setAlarm(v))
        await record.settled("set nothing", lambda: storage.setAlarm())
        await record.settled("set with options", storage.setAlarm(due, allowUnconfirmed=True))
        await record.settled("delete", storage.deleteAlarm())
        await record.settled("gone", storage.getAlarm())
        await record.settled("delete again", storage.deleteAlarm())

        async def within(txn):
            await txn.setAlarm(int(due))
            inside = await txn.getAlarm()
            await txn.deleteAlarm()
            return [inside == int(due), type(inside).__name__]

        await record.settled("in a transaction", storage.transaction(within))

        async def fails(txn):
            await txn.setAlarm(int(due))
            raise ValueError("undo")

        await record.settled("in one that fails", storage.transaction(fails))
        await record.settled("undone", storage.getAlarm())

    WORK["setting"] = setting
    await env.TIMED.getByName("setting").run("setting")


async def scenario_running(record, env, host):
    host.bind_objects(TIMED=Timed)
    stub = env.TIMED.getByName("a")

    async def set_now(box):
        await box.ctx.storage.setAlarm(1)

    async def get(box):
        return await box.ctx.storage.getAlarm()

    async def nothing(box):
        pass

    async def again(box):
        await box.ctx.storage.setAlarm(time.time() * 1000 + 100_000)
        SEEN.append(type(await box.ctx.storage.getAlarm()).__name__)

    async def delete(box):
        await box.ctx.storage.deleteAlarm()

    async def fails(box):
        await box.ctx.storage.put("written", 1)
        raise ValueError("in the alarm")

    async def written(box):
        return await box.ctx.storage.get("written")

    WORK.update(set_now=set_now, get=get, written=written)
    record("not due", await host.alarm("TIMED", "a"))
    for label, work, retry_count in (
        ("nothing", nothing, 0), ("retry", nothing, 3), ("set again", again, 0),
        ("delete", delete, 0), ("fails", fails, 0),
    ):  # fmt: skip
        WORK["in the handler"] = work
        SEEN.clear()
        await stub.run("set_now")
        record(f"{label} ran", await host.alarm("TIMED", "a", retry_count))
        record(f"{label} saw", list(SEEN))
        after = await stub.run("get")
        record(f"{label} then", after if after is None else type(after).__name__)
    record("written before it failed", await stub.run("written"))


async def scenario_handlers(record, env, host):
    classes = {
        "NO_ALARM": Bare, "NO_ARGUMENTS": NowNoArguments, "TOO_MANY": NowTooMany,
        "RETURNS": NowReturns,
    }  # fmt: skip
    host.bind_objects(**classes)
    for name in classes:
        SEEN.clear()
        stub = getattr(env, name).getByName("a")
        await record.settled(f"{name} set", stub.run())
        if name != "NO_ALARM":
            record(f"{name} ran", await host.alarm(name, "a"))
            record(f"{name} saw", list(SEEN))
