"""The queues API, its commands and its neighbours, with ``tsumugi dev`` as people run it."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cloudflare import Cloudflare
from dev_session import WITHIN_S, Dev, Project, eventually, run_tsumugi

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
WRANGLER = ROOT / "benchmarks" / "node_modules" / "wrangler" / "bin" / "wrangler.js"
ACCOUNT = "local"

QUIET = """
from workers import Response, WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        name = request.url.rsplit("/", 1)[1]
        if name:
            await self.env.JOBS.send(name, contentType="text")
        return Response("ok")
"""
CONSUMER = """
from workers import Response, WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return Response("ok")

    async def queue(self, batch, env=None, ctx=None):
        for message in batch.messages:
            print("got", message.body)
"""
PRODUCES = {"producers": [{"binding": "JOBS", "queue": "jobs"}]}
CONSUMES = {"consumers": [{"queue": "jobs", "max_batch_timeout": 0, "max_concurrency": 1}]}


def described(dev: Dev) -> dict[str, str]:
    """The environment that the banner tells to set, with a token that works."""
    dev.wait_for(r"CLOUDFLARE_API_TOKEN=\S+")
    lines = [line.strip() for line in dev.output.splitlines() if "export CLOUDFLARE_" in line]
    return dict(line.removeprefix("export ").split("=", 1) for line in lines)


def client(dev: Dev) -> Cloudflare:
    shown = described(dev)
    return Cloudflare(
        api_token=shown["CLOUDFLARE_API_TOKEN"],
        base_url=shown["CLOUDFLARE_API_BASE_URL"],
        max_retries=0,
    )


def commands(project: Project, *arguments: str, code: int = 0) -> str:
    done = run_tsumugi(*arguments, cwd=project.directory)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def as_json(project: Project, *arguments: str) -> Any:
    return json.loads(commands(project, *arguments, "--json"))


type Make = Callable[..., Project]
type Start = Callable[..., Dev]


def test_a_puller_in_another_process_gets_what_the_worker_sends(project: Make, dev: Start) -> None:
    made = project(entry=QUIET, queues=PRODUCES)
    session = dev(made).ready()
    with client(session) as api:
        [queue] = api.queues.list(account_id=ACCOUNT)
        assert (queue.queue_name, queue.producers_total_count) == ("jobs", 1)
        queue_id = queue.queue_id or ""
        api.queues.consumers.create(queue_id, account_id=ACCOUNT, type="http_pull")
        for name in ("a", "b", "c"):
            session.get(f"/{name}")
        pulled = api.queues.messages.pull(queue_id, account_id=ACCOUNT)
        assert pulled is not None
        messages = pulled.messages or []
        assert [message.body for message in messages] == ["a", "b", "c"]
        acks = [{"lease_id": message.lease_id or ""} for message in messages[:2]]
        answer = api.queues.messages.ack(queue_id, account_id=ACCOUNT, acks=acks)  # type: ignore[arg-type]
        assert answer is not None
        assert answer.ack_count == 2
    assert session.stop() == 0


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_curl_lines_of_the_documentation_work(project: Make, dev: Start) -> None:
    made = project(entry=QUIET, queues=PRODUCES)
    session = dev(made).ready()
    shown = described(session)
    commands(made, "queues", "consumer", "http", "add", "jobs")
    for name in ("hello", "world"):
        session.get(f"/{name}")
    info = commands(made, "queues", "info", "jobs")
    line = info[info.index("curl ") :].replace(
        "<add your api key here>", shown["CLOUDFLARE_API_TOKEN"]
    )
    done = subprocess.run(line, shell=True, capture_output=True, check=True)
    answer = json.loads(done.stdout)
    assert [message["body"] for message in answer["result"]["messages"]] == ["hello", "world"]
    assert answer["result"]["message_backlog_count"] == 2
    a, b = [{"lease_id": message["lease_id"]} for message in answer["result"]["messages"]]
    body = {"acks": [a], "retries": [b | {"delay_seconds": 600}]}
    line = line.partition("--data")[0].replace("/pull", "/ack") + f"--data '{json.dumps(body)}'"
    done = subprocess.run(line, shell=True, capture_output=True, check=True)
    settled = json.loads(done.stdout)["result"]
    assert settled == {"ackCount": 1, "retryCount": 1, "warnings": {}}


def test_a_kill_keeps_leases_tokens_and_the_consumer(project: Make, dev: Start) -> None:
    made = project(entry=QUIET, queues=PRODUCES)
    first = dev(made).ready()
    token = described(first)["CLOUDFLARE_API_TOKEN"]
    commands(made, "queues", "consumer", "http", "add", "jobs")
    with client(first) as api:
        queue_id = as_json(made, "queues", "info", "jobs")["queue_id"]
        for name in ("a", "b"):
            first.get(f"/{name}")
        held = api.queues.messages.pull(queue_id, account_id=ACCOUNT, batch_size=1)
    first.kill()
    second = dev(made).ready()
    shown = described(second)
    assert shown["CLOUDFLARE_API_TOKEN"].startswith("<token>"), "a token is shown once"
    with Cloudflare(
        api_token=token, base_url=shown["CLOUDFLARE_API_BASE_URL"], max_retries=0
    ) as api:
        pulled = api.queues.messages.pull(queue_id, account_id=ACCOUNT)
        assert pulled is not None
        assert held is not None
        assert [message.body for message in pulled.messages or []] == ["b"]
        [message] = held.messages or []
        acks = [{"lease_id": message.lease_id or ""}]
        answer = api.queues.messages.ack(queue_id, account_id=ACCOUNT, acks=acks)  # type: ignore[arg-type]
        assert answer is not None
        assert answer.ack_count == 1


def test_commands_do_the_same_with_and_without_an_emulator(project: Make, dev: Start) -> None:
    made = project(entry=QUIET, queues=PRODUCES)
    for session in (None, dev):
        running = session(made).ready() if session else None
        if running is not None:
            described(running)
        commands(made, "queues", "create", "extra", "--message-retention-period-secs", "60")
        commands(made, "queues", "send", "extra", '{"n": 1}')
        commands(made, "queues", "send", "extra", "later", "--delay-secs", "60")
        assert [m["attempts"] for m in as_json(made, "queues", "peek", "extra")] == [0]
        added = as_json(
            made, "queues", "consumer", "worker", "add", "extra", "w", "--batch-timeout", "2"
        )
        assert added["settings"]["max_wait_time_ms"] == 2_000
        assert "w" in commands(made, "queues", "consumer", "list", "extra")
        commands(made, "queues", "consumer", "remove", "extra", "w")
        for command, paused in (("pause", True), ("resume-delivery", False)):
            queue = as_json(made, "queues", command, "extra")
            assert queue["settings"]["delivery_paused"] is paused
        info = commands(made, "queues", "info", "extra")
        assert "Backlog: 1 messages, 7 bytes\nDelayed: 1 messages" in info
        refused = run_tsumugi("queues", "delete", "extra", cwd=made.directory)
        assert "--force flag is required to delete a Queue that holds messages" in refused.stderr
        assert "Purged Queue 'extra'" in commands(made, "queues", "purge", "extra", "--force")
        commands(made, "queues", "delete", "extra")
        assert [queue["queue_name"] for queue in as_json(made, "queues", "list")] == ["jobs"]


def test_dead_letters_are_moved_back_with_one_command(project: Make) -> None:
    made = project(entry=QUIET, queues=PRODUCES)
    commands(made, "queues", "create", "dead")
    commands(made, "queues", "consumer", "http", "add", "jobs", "--dead-letter-queue", "dead")
    commands(made, "queues", "send", "dead", "a")
    assert "Moved 1 message from queue dead to queue jobs." in commands(
        made, "queues", "redrive", "dead"
    )
    assert len(as_json(made, "queues", "peek", "jobs")) == 1


def test_mistakes_are_told_in_wranglers_words(project: Make) -> None:
    made = project(entry=QUIET)
    for arguments, words in (
        (["info", "nobody"], 'Queue "nobody" does not exist. To create it, run'),
        (["create", "q", "--delivery-delay-secs", "99999"], "Must be between 0 and 86400"),
    ):
        done = run_tsumugi("queues", *arguments, cwd=made.directory)
        assert done.returncode != 0
        assert words in done.stderr


def test_a_queue_is_watched_live(project: Make, dev: Start) -> None:
    made = project(entry=QUIET, queues=PRODUCES)
    session = dev(made).ready()
    described(session)
    command = [*run_command(), "queues", "tail", "jobs", "--json"]
    tail = subprocess.Popen(
        command,
        cwd=made.directory,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    assert tail.stdout is not None
    os.set_blocking(tail.stdout.fileno(), False)
    try:
        seen = b""

        def sent() -> bool:
            nonlocal seen
            session.get("/hello")
            seen += tail.stdout.read() or b"" if tail.stdout else b""
            return b"hello" in seen

        eventually(sent, "the tail shows a send")
        assert json.loads(seen.splitlines()[0])["type"] == "Sent"
        assert session.stop() == 0
        assert tail.wait(WITHIN_S) == 0
    finally:
        tail.kill()
        tail.wait()
        tail.stdout.close()


def test_who_watches_a_queue_is_told_that_the_emulator_ended(project: Make, dev: Start) -> None:
    made = project(entry=QUIET, queues=PRODUCES)
    session = dev(made).ready()
    described(session)
    with subprocess.Popen(
        [*run_command(), "queues", "tail", "jobs"],
        cwd=made.directory,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
        text=True,
    ) as tail:
        assert tail.stdout is not None
        assert tail.stdout.readline() == 'Watching queue "jobs". Ctrl-C ends it.\n'
        eventually(
            lambda: session.get("/hello") and select.select([tail.stdout], [], [], 0)[0],
            "the tail shows a send",
        )
        assert session.stop() == 0
        assert tail.stdout.read().endswith("\n`tsumugi dev` has ended.\n")
    assert tail.returncode == 0


def run_command() -> list[str]:
    from dev_session import TSUMUGI

    return TSUMUGI


def test_the_api_is_on_the_loopback_and_refuses_web_pages(project: Make, dev: Start) -> None:
    made = project(entry=QUIET, queues=PRODUCES)
    session = dev(made, "--ip", "0.0.0.0").ready()
    shown = described(session)
    url = f"{shown['CLOUDFLARE_API_BASE_URL']}/accounts/x/queues"
    assert url.startswith("http://127.0.0.1:")
    port = int(url.split(":")[2].partition("/")[0])
    assert f"{port:04X}" in loopback_listeners()
    headers = {"authorization": f"Bearer {shown['CLOUDFLARE_API_TOKEN']}"}
    assert session.client.get(url, headers=headers).status_code == 200
    rebound = headers | {"host": f"evil.example:{port}"}
    assert session.client.get(url, headers=rebound).status_code == 403
    cross_site = headers | {"origin": "https://evil.example"}
    assert session.client.post(url, headers=cross_site, json={}).status_code == 403
    assert session.client.get(url).status_code == 401


def loopback_listeners() -> set[str]:
    """Ports, in hexadecimal, that are listened on at 127.0.0.1 and nowhere else."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    listening = [row[1].split(":") for row in rows if row[3] == "0A"]
    everywhere = {port for address, port in listening if address == "00000000"}
    return {port for address, port in listening if address == "0100007F"} - everywhere


