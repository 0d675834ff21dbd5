"""WebSockets that hibernate with their Durable Object: messages, attachments, tags, closes."""

from __future__ import annotations

from socket_harness import ROOM, SOCKET_FLAGS, room, sockets_child


def test_messages_are_events_of_the_object() -> None:
    with sockets_child(ROOM) as child:
        ann, bob = child.connect("/ann"), child.connect("/bob")
        ann.says("hi")
        assert (ann.hears(), bob.hears()) == (["ann: hi"], ["ann: hi"])


def test_bytes_are_an_array_buffer_whatever_the_date() -> None:
    with sockets_child(room("ws.send(m.constructor.name + repr(m.to_bytes()))")) as child:
        assert child.connect("/ann").says(b"\x00x").hears() == ["ArrayBufferb'\\x00x'"]


def test_the_object_leaves_memory_while_its_sockets_stay() -> None:
    with sockets_child(room("ws.send(f'{self.woken} {ws.deserializeAttachment().name}')")) as child:
        ann = child.connect("/ann")
        assert ann.says("x", "x").hears(2) == ["1 ann", "2 ann"]
        child.objects_sleep()
        assert ann.says("x").hears() == ["1 ann"], "a new instance knows the attachment"


def test_the_last_attachment_survives() -> None:
    counting = (
        "n = getattr(ws.deserializeAttachment(), 'n', 0); "
        "ws.serializeAttachment(to_js({'n': n + 1})); ws.send(str(n + 1))"
    )
    with sockets_child(room(counting)) as child:
        ann = child.connect("/ann")
        assert ann.says("x", "x").hears(2) == ["1", "2"]
        child.objects_sleep()
        assert ann.says("x").hears() == ["3"]


def test_sockets_are_found_by_tag_before_and_after_sleep() -> None:
    looking = (
        "ws.send(repr([len(self.ctx.getWebSockets()), len(self.ctx.getWebSockets('ann')), "
        "len(self.ctx.getWebSockets('none')), list(self.ctx.getTags(ws))]))"
    )
    with sockets_child(room(looking)) as child:
        ann = child.connect("/ann")
        child.connect("/bob")
        awake = ann.says("x").hears()
        child.objects_sleep()
        assert ann.says("x").hears() == awake == ["[2, 1, 0, ['ann', 'all']]"]


def test_the_newest_socket_comes_first_and_those_of_a_tag_in_order() -> None:
    looking = (
        "names = lambda sockets: [s.deserializeAttachment().name for s in sockets]; "
        "ws.send(repr([names(self.ctx.getWebSockets()), names(self.ctx.getWebSockets('all'))]))"
    )
    with sockets_child(room(looking)) as child:
        ann = child.connect("/ann")
        child.connect("/bob")
        assert ann.says("x").hears() == ["[['bob', 'ann'], ['ann', 'bob']]"]


def test_one_message_of_a_socket_is_handled_after_the_other() -> None:
    slowly = "ws.send('begin ' + m); await asyncio.sleep(0.01); ws.send('end ' + m)"
    with sockets_child(room(slowly)) as child:
        ann = child.connect("/ann")
        assert ann.says("1", "2").hears(4) == ["begin 1", "end 1", "begin 2", "end 2"]


def test_sockets_do_not_wait_for_each_other() -> None:
    slowly = "ws.send('begin'); await asyncio.sleep(0.01); ws.send('end')"
    with sockets_child(room(slowly)) as child:
        ann, bob = child.connect("/ann"), child.connect("/bob")
        ann.says("x")
        bob.says("x")
        assert bob.hears() == ["begin"]
        assert ann.received == ["begin"], "it still sleeps"
        assert (ann.hears(2), bob.hears()) == (["begin", "end"], ["end"])


def test_a_close_is_answered_at_once_and_told_to_the_object() -> None:
    with sockets_child(ROOM) as child:
        ann, bob = child.connect("/ann"), child.connect("/bob")
        child.objects_sleep()
        bob.closes(4001, "bye")
        assert bob.hears_close() == (4001, "bye")
        assert ann.hears() == ["left: bob 4001 bye True"]


