"""Pull consumers as the official ``cloudflare`` client sees them."""

from __future__ import annotations

from api_harness import ACCOUNT, SECOND, Api, decoded, letters, with_api


@with_api
async def test_what_is_sent_is_pulled_and_acknowledged(api: Api) -> None:
    queue = await api.pulled_queue()
    await api.send(queue, "abc")
    pulled = await api.pull(queue)
    assert letters(pulled) == "abc"
    assert [message.attempts for message in pulled] == [1, 1, 1]
    answer = await api.ack(queue, *pulled)
    assert (answer.ack_count, answer.retry_count, answer.warnings) == (3, 0, {})
    assert await api.pull(queue) == []


@with_api
async def test_pullers_at_the_same_time_get_different_messages(api: Api) -> None:
    queue = await api.pulled_queue()
    await api.send(queue, "abcdef")
    assert [letters(await api.pull(queue, 2)) for _ in range(4)] == ["ab", "cd", "ef", ""]


@with_api
async def test_a_pull_gets_five_messages_for_thirty_seconds_by_default(api: Api) -> None:
    queue = await api.pulled_queue()
    await api.send(queue, "abcdef")
    first = await api.queues.messages.pull(queue, account_id=ACCOUNT)
    assert first is not None
    assert letters(first.messages or []) == "abcde"
    await api.clock.advance(30 * SECOND - 1)
    assert letters(await api.pull(queue)) == "f"
    await api.clock.advance(1)
    assert letters(await api.pull(queue)) == "abcde"


@with_api
async def test_the_consumers_settings_are_the_defaults_of_a_pull(api: Api) -> None:
    queue = await api.pulled_queue(batch_size=2, visibility_timeout_ms=1_000)
    await api.send(queue, "abc")
    first = await api.queues.messages.pull(queue, account_id=ACCOUNT)
    assert first is not None
    assert letters(first.messages or []) == "ab"
    await api.clock.advance(SECOND)
    assert letters(await api.pull(queue)) == "cab"


@with_api
async def test_the_older_name_of_the_visibility_timeout_means_milliseconds_too(api: Api) -> None:
    queue = await api.pulled_queue()
    await api.send(queue, "a")
    await api.post(f"/{queue}/messages/pull", visibility_timeout=2_000)
    await api.clock.advance(2 * SECOND - 1)
    assert await api.pull(queue) == []
    await api.clock.advance(1)
    assert letters(await api.pull(queue)) == "a"


@with_api
async def test_a_lease_that_ends_counts_an_attempt(api: Api) -> None:
    queue = await api.pulled_queue()
    await api.send(queue, "a")
    for attempt in (1, 2, 3):
        [message] = await api.pull(queue, visibility_timeout_ms=SECOND)
        assert message.attempts == attempt
        await api.clock.advance(SECOND)
    assert await api.pull(queue) == []


@with_api
async def test_after_max_retries_a_message_goes_to_the_dead_letter_queue(api: Api) -> None:
    dead = await api.pulled_queue("dead")
    queue = await api.pulled_queue(dead_letters="dead", max_retries=2)
    await api.send(queue, "a")
    [first] = await api.pull(queue)
    await api.ack(queue, retry=[first])
    [second] = await api.pull(queue)
    await api.ack(queue, retry=[second])
    assert await api.pull(queue) == []
    [buried] = await api.pull(dead)
    assert (buried.id, buried.body, buried.attempts) == (first.id, "a", 1)
    assert buried.timestamp_ms == first.timestamp_ms


@with_api
async def test_without_retries_a_message_is_pulled_once(api: Api) -> None:
    dead = await api.pulled_queue("dead")
    queue = await api.pulled_queue(dead_letters="dead", max_retries=0)
    await api.send(queue, "a")
    only = await api.pull(queue)
    assert letters(only) == "a"
    await api.ack(queue, retry=only)
    assert await api.pull(queue) == []
    assert letters(await api.pull(dead)) == "a"


@with_api
async def test_ack_and_retry_with_a_delay_go_in_one_call(api: Api) -> None:
    queue = await api.pulled_queue()
    await api.send(queue, "abc")
    a, b, c = await api.pull(queue)
    answer = await api.queues.messages.ack(
        queue,
        account_id=ACCOUNT,
        acks=[{"lease_id": a.lease_id}],
        retries=[{"lease_id": b.lease_id, "delay_seconds": 600}, {"lease_id": c.lease_id}],
    )
    assert answer is not None
    assert (answer.ack_count, answer.retry_count) == (1, 2)
    [again] = await api.pull(queue)
    assert (again.body, again.attempts) == ("c", 2)
    await api.clock.advance(600 * SECOND)
    assert {message.body for message in await api.pull(queue)} == {"b", "c"}