class TestASecondEmulatorThatOnlyProduces:
    @staticmethod
    def test_sends_to_the_one_that_consumes(project: Make, dev: Start) -> None:
        consumer = dev(project(entry=CONSUMER, at="consumer", queues=CONSUMES)).ready()
        described(consumer)
        producer = dev(project(entry=QUIET, at="producer", queues=PRODUCES)).ready()
        described(producer)
        for number in range(5):
            producer.get(f"/m{number}")
        consumer.wait_for(r"got m4")
        order = [
            line.rpartition("got ")[2] for line in consumer.output.splitlines() if "got " in line
        ]
        assert order == ["m0", "m1", "m2", "m3", "m4"]

    @staticmethod
    def test_keeps_messages_in_order_while_that_one_is_down(project: Make, dev: Start) -> None:
        receiving = project(entry=CONSUMER, at="consumer", queues=CONSUMES)
        producer = dev(project(entry=QUIET, at="producer", queues=PRODUCES)).ready()
        described(producer)
        producer.get("/m0")
        producer.wait_for(r"its messages wait until one does")
        consumer = dev(receiving).ready()
        consumer.wait_for(r"QUEUE jobs 1/1")
        consumer.kill()
        for number in range(1, 4):
            producer.get(f"/m{number}")
        producer.wait_for(r"its messages wait until one does", times=2)
        consumer = dev(receiving).ready()
        consumer.wait_for(r"got m3")
        order = [
            line.rpartition("got ")[2] for line in consumer.output.splitlines() if "got " in line
        ]
        assert order == ["m1", "m2", "m3"]


