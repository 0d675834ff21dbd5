"""Jobs that do as they are called, behind the jobs API."""

from tsumugi import Binding, MetricsAccess, Performer, Tsumugi, bearer_auth


class Echo(Performer):
    async def perform(self, payload, ctx):
        await ctx.log(f"echo {payload}")
        return {"echo": payload}


class Break(Performer):
    max_attempts = 1

    async def perform(self, payload, ctx):
        raise ValueError(f"told to break on {payload}")


class Split(Performer):
    async def perform(self, payload, ctx):
        return None


def metrics(env):
    return MetricsAccess(
        account_id="local", token=env.METRICS_TOKEN, dataset="jobs", base_url=env.METRICS_URL
    )


tsumugi = Tsumugi(
    performers=[Echo, Break, Split],
    bindings={"Split": Binding(shards=2)},
    auth=bearer_auth(lambda env: env.TSUMUGI_TOKEN, cookie="tsumugi_token"),
    metrics=metrics,
)


class TsumugiJobShard(tsumugi.JobShard): ...


class Default(tsumugi.Entrypoint): ...