@with_api
async def test_of_two_retries_of_a_message_in_one_call_the_first_holds(api: Api) -> None:
    queue = await api.pulled_queue()
    await api.send(queue, "a")
    [a] = await api.pull(queue)
    again = {"lease_id": a.lease_id}
    await api.post(f"/{queue}/messages/ack", retries=[{**again, "delay_seconds": 60}, again])
    assert await api.pull(queue) == []
    await api.clock.advance(60 * SECOND)
    assert letters(await api.pull(queue)) == "a"


@with_api
async def test_a_retry_waits_for_the_consumers_retry_delay(api: Api) -> None:
    queue = await api.pulled_queue(retry_delay=10)
    await api.send(queue, "a")
    await api.ack(queue, retry=await api.pull(queue))
    await api.clock.advance(9 * SECOND)
    assert await api.pull(queue) == []
    await api.clock.advance(1 * SECOND)
    assert letters(await api.pull(queue)) == "a"


class TestALateAck:
    @staticmethod
    def test_is_accepted_when_the_message_waits_again() -> None:
        @with_api
        async def scenario(api: Api) -> None:
            queue = await api.pulled_queue()
            await api.send(queue, "a")
            late = await api.pull(queue, visibility_timeout_ms=SECOND)
            await api.clock.advance(2 * SECOND)
            answer = await api.ack(queue, *late)
            assert (answer.ack_count, answer.warnings) == (1, {})
            assert await api.pull(queue) == []

        scenario()

    @staticmethod
    def test_is_accepted_when_another_puller_has_the_message_who_may_ack_it_too() -> None:
        @with_api
        async def scenario(api: Api) -> None:
            queue = await api.pulled_queue()
            await api.send(queue, "a")
            late = await api.pull(queue, visibility_timeout_ms=SECOND)
            await api.clock.advance(2 * SECOND)
            other = await api.pull(queue)
            assert (await api.ack(queue, *late)).ack_count == 1
            answer = await api.ack(queue, *other)
            assert (answer.ack_count, answer.warnings) == (1, {})
            await api.clock.advance(60 * SECOND)
            assert await api.pull(queue) == []

        scenario()

    @staticmethod
    def test_finds_a_message_that_is_delayed_and_one_that_came_back_twice() -> None:
        @with_api
        async def scenario(api: Api) -> None:
            queue = await api.pulled_queue(retry_delay=60)
            await api.send(queue, "ab")
            first = await api.pull(queue, visibility_timeout_ms=SECOND)
            await api.clock.advance(SECOND)
            again = await api.pull(queue)
            await api.ack(queue, retry=again)
            assert (await api.ack(queue, first[0])).ack_count == 1
            await api.clock.advance(60 * SECOND)
            assert (await api.ack(queue, first[1])).ack_count == 1
            assert await api.pull(queue) == []
            metrics = await api.queues.get_metrics(queue, account_id=ACCOUNT)
            assert metrics is not None
            assert metrics.backlog_count == 0

        scenario()

    @staticmethod
    def test_is_accepted_after_a_restart() -> None:
        @with_api
        async def scenario(api: Api) -> None:
            queue = await api.pulled_queue()
            await api.send(queue, "ab")
            late = await api.pull(queue, 1, visibility_timeout_ms=SECOND)
            await api.restart()
            await api.clock.advance(2 * SECOND)
            await api.restart()
            assert (await api.ack(queue, *late)).ack_count == 1
            assert letters(await api.pull(queue)) == "b"

        scenario()


@with_api
async def test_a_lease_outlives_the_emulator(api: Api) -> None:
    queue = await api.pulled_queue()
    await api.send(queue, "ab")
    held = await api.pull(queue, 1)
    await api.restart()
    assert letters(await api.pull(queue)) == "b"
    await api.ack(queue, *held)
    await api.clock.advance(30 * SECOND)
    [message] = await api.pull(queue)
    assert (message.body, message.attempts) == ("b", 2)


@with_api
async def test_a_late_retry_changes_nothing_and_says_so(api: Api) -> None:
    queue = await api.pulled_queue()
    await api.send(queue, "ab")
    late = await api.pull(queue, visibility_timeout_ms=SECOND)
    await api.clock.advance(SECOND)
    [a, _] = await api.pull(queue)
    await api.ack(queue, a)
    answer = await api.ack(queue, retry=late)
    assert answer.retry_count == 0
    assert answer.warnings[late[0].lease_id].startswith("the message was acknowledged")
    assert answer.warnings[late[1].lease_id].startswith("the lease ended")


