"""What is done in the background: charge a card once, then send a receipt until it arrives."""

from pydantic import BaseModel, Field
from tsumugi import Binding, JobContext, Performer, Policy, Rate, Tsumugi, bearer_auth


class Order(BaseModel):
    id: str = Field(min_length=1)
    customer: str = Field(min_length=1)
    cents: int = Field(gt=0)


class ChargeCard(Performer[Order]):
    """Never runs twice by itself: if its end is not heard of, the job is STALLED for a person."""

    guarantee = "at-most-once"
    # One order is one job, and one customer is charged for one order at a time.
    requires = ("unique_key", "concurrency_key")

    async def perform(self, order: Order, ctx: JobContext) -> dict[str, int]:
        # Yours to replace. Hand ctx.idempotency_key to whoever takes the money.
        await ctx.log(f"charging {order.customer} for order {order.id}")
        print(f"Charged {order.customer}: {order.cents / 100:.2f}")
        await tsumugi.enqueue(self.env, SendReceipt, order, unique_key=order.id)
        return {"charged_cents": order.cents}


class SendReceipt(Performer[Order]):
    """Runs again after a failure, a little later each time."""

    max_attempts = 5

    async def perform(self, order: Order, ctx: JobContext) -> None:
        print(f"Receipt of order {order.id} sent to {order.customer} (attempt {ctx.attempt})")


tsumugi = Tsumugi(
    performers=[ChargeCard, SendReceipt],
    bindings={
        "ChargeCard": Binding(policy=Policy(concurrency=10, per_key_concurrency=1)),
        "SendReceipt": Binding(policy=Policy(concurrency=20, rate=Rate(100, per_ms=60_000))),
    },
    auth=bearer_auth(lambda env: env.TSUMUGI_TOKEN),
)
