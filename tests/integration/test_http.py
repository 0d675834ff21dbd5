"""HTTP through the whole of it: the listening socket, the channel, the SDK, user code."""

from __future__ import annotations

import hashlib
import socket
from typing import TYPE_CHECKING

import httpx
import pytest
from dev_session import RUNTIME, Dev, eventually, needs_compiled_packages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dev_session import Project

MEGABYTE = 1024 * 1024


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dev]:
    """One Worker for all the tests here that leave it as it was."""
    from dev_session import Project

    session = Dev(Project.of_worker("web", tmp_path_factory.mktemp("web") / "project"))
    yield session.ready()
    session.close()


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_every_method_arrives(web: Dev, method: str) -> None:
    answer = web.client.request(method, "/echo?a=1&b=%20x")
    assert answer.json()["method"] == method
    assert answer.json()["url"] == f"{web.url}/echo?a=1&b=%20x"


def test_head_gets_the_headers_and_no_body(web: Dev) -> None:
    answer = web.client.head("/")
    assert answer.status_code == 200
    assert answer.headers["content-length"] == "5"
    assert answer.content == b""
    # The connection stays usable: no byte of a body was sent.
    assert web.get("/").text == "first"


def test_an_answer_without_content_has_no_body(web: Dev) -> None:
    answer = web.get("/empty")
    assert (answer.status_code, answer.content) == (204, b"")
    assert "content-length" not in answer.headers


def test_repeated_headers_stay_apart_in_answers(web: Dev) -> None:
    answer = web.get("/headers")
    assert answer.headers.get_list("set-cookie") == ["a=1", "b=2"]


def test_repeated_headers_of_a_request_are_joined_as_fetch_does(web: Dev) -> None:
    headers = [("x-many", "1"), ("x-many", "2"), ("X-Case", "Kept")]
    seen = dict(web.client.get("/echo", headers=headers).json()["headers"])
    assert seen["x-many"] == "1, 2"
    assert seen["x-case"] == "Kept"


