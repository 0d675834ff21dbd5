"""The control plane as the official ``cloudflare`` client and wrangler's requests see it."""

from __future__ import annotations

from typing import Any

import pytest
from api_harness import ACCOUNT, SECOND, Api, letters, with_api
from cloudflare import APIStatusError
from tsumugi_emulator.queues import ConsumerSettings, QueueSettings
from tsumugi_emulator.queues.events import PullConsumerKept


@with_api
async def test_a_queue_is_created_read_changed_and_deleted(api: Api) -> None:
    made = await api.queues.create(account_id=ACCOUNT, queue_name="q")
    assert made is not None
    assert made.queue_id is not None
    assert made.settings is not None
    assert (made.queue_name, made.settings.message_retention_period) == ("q", 345_600)
    assert (made.producers, made.consumers) == ([], [])
    got = await api.queues.get(made.queue_id, account_id=ACCOUNT)
    assert got == made
    await api.queues.delete(made.queue_id, account_id=ACCOUNT)
    with pytest.raises(APIStatusError) as refused:
        await api.queues.get(made.queue_id, account_id=ACCOUNT)
    assert (refused.value.status_code, refused.value.errors[0].code) == (404, 10104)


@with_api
async def test_patch_changes_what_it_names_and_put_everything(api: Api) -> None:
    queue = await api.pulled_queue()
    edited = await api.queues.edit(
        queue, account_id=ACCOUNT, settings={"delivery_delay": 5, "message_retention_period": 60}
    )
    edited = await api.queues.edit(queue, account_id=ACCOUNT, settings={"delivery_paused": True})
    assert edited is not None
    assert edited.settings is not None
    assert edited.settings.to_dict() == {
        "delivery_delay": 5,
        "delivery_paused": True,
        "message_retention_period": 60,
    }
    replaced = await api.queues.update(queue, account_id=ACCOUNT, settings={"delivery_delay": 7})
    assert replaced is not None
    assert replaced.settings is not None
    assert replaced.settings.to_dict() == {
        "delivery_delay": 7,
        "delivery_paused": False,
        "message_retention_period": 345_600,
    }


@with_api
async def test_the_delivery_delay_of_a_queue_holds_for_what_the_api_sends(api: Api) -> None:
    queue = await api.pulled_queue()
    await api.queues.edit(queue, account_id=ACCOUNT, settings={"delivery_delay": 5})
    await api.send(queue, "a")
    await api.post(f"/{queue}/messages", body="b", content_type="text", delay_seconds=0)
    assert letters(await api.pull(queue)) == "b"
    await api.clock.advance(5 * SECOND)
    assert letters(await api.pull(queue)) == "a"


@with_api
async def test_a_list_is_filtered_by_exact_names_and_comes_in_pages(api: Api) -> None:
    for name in ("jobs", "jobs-2", "mail", "old"):
        await api.queues.create(account_id=ACCOUNT, queue_name=name)

    async def names(query: str) -> tuple[list[str], dict[str, int]]:
        answer = (await api.http.get(f"?{query}")).json()
        return [queue["queue_name"] for queue in answer["result"]], answer["result_info"]

    assert (await names("page=1&name=jobs"))[0] == ["jobs"]
    assert (await names("name=mail&name=jobs&name=nobody"))[0] == ["jobs", "mail"]
    found, info = await names("page=2&per_page=3")
    assert found == ["old"]
    assert info == {
        "page": 2, "per_page": 3, "count": 1, "total_count": 4, "total_pages": 2,
    }  # fmt: skip
    assert (await names("page=9"))[0] == []
    listed = [queue.queue_name async for queue in api.queues.list(account_id=ACCOUNT)]
    assert listed == ["jobs", "jobs-2", "mail", "old"]


@with_api
async def test_a_name_is_given_once(api: Api) -> None:
    await api.pulled_queue("a")
    b = await api.pulled_queue("b")
    assert await api.refused("", json={"queue_name": "a"}) == (409, 11009)
    taken = {"method": "PATCH", "json": {"queue_name": "a"}}
    assert await api.refused(f"/{b}", **taken) == (409, 11009)