def test_a_closed_socket_is_not_found_any_more() -> None:
    with sockets_child(room("ws.send(str(len(self.ctx.getWebSockets())))")) as child:
        ann, bob = child.connect("/ann"), child.connect("/bob")
        bob.closes()
        child.loop.run_until_idle()
        assert [text for text in ann.says("x").hears(2) if text.isdigit()] == ["1"]
        child.objects_sleep()
        assert ann.says("x").hears() == ["1"]


def test_a_client_that_vanishes_is_a_close_that_was_not_clean() -> None:
    with sockets_child(ROOM) as child:
        ann, bob = child.connect("/ann"), child.connect("/bob")
        child.objects_sleep()
        bob.vanishes()
        assert ann.hears() == [
            "left: bob 1006 WebSocket disconnected without sending Close frame. False"
        ]


def test_a_client_that_breaks_the_protocol_is_an_error_of_its_socket() -> None:
    with sockets_child(ROOM) as child:
        ann, bob = child.connect("/ann"), child.connect("/bob")
        bob.breaks_the_protocol("Message is too large")
        assert ann.hears() == ["failed: bob Error: Message is too large"]


def test_before_the_flag_the_handler_answers_a_close() -> None:
    flags = SOCKET_FLAGS - {"web_socket_auto_reply_to_close"}
    program = ROOM + "\n    async def webSocketClose(self, ws, code, reason, clean):\n"
    with sockets_child(program + "        ws.close(4002, 'mine')\n", flags=flags) as child:
        ann = child.connect("/ann")
        ann.closes(4001)
        assert ann.hears_close() == (4002, "mine")
    with sockets_child(program + "        pass\n", flags=flags) as child:
        ann = child.connect("/ann")
        ann.closes(4001)
        assert ann.is_dropped()
        assert ann.close_frame is None


def test_the_object_may_close_and_hears_of_the_answer() -> None:
    with sockets_child(room("ws.close(4005, 'enough')")) as child:
        ann, bob = child.connect("/ann"), child.connect("/bob")
        bob.says("x")
        assert bob.hears_close() == (4005, "enough")
        child.loop.run_until_idle()
        bob.closes(4005, "enough")
        assert ann.hears() == ["left: bob 4005 enough True"]
        assert not bob.dropped


def test_missing_handlers_are_no_error() -> None:
    silent = ROOM.partition("    async def webSocketMessage")[0]
    with sockets_child(silent) as child:
        ann = child.connect("/ann")
        ann.says("x")
        ann.closes(4000)
        assert ann.hears_close() == (4000, "")
        child.loop.run_until_idle()
        assert child.errors == []


def test_a_handler_that_fails_is_logged_and_the_next_message_comes() -> None:
    with sockets_child(room("ws.send(m); raise ValueError(m)")) as child:
        ann = child.connect("/ann")
        assert ann.says("a", "b").hears(2) == ["a", "b"]
        child.loop.run_until_idle()
        assert ["ValueError: a" in child.errors[0], len(child.errors)] == [True, 2]


def test_handlers_take_as_many_arguments_as_they_like() -> None:
    program = ROOM + "\n    def webSocketMessage(self, ws):\n        ws.send('one argument')\n"
    with sockets_child(program) as child:
        assert child.connect("/ann").says("x").hears() == ["one argument"]


def test_an_object_that_is_reset_loses_its_connections() -> None:
    with sockets_child(room("self.ctx.abort('broken')")) as child:
        ann = child.connect("/ann")
        ann.says("x")
        assert ann.is_dropped()
        assert child.connect("/bob").says("x").is_dropped(), "and starts anew"


def test_what_was_written_is_on_disk_before_a_message_leaves() -> None:
    program = room("self.ctx.storage.kv.put('n', 1); ws.send('written')")
    with sockets_child(program) as child:
        ann = child.connect("/ann")
        assert ann.says("x").hears() == ["written"]
        child.objects_sleep()