def test_ten_megabytes_arrive_whole(web: Dev) -> None:
    body = bytes(range(256)) * (10 * MEGABYTE // 256)
    seen = web.post("/echo", content=body).json()
    assert seen["size"] == len(body)
    assert seen["sha256"] == hashlib.sha256(body).hexdigest()


def test_a_chunked_request_body_arrives_whole(web: Dev) -> None:
    def pieces() -> Iterator[bytes]:
        for number in range(100):
            yield bytes([number]) * 7001

    seen = web.post("/echo", content=pieces()).json()
    expected = b"".join(bytes([number]) * 7001 for number in range(100))
    assert seen["size"] == 700_100
    assert seen["sha256"] == hashlib.sha256(expected).hexdigest()


def test_ten_megabytes_are_answered_whole(web: Dev) -> None:
    answer = web.get(f"/big?size={10 * MEGABYTE}")
    assert answer.headers["content-length"] == str(10 * MEGABYTE)
    assert answer.content == b"0123456789abcdef" * (10 * MEGABYTE // 16)


def test_a_streamed_answer_arrives_chunk_by_chunk(web: Dev) -> None:
    received: list[str] = []
    with web.client.stream("GET", "/stream") as answer:
        assert answer.status_code == 200
        lines = answer.iter_lines()
        for number in ("one", "two", "three"):
            # The next chunk exists only once the one before was received.
            httpx.get(f"{web.url}/open?gate={number}", trust_env=False)
            received.append(next(lines))
    assert received == ["one", "two", "three"]


def test_an_answer_nobody_will_ever_finish_is_cut_off(web: Dev) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        web.get("/halfway")
    web.wait_for(r"GET /halfway: the response was cut short\n.* had hung and would never generate")
    web.get("/")
    assert web.count("had hung") == 1
    assert "ASGI" not in web.output


def test_a_client_that_leaves_during_the_answer_ends_it(web: Dev) -> None:
    before = web.count("endless response ended")
    with web.client.stream("GET", "/endless") as answer:
        next(answer.iter_raw())
    web.wait_for("endless response ended", times=before + 1)
    assert web.get("/").text == "first"


def test_a_client_that_leaves_while_the_handler_works_stops_it(web: Dev) -> None:
    with pytest.raises(httpx.ReadTimeout):
        web.get("/wait?gate=never", timeout=0.3)
    web.wait_for("stopped waiting: CancelledError")
    web.wait_for(r"GET /wait was cancelled: its client disconnected\n(.*\n)+?.* in on_wait\n")
    assert web.get("/").text == "first"


def test_a_client_that_leaves_during_its_own_body_does_no_harm(web: Dev) -> None:
    with socket.create_connection(("127.0.0.1", web.port)) as connection:
        head = "POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"
        connection.sendall(head.encode() + b"x" * 1000)
    assert web.get("/").text == "first"


def test_an_answer_before_the_whole_body_arrived_does_no_harm(web: Dev) -> None:
    with socket.create_connection(("127.0.0.1", web.port)) as connection:
        head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n"
        connection.sendall(head.encode() + b"x" * 1000)
        assert connection.recv(4096).startswith(b"HTTP/1.1 200 OK")
    assert web.get("/").text == "first"


def test_a_failure_is_a_page_for_browsers(web: Dev) -> None:
    answer = web.get("/fail", headers={"accept": "text/html,application/xhtml+xml"})
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "ValueError: told to &lt;fail&gt;" in answer.text
    assert "src/entry.py" in answer.text


def test_a_failure_is_text_for_everyone_else(web: Dev) -> None:
    answer = web.get("/fail", headers={"accept": "*/*"})
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text.startswith("Traceback (most recent call last):")
    assert answer.text.endswith("ValueError: told to <fail>\n")


def test_a_failure_is_told_once_with_the_users_lines_only(project, dev) -> None:
    session: Dev = dev(project("web")).ready()
    session.get("/fail")
    session.wait_for(r"GET /fail failed\n")
    session.get("/")
    assert session.count("ValueError: told to <fail>") == 1
    assert 'File "src/entry.py", line ' in session.output
    assert "tsumugi_emulator" not in session.output
    assert "site-packages" not in session.output


def test_many_requests_at_once_are_answered_each_by_its_own(web: Dev) -> None:
    import concurrent.futures

    def length(size: int) -> tuple[int, str]:
        return size, web.post("/length", content=b"x" * size).text

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        for size, answered in pool.map(length, range(0, 64_000, 1000)):
            assert answered == str(size)


@needs_compiled_packages
def test_fastapi_runs_as_documented(project, dev) -> None:
    made: Project = project("fastapi", vars={"GREETING": "Hello"})
    session: Dev = dev(made).ready()
    assert session.get("/").json() == {"greeting": "Hello"}
    item = {"name": "pen", "price": 1.5}
    assert session.post("/items", json=item).json() == item
    assert session.post("/items", json={"name": "pen"}).status_code == 422
    assert session.get("/stream").text == "part 0\npart 1\npart 2\n"
    # Production has no threads for it: the SDK has it run at once.
    assert session.get("/plain").json() == {"from": "a function that is not async", "doubled": 42}
    eventually(lambda: session.get("/docs").status_code == 200, "the documentation page")
    assert "thread" not in session.output


@pytest.mark.skipif(RUNTIME == "pyodide", reason="there are no threads")
def test_who_waits_for_a_thread_has_not_hung(project, dev) -> None:
    # Before the runtime patches anyio, FastAPI asks for a thread; it runs here, and that is told.
    made: Project = project("fastapi", compatibility_date="2026-05-01")
    session: Dev = dev(made).ready()
    assert session.get("/plain").json()["doubled"] == 42
    session.wait_for("in production a thread fails with")
    assert "hung" not in session.output