@with_api
async def test_a_renamed_queue_keeps_messages_leases_and_consumer(api: Api) -> None:
    queue = await api.pulled_queue("old")
    await api.send(queue, "ab")
    held = await api.pull(queue, 1)
    renamed = await api.queues.edit(queue, account_id=ACCOUNT, queue_name="new")
    assert renamed is not None
    assert renamed.consumers is not None
    assert (renamed.queue_name, renamed.consumers[0].queue_name) == ("new", "new")
    assert (await api.ack(queue, *held)).ack_count == 1
    assert letters(await api.pull(queue)) == "b"


class TestAPurge:
    @staticmethod
    def test_removes_ready_leased_and_delayed_messages_at_once() -> None:
        @with_api
        async def scenario(api: Api) -> None:
            queue = await api.pulled_queue()
            await api.send(queue, "abc")
            await api.post(f"/{queue}/messages", body="d", delay_seconds=60)
            held = await api.pull(queue, 1)
            started = await api.queues.purge.start(
                queue, account_id=ACCOUNT, delete_messages_permanently=True
            )
            assert started is not None
            assert started.queue_name == "q"
            assert await api.pull(queue) == []
            assert (await api.ack(queue, *held)).warnings == {}
            await api.send(queue, "e")
            await api.clock.advance(120 * SECOND)
            assert letters(await api.pull(queue)) == "e"

        scenario()

    @staticmethod
    def test_of_many_messages_goes_on_in_the_background_and_survives_a_restart() -> None:
        @with_api
        async def scenario(api: Api) -> None:
            queue = await api.pulled_queue()
            for _ in range(30):
                await api.send(queue, "x" * 100)
            body = {"delete_messages_permanently": True}
            started = (await api.http.post(f"/{queue}/purge", json=body)).json()["result"]
            assert started["complete"] is False
            assert started["started_at"].startswith("2023-11-14T22:13:20.0")
            await api.restart()
            assert await api.pull(queue) == []
            await api.clock.settle()
            status = await api.queues.purge.status(queue, account_id=ACCOUNT)
            assert status is not None
            assert status.completed == "true"
            assert api.store._db.execute("SELECT count(*) FROM ready").fetchone() == (0,)

        scenario()

    @staticmethod
    def test_has_to_be_confirmed() -> None:
        @with_api
        async def scenario(api: Api) -> None:
            queue = await api.pulled_queue()
            assert await api.refused(f"/{queue}/purge", json={}) == (400, 10207)

        scenario()


@with_api
async def test_a_deleted_queue_takes_its_messages_along_and_its_name_is_free(api: Api) -> None:
    queue = await api.pulled_queue()
    await api.send(queue, "ab")
    held = await api.pull(queue, 1)
    await api.queues.delete(queue, account_id=ACCOUNT)
    again = await api.pulled_queue()
    assert again != queue
    assert await api.pull(again) == []
    answer = await api.ack(again, *held)
    assert (answer.ack_count, len(answer.warnings)) == (0, 1)
    await api.restart()
    await api.clock.settle()
    await api.send(again, "c")
    assert letters(await api.pull(again)) == "c"


