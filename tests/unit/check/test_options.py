from __future__ import annotations

from checking import expect_in_handler, expect_in_object


def test_snake_case_options_are_ignored() -> None:
    expect_in_handler("""
        await self.env.JOBS.send(1, delay_seconds=60)  #! TSU420
        await self.env.JOBS.send(1, content_type="text")  #! TSU420
        await self.env.JOBS.send(1, {"delay_seconds": 60})  #! TSU420
        await self.env.JOBS.sendBatch([{"body": 1, "delay_seconds": 60}])  #! TSU420
        await self.env.KV.put("key", "value", expiration_ttl=60)  #! TSU420
        await self.env.KV.put("key", "value", ttl=60)  #! TSU420
        await self.env.BUCKET.put("key", "value", http_metadata={})  #! TSU420
        batch.retryAll(delay_seconds=60)  #! TSU420
        for message in batch.messages:
            message.retry(delay_seconds=60)  #! TSU420
            message.retry({"delay_seconds": 60})  #! TSU420
            message.retry(delay=60)  #! TSU420
            message.retry(delaySeconds=60)
        await self.env.JOBS.send({"delay_seconds": 60})
        await self.env.JOBS.send(1, delaySeconds=60, contentType="json")
        await self.env.KV.put("key", "value", metadata={"ttl": 1})
    """)


def test_the_users_own_functions_take_what_they_like() -> None:
    expect_in_handler("""
        wrapped(self.env.JOBS).send(1, delay_seconds=60)
        job.retry(delay_seconds=60)
        await self.queue.send(1, delay_seconds=60)
    """)


def test_options_are_not_positional() -> None:
    expect_in_handler("""
        await self.env.JOBS.send(1, 60)  #! TSU421
        await self.env.JOBS.send(1, "text")  #! TSU421
        for message in batch.messages:
            message.retry(60)  #! TSU421
            message.retry()
            message.retry(options)
        await self.env.JOBS.send(1, {"delaySeconds": 60})
    """)


def test_methods_have_javascripts_names() -> None:
    expect_in_handler("""
        await self.env.JOBS.send_batch([{"body": 1}])  #! TSU422
        await self.env.KV.get_with_metadata("key")  #! TSU422
        batch.ack_all()  #! TSU422
        batch.retry_all()  #! TSU422
        await self.env.OTHER.send_batch([1])
        batch.ackAll()
    """)
    expect_in_object("""
        await self.ctx.storage.set_alarm(1)  #! TSU422
        await self.ctx.storage.delete_all()  #! TSU422
        await self.ctx.storage.deleteAll()
    """)


def test_a_body_is_positional() -> None:
    expect_in_handler("""
        await self.env.JOBS.send(body=1)  #! TSU423
        await self.env.JOBS.send(message={"a": 1})  #! TSU423
        await self.env.JOBS.send({"body": 1})
    """)


def test_keywords_arrive_elsewhere_as_a_dict() -> None:
    expect_in_handler("""
        await self.env.OTHER.add(1, times=2)  #! TSU424
        await self.env.OTHER.fetch("https://other/", method="POST")
        await self.env.OTHER.add(1, {"times": 2})
    """)


def test_a_body_fits_its_content_type() -> None:
    expect_in_handler("""
        await self.env.JOBS.send("a", contentType="xml")  #! TSU425
        await self.env.JOBS.send({"a": 1}, contentType="text")  #! TSU425
        await self.env.JOBS.send("a", contentType="bytes")  #! TSU425
        await self.env.JOBS.send("a", contentType=None)  #! TSU425
        await self.env.JOBS.send("a", contentType="text")
        await self.env.JOBS.send(f"{batch.queue}", contentType="text")
        await self.env.JOBS.send(value, contentType="bytes")
        await self.env.JOBS.send("a", contentType=kind)
    """)


def test_delays_and_expirations_have_limits() -> None:
    expect_in_handler("""
        await self.env.JOBS.send(1, delaySeconds=86_401)  #! TSU426
        await self.env.JOBS.send(1, delaySeconds=-1)  #! TSU426
        await self.env.KV.put("key", "value", expirationTtl=59)  #! TSU426
        await self.env.JOBS.send(1, delaySeconds=86_400)
        await self.env.KV.put("key", "value", expirationTtl=60)
    """)


def test_a_batch_holds_messages() -> None:
    expect_in_handler("""
        await self.env.JOBS.sendBatch([])  #! TSU427
        await self.env.JOBS.sendBatch([1, 2])  #! TSU427
        await self.env.JOBS.sendBatch([{"value": 1}])  #! TSU427
        await self.env.JOBS.sendBatch({"body": one} for one in many)  #! TSU427
        await self.env.JOBS.sendBatch([f"{one}" for one in many])  #! TSU427
        await self.env.JOBS.sendBatch([{"body": 1}, *more])
        await self.env.JOBS.sendBatch([{"body": one} for one in many])
        await self.env.JOBS.sendBatch([{**message} for message in many])
        await self.env.JOBS.sendBatch(messages)
    """)


def test_a_binding_that_is_called_is_configured() -> None:
    expect_in_handler("""
        await self.env.MISSING.send(1)  #! TSU428
        await self.env.DATABASE.prepare("?").run()  #! TSU428
        self.env.SECRET.encode()
        self.env.NAMES.split(",")
        self.env.missing.send(1)
    """)


def test_another_objects_env_is_not_the_workers() -> None:
    expect_in_handler(
        "pass",
        imports="""
        class Templates:
            def __init__(self):
                self.env = Environment()

            def load(self):
                self.env.LOADER.send(1)
        """,
    )