@with_api
async def test_what_is_no_lease_is_reported_and_the_rest_is_done(api: Api) -> None:
    queue = await api.pulled_queue()
    other = await api.pulled_queue("other")
    await api.send(queue, "a")
    await api.send(other, "b")
    [mine] = await api.pull(queue)
    [foreign] = await api.pull(other)
    forged = mine.lease_id[:-1] + ("A" if mine.lease_id[-1] != "A" else "B")
    bad = ["", "lease_id1", "é", forged, foreign.lease_id, mine.lease_id * 2]
    answer = await api.post(
        f"/{queue}/messages/ack",
        acks=[{"lease_id": text} for text in [*bad, mine.lease_id]],
        retries=[{"lease_id": "etc"}],
    )
    assert (answer["ackCount"], answer["retryCount"]) == (1, 0)
    assert set(answer["warnings"]) == {*bad, "etc"}
    assert len(await api.pull(other)) == 0


@with_api
async def test_lease_ids_differ_by_delivery_and_tell_nothing_that_can_be_changed(api: Api) -> None:
    queue = await api.pulled_queue()
    await api.send(queue, "ab")
    first = await api.pull(queue)
    await api.ack(queue, retry=first)
    again = await api.pull(queue)
    ids = {message.lease_id for message in [*first, *again]}
    assert len(ids) == 4
    assert len({id_[-32:] for id_ in ids}) == 4, "the signatures differ"


@with_api
async def test_json_and_bytes_come_as_base64_and_text_as_it_is(api: Api) -> None:
    queue = await api.pulled_queue()
    await api.queues.messages.push(
        queue, account_id=ACCOUNT, body={"n": [1, "é"]}, content_type="json"
    )
    await api.queues.messages.push(queue, account_id=ACCOUNT, body="héllo", content_type="text")
    await api.post(f"/{queue}/messages", body="AAH/", content_type="bytes")
    await api.post(f"/{queue}/messages", body="plain")
    as_json, text, data, untyped = await api.pull(queue)
    assert decoded(as_json) == '{"n":[1,"é"]}'.encode()
    assert text.body == "héllo"
    assert decoded(data) == b"\x00\x01\xff"
    assert decoded(untyped) == b'"plain"'
    kinds = [m.metadata["CF-Content-Type"] for m in (as_json, text, data, untyped)]
    assert kinds == ["json", "text", "bytes", "json"]


@with_api
async def test_v8_is_refused_for_a_queue_that_is_pulled_from(api: Api) -> None:
    queue = await api.pulled_queue()
    sent = {"json": {"body": 1, "content_type": "v8"}}
    assert await api.refused(f"/{queue}/messages", **sent) == (400, 10203)


@with_api
async def test_the_backlog_counts_what_nobody_acknowledged(api: Api) -> None:
    queue = await api.pulled_queue()
    await api.send(queue, "abc")
    pulled = await api.queues.messages.pull(queue, account_id=ACCOUNT, batch_size=2)
    assert pulled is not None
    assert pulled.message_backlog_count == 3
    assert pulled.metadata is not None
    assert pulled.metadata.metrics is not None
    assert pulled.metadata.metrics.backlog_bytes == 3
    await api.ack(queue, *(pulled.messages or []))
    metrics = await api.queues.get_metrics(queue, account_id=ACCOUNT)
    assert metrics is not None
    assert (metrics.backlog_count, metrics.backlog_bytes) == (1, 1)
    assert metrics.oldest_message_timestamp_ms == 1_700_000_000_000


@with_api
async def test_a_paused_queue_is_not_pulled_from_but_takes_messages_and_acks(api: Api) -> None:
    queue = await api.pulled_queue()
    await api.send(queue, "a")
    pulled = await api.pull(queue)
    await api.queues.edit(queue, account_id=ACCOUNT, settings={"delivery_paused": True})
    response = await api.http.post(f"/{queue}/messages/pull", json={})
    assert response.status_code == 409
    assert response.json()["errors"][0]["message"] == "queue_delivery_paused"
    await api.send(queue, "b")
    assert (await api.ack(queue, *pulled)).ack_count == 1
    await api.queues.edit(queue, account_id=ACCOUNT, settings={"delivery_paused": False})
    assert letters(await api.pull(queue)) == "b"


@with_api
async def test_retention_runs_while_a_queue_is_paused(api: Api) -> None:
    queue = await api.pulled_queue()
    settings = {"delivery_paused": True, "message_retention_period": 60}
    await api.queues.edit(queue, account_id=ACCOUNT, settings=settings)  # type: ignore[arg-type]
    await api.send(queue, "a")
    await api.clock.advance(60 * SECOND)
    metrics = await api.queues.get_metrics(queue, account_id=ACCOUNT)
    assert metrics is not None
    assert metrics.backlog_count == 0


@with_api
async def test_a_message_in_both_lists_is_acknowledged(api: Api) -> None:
    queue = await api.pulled_queue()
    await api.send(queue, "a")
    pulled = await api.pull(queue)
    answer = await api.ack(queue, *pulled, *pulled, retry=pulled)
    assert (answer.ack_count, answer.retry_count, answer.warnings) == (1, 0, {})
    assert await api.pull(queue) == []