class TestAConsumer:
    @staticmethod
    def test_of_each_type_shows_its_settings_and_both_spellings() -> None:
        @with_api
        async def scenario(api: Api) -> None:
            queue = await api.queues.create(account_id=ACCOUNT, queue_name="q")
            assert queue is not None
            assert queue.queue_id is not None
            made = await api.post(
                f"/{queue.queue_id}/consumers",
                type="worker",
                script_name="mailer",
                environment_name="",
                settings={"batch_size": 7, "max_wait_time_ms": 1_500, "max_retries": 0},
                dead_letter_queue="dead",
            )
            assert (made["script"], made["script_name"]) == ("mailer", "mailer")
            assert made["dead_letter_queue"] == "dead"
            assert made["settings"] == {
                "batch_size": 7,
                "max_concurrency": None,
                "max_retries": 0,
                "max_wait_time_ms": 1_500,
                "retry_delay": 0,
            }
            [listed] = [
                consumer
                async for consumer in api.queues.consumers.list(queue.queue_id, account_id=ACCOUNT)
            ]
            assert listed.type == "worker"
            assert listed.script_name == "mailer"
            await api.queues.consumers.delete(
                made["consumer_id"], account_id=ACCOUNT, queue_id=queue.queue_id
            )
            assert (await api.http.get(f"/{queue.queue_id}/consumers")).json()["result"] == []

        scenario()

    @staticmethod
    def test_is_changed_in_place() -> None:
        @with_api
        async def scenario(api: Api) -> None:
            queue = await api.pulled_queue(batch_size=3)
            [known] = (await api.http.get(f"/{queue}/consumers")).json()["result"]
            changed = await api.queues.consumers.update(
                known["consumer_id"],
                account_id=ACCOUNT,
                queue_id=queue,
                type="http_pull",
                settings={"max_retries": 9},
            )
            assert changed is not None
            assert changed.settings is not None
            assert changed.settings.to_dict() == {
                "batch_size": 5,
                "max_retries": 9,
                "retry_delay": 0,
                "visibility_timeout_ms": 30_000,
            }
            got = await api.queues.consumers.get(
                known["consumer_id"], account_id=ACCOUNT, queue_id=queue
            )
            assert got == changed

        scenario()

    @staticmethod
    @pytest.mark.parametrize("kind", ["worker", "http_pull"])
    def test_is_alone_and_the_refusal_says_how_to_remove_it(kind: str) -> None:
        @with_api
        async def scenario(api: Api) -> None:
            queue = (await api.queues.create(account_id=ACCOUNT, queue_name="q")).queue_id  # type: ignore[union-attr]
            await api.post(f"/{queue}/consumers", type=kind, script_name="s")
            for second in ("worker", "http_pull"):
                response = await api.http.post(
                    f"/{queue}/consumers", json={"type": second, "script_name": "s"}
                )
                assert response.status_code == 409
                [error] = response.json()["errors"]
                assert error["code"] == 11004
                command = "worker remove q s" if kind == "worker" else "http remove q"
                assert f"wrangler queues consumer {command}" in error["message"]

        scenario()

    @staticmethod
    def test_of_type_worker_excludes_pulling_until_it_is_switched() -> None:
        @with_api
        async def scenario(api: Api) -> None:
            queue = (await api.queues.create(account_id=ACCOUNT, queue_name="q")).queue_id  # type: ignore[union-attr]
            assert await api.refused(f"/{queue}/messages/pull", json={}) == (405, 10405)
            made = await api.post(f"/{queue}/consumers", type="worker", script_name="s")
            assert await api.refused(f"/{queue}/messages/pull", json={}) == (405, 10405)
            await api.http.delete(f"/{queue}/consumers/{made['consumer_id']}")
            await api.post(f"/{queue}/consumers", type="http_pull")
            await api.send(queue or "", "a")
            assert letters(await api.pull(queue or "")) == "a"

        scenario()


