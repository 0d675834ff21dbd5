"""``fetch`` between entrypoints, and what ``ctx`` has: props and exports."""

from __future__ import annotations

from service_harness import result_of, services_child


class TestFetch:
    def test_a_named_entrypoint_answers_requests(self) -> None:
        main = """
response = await self.env.NAMED.fetch("http://x.test/p", method="POST", body="hello")
return [response.status, await response.text()]
"""
        assert result_of(main) == [200, "POST http://x.test/p hello None None"]

    def test_a_request_object_can_be_passed_on(self) -> None:
        source = """
class Other(WorkerEntrypoint):
    async def fetch(self, request):
        return Response("got " + await request.text(), status=201, headers={"x-a": "b"})

async def main(self):
    pass

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return await self.env.OTHER.fetch(request)
"""
        with services_child(source) as child:
            answer = child.fetch("/", method="POST", body=b"body")
            assert (answer.status, answer.body) == (201, b"got body")
            assert ("x-a", "b") in answer.headers

    def test_a_body_that_is_made_as_it_is_read_streams_through(self) -> None:
        source = """
from js import ReadableStream

class Slow(WorkerEntrypoint):
    async def fetch(self, request):
        async def chunks():
            for number in range(3):
                await asyncio.sleep(0)
                yield f"{number};".encode()
        made = chunks()
        async def pull(controller):
            try:
                controller.enqueue(to_js(await anext(made)))
            except StopAsyncIteration:
                controller.close()
        stream = ReadableStream.new(to_js(
            {"pull": create_proxy(pull)}, dict_converter=__import__("js").Object.fromEntries))
        return Response(stream)

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return await self.env.SLOW.fetch("http://x/")
"""
        with services_child(source) as child:
            assert child.text() == "0;1;2;"

    def test_no_response_is_an_error(self) -> None:
        source = """
class Bad(WorkerEntrypoint):
    async def fetch(self, request):
        return "text"

class Without(WorkerEntrypoint):
    pass
"""
        text = result_of("return await outcome(self.env.BAD.fetch('http://x/'))", source)
        assert text == (
            "AbortError: Incorrect type for Promise: the Promise did not resolve to 'Response'."
        )
        text = result_of("return await outcome(self.env.WITHOUT.fetch('http://x/'))", source)
        assert text == "AbortError: Method fetch does not exist"


class TestContext:
    def test_props_of_the_binding_are_the_callees(self) -> None:
        main = "return await self.env.NAMED.whoami()"
        assert result_of(main, props={"who": "me"}) == "me"
        assert result_of(main) == "nobody"

    def test_props_of_a_request_from_outside_are_empty(self) -> None:
        assert result_of("return list(self.ctx.props.object_keys())") == []

    def test_exports_has_every_entrypoint(self) -> None:
        main = "return sorted(self.ctx.exports.object_keys())"
        assert result_of(main) == ["Named", "default"]

    def test_exports_calls_without_the_sdk(self) -> None:
        main = """
named = self.ctx.exports.Named
return [
    await named.add(1, 2),
    await outcome(named.echo({"a": 1})),
    (await named.echo(to_js([1, 2]))).to_py(),
    named.constructor.name,
]
"""
        found = result_of(main)
        assert found[0] == 3
        assert found[1].startswith("DataCloneError: Proxy could not be serialized")
        assert found[2:] == [[1, 2], "LoopbackServiceStub"]

    def test_exports_can_be_given_props(self) -> None:
        main = """
from js import Object
options = to_js({"props": {"who": "it"}}, dict_converter=Object.fromEntries)
return await self.ctx.exports.Named(options).whoami()
"""
        assert result_of(main) == "it"

    def test_there_are_no_exports_without_the_flag(self) -> None:
        flags = frozenset({"python_no_global_handlers", "queues_json_messages"})
        assert result_of("return hasattr(self.ctx, 'exports')", flags=flags) is False