@pytest.mark.long
@pytest.mark.timeout(180)
@pytest.mark.skipif(shutil.which("node") is None, reason="wrangler needs Node")
def test_the_real_wrangler_manages_local_queues(project: Make, dev: Start) -> None:
    if not WRANGLER.exists():
        install = ["npm", "install", "--no-package-lock", "--no-audit", "--no-fund"]
        subprocess.run(install, cwd=WRANGLER.parents[3], check=True)
    made = project(entry=QUIET, queues=PRODUCES)
    session = dev(made).ready()
    shown = described(session)

    def wrangler(*arguments: str, code: int = 0) -> str:
        done = subprocess.run(
            ["node", str(WRANGLER), "queues", *arguments],
            cwd=made.directory,
            env=os.environ | shown | {"CI": "1", "WRANGLER_SEND_METRICS": "false"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    assert "jobs" in wrangler("list")
    assert "✅ Created queue 'extra'" in wrangler("create", "extra", "--delivery-delay-secs", "5")
    wrangler(
        "consumer", "http", "add", "extra", "--batch-size", "7", "--visibility-timeout-secs", "9"
    )
    assert "already has a consumer" in wrangler("consumer", "http", "add", "extra", code=1)
    assert "code: 11004" in wrangler("consumer", "worker", "add", "extra", "w", code=1)
    listed = wrangler("consumer", "list", "extra", "--json")
    assert json.loads(listed)[0]["settings"]["visibility_timeout_ms"] == 9_000
    assert "HTTP Pull Consumer" in wrangler("info", "extra")
    assert "Paused message delivery" in wrangler("pause-delivery", "extra")
    assert as_json(made, "queues", "info", "extra")["settings"]["delivery_paused"] is True
    assert "Resumed message delivery" in wrangler("resume-delivery", "extra")
    assert "Updated queue" in wrangler("update", "extra", "--message-retention-period-secs", "90")
    settings = as_json(made, "queues", "info", "extra")["settings"]
    assert settings == {
        "delivery_delay": 5, "delivery_paused": False, "message_retention_period": 90,
    }  # fmt: skip
    assert "Purged Queue 'extra'" in wrangler("purge", "extra", "--force")
    assert "Removed consumer" in wrangler("consumer", "http", "remove", "extra")
    assert "Added consumer" in wrangler("consumer", "add", "extra", "test-worker")
    assert "worker:test-worker" in wrangler("info", "extra")
    assert "Removed consumer" in wrangler("consumer", "remove", "extra", "test-worker")
    assert "Deleted queue" in wrangler("delete", "extra")
    assert session.process.send_signal(signal.SIGINT) is None