class TestSettingsFromTheFileAndTheApi:
    """The most recent change holds, across restarts too."""

    @staticmethod
    def test_an_unchanged_file_does_not_undo_what_the_api_changed() -> None:
        @with_api
        async def scenario(api: Api) -> None:
            in_file = ConsumerSettings("q", max_retries=1, script="w")
            api.broker.configure(queues=[QueueSettings("q")], consumers=[in_file])
            queue = api.store.queue("q").queue_id
            [known] = (await api.http.get(f"/{queue}/consumers")).json()["result"]
            await api.http.put(
                f"/{queue}/consumers/{known['consumer_id']}",
                json={"type": "worker", "script_name": "w", "settings": {"max_retries": 7}},
            )
            await api.queues.edit(queue, account_id=ACCOUNT, settings={"delivery_paused": True})
            await api.restart()
            api.broker.configure(queues=[QueueSettings("q")], consumers=[in_file])
            view = api.control.get(queue)
            assert view.record.settings.paused
            assert view.consumer is not None
            assert view.consumer.settings.max_retries == 7
            edited = ConsumerSettings("q", max_retries=2, script="w")
            api.broker.configure(queues=[QueueSettings("q")], consumers=[edited])
            view = api.control.get(queue)
            assert view.consumer is not None
            assert view.consumer.settings.max_retries == 2

        scenario()

    @staticmethod
    def test_a_queue_switched_to_pulling_stays_so_until_that_ends() -> None:
        @with_api
        async def scenario(api: Api) -> None:
            in_file = ConsumerSettings("q", script="w")
            api.broker.configure(queues=[QueueSettings("q")], consumers=[in_file])
            queue = api.store.queue("q").queue_id
            [worker] = (await api.http.get(f"/{queue}/consumers")).json()["result"]
            await api.http.delete(f"/{queue}/consumers/{worker['consumer_id']}")
            pull = await api.post(f"/{queue}/consumers", type="http_pull")
            await api.restart()
            api.broker.configure(queues=[QueueSettings("q")], consumers=[in_file])
            await api.send(queue, "a")
            assert letters(await api.pull(queue)) == "a"
            edited = ConsumerSettings("q", max_retries=9, script="w")
            api.broker.configure(queues=[QueueSettings("q")], consumers=[edited])
            kept = [event for event in api.events if isinstance(event, PullConsumerKept)]
            assert kept == [PullConsumerKept("q", "w")]
            await api.http.delete(f"/{queue}/consumers/{pull['consumer_id']}")
            assert api.control.get(queue).consumer is not None

        scenario()

    @staticmethod
    def test_a_consumer_the_file_no_longer_names_is_gone_unless_it_pulls() -> None:
        @with_api
        async def scenario(api: Api) -> None:
            api.broker.configure(consumers=[ConsumerSettings("q", script="w")])
            api.broker.configure(consumers=[])
            queue = api.store.queue("q").queue_id
            assert api.control.get(queue).consumer is None
            await api.post(f"/{queue}/consumers", type="http_pull")
            api.broker.configure(consumers=[])
            assert api.control.get(queue).consumer is not None

        scenario()


@with_api
async def test_peeking_leases_nothing_and_counts_no_attempt(api: Api) -> None:
    queue = await api.pulled_queue()
    await api.send(queue, "abc")
    for _ in range(3):
        peeked = await api.queues.messages.peek(queue, account_id=ACCOUNT, batch_size=2)
        assert peeked is not None
        assert peeked.messages is not None
        assert [(m.body, m.attempts) for m in peeked.messages] == [("a", 0), ("b", 0)]
    assert [message.attempts for message in await api.pull(queue)] == [1, 1, 1]


@with_api
async def test_what_was_peeked_at_can_be_removed_by_both_generations_of_clients(api: Api) -> None:
    queue = await api.pulled_queue()
    await api.send(queue, "abc")
    peeked = await api.queues.messages.peek(queue, account_id=ACCOUNT)
    assert peeked is not None
    a, b, _ = peeked.messages or []
    purged = await api.queues.messages.purge(
        queue, account_id=ACCOUNT, refs=[{"ref": a.ref or ""}, {"ref": "nonsense"}]
    )
    assert purged is not None
    assert list(purged.warnings or {}) == ["nonsense"]
    preview = await api.post(f"/{queue}/messages/preview")
    assert [message["body"] for message in preview["messages"]] == ["b", "c"]
    lease = preview["messages"][0]["lease_id"]
    answer = await api.post(f"/{queue}/messages/preview/ack", acks=[{"lease_id": lease}])
    assert answer["warnings"] == {}
    again = await api.post(f"/{queue}/messages/preview/ack", acks=[{"lease_id": b.ref}])
    assert list(again["warnings"]) == [b.ref]
    not_leased = await api.post(f"/{queue}/messages/ack", acks=[{"lease_id": lease}])
    assert not_leased["ackCount"] == 0, "a reference is no lease"
    assert letters(await api.pull(queue)) == "c"


@with_api
async def test_redriving_moves_what_waits_back_as_new_messages(api: Api) -> None:
    dead = await api.pulled_queue("dead")
    queue = await api.pulled_queue(dead_letters="dead", max_retries=1)
    await api.send(queue, "abc")
    await api.ack(queue, retry=await api.pull(queue))
    moved = await api.post(f"/{dead}/messages/redrive", destination_queue="q")
    assert moved["moved"] == 3
    assert await api.pull(dead) == []
    assert [(m.body, m.attempts) for m in await api.pull(queue)] == [("a", 1), ("b", 1), ("c", 1)]
    nowhere: Any = {"json": {"destination_queue": "nobody"}}
    assert await api.refused(f"/{dead}/messages/redrive", **nowhere) == (404, 10104)
