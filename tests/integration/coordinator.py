"""A Worker with jobs under ``tsumugi dev``, and the log that its performers keep themselves."""

from __future__ import annotations

import json
import shutil
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tsumugi.jobs.read_model as read_model
from dev_session import RUNTIME, Dev, Project, eventually, run_tsumugi
from vendored import vendor_if_needed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import httpx

#: Few enough to leave the Worker time for its jobs, too.
PAGE = 100
TERMINAL = {"COMPLETED", "FAILED", "CANCELLED", "STALLED"}
MIGRATIONS = Path(read_model.__file__).parent / "migrations"
#: How much longer everything about a job takes, its timeout too.
SLOWER = 1 if RUNTIME == "cpython" else 5
WITHIN_S = 30.0 * SLOWER


class Coordinator:
    """One project, and the emulator that runs it at the moment."""

    def __init__(self, made: Project, start: Callable[..., Dev]) -> None:
        self.project = vendor_if_needed(made)
        self._start = start
        self._log = made.directory / "performed.jsonl"
        self._log.touch()
        config = json.loads((made.directory / "wrangler.json").read_text())
        config["vars"] |= {"LOG_FILE": str(self._log), "SLOWER": SLOWER}
        made.configure(**config)
        shutil.copytree(MIGRATIONS, made.directory / "migrations")
        applied = run_tsumugi("d1", "migrations", "apply", "tsumugi-jobs", cwd=made.directory)
        assert applied.returncode == 0, applied.stdout + applied.stderr
        self.session = start(made).ready()
        self.ids: list[str] = []
        self._log_from = 0

    def forget(self) -> None:
        """Begin anew, with the jobs and the log of the next test."""
        self.ids = []
        self._log_from = self._log.stat().st_size

    # -- Asking -----------------------------------------------------------------------------------

    def enqueue(self, performer: str, count: int = 1, **fields: Any) -> list[str]:
        """``fields`` are ``payload`` and ``options``."""
        answer = self.session.post(
            "/enqueue", json=[{"performer": performer, "count": count, **fields}]
        )
        assert answer.status_code == 200, answer.text
        ids: list[str] = answer.json()
        self.ids += ids
        return ids

    def faults(self, **faults: Any) -> None:
        """These from now on, and none of those before."""
        self.session.post("/faults", json=faults).raise_for_status()

    def jobs(self, ids: Iterable[str]) -> list[dict[str, Any]]:
        """As they are now; none at all while the Worker is being started again."""
        wanted = list(ids)
        found: list[dict[str, Any]] = []
        for start in range(0, len(wanted), PAGE):
            answer = self.session.post("/jobs", json=wanted[start : start + PAGE])
            if answer.status_code != 200:
                return []
            found += answer.json()
        assert None not in found, f"{wanted[found.index(None)]} is nowhere"
        return found

    def job(self, job_id: str) -> dict[str, Any]:
        return self.jobs([job_id])[0]

    def api(self, path: str, **options: Any) -> httpx.Response:
        return self.session.get(
            f"/api{path}", headers={"authorization": "Bearer secret"}, **options
        )

    def ended(self, ids: Iterable[str] | None = None) -> list[dict[str, Any]]:
        """The jobs, once each of them has come to its end."""
        wanted = list(self.ids if ids is None else ids)
        found: dict[str, dict[str, Any]] = {}

        def all_ended() -> bool:
            for job in self.jobs(job_id for job_id in wanted if job_id not in found):
                if job["state"] in TERMINAL:
                    found[job["id"]] = job
            return found.keys() >= set(wanted)

        eventually(all_ended, f"all of {len(wanted)} jobs end", WITHIN_S)
        return [found[job_id] for job_id in wanted]

    # -- What performers say themselves -----------------------------------------------------------

    def performed(self, event: str = "start") -> Counter[str]:
        """How often each job was begun, or brought to its end, by its performer's own log."""
        return Counter(line["job"] for line in self.log() if line["event"] == event)

    def log(self) -> list[dict[str, Any]]:
        with self._log.open() as log:
            log.seek(self._log_from)
            # A process that is killed may leave half a line, and the next one goes on behind it.
            return [json.loads(line) for line in log.read().split("\n")[:-1]]

    def wait_until_begun(self, count: int = 1) -> None:
        eventually(lambda: len(self.performed()) >= count, f"{count} jobs are begun")

    # -- Ending it --------------------------------------------------------------------------------

    def kill_and_restart(self) -> None:
        """As after a power cut: supervisor and child at once, then a new emulator."""
        self.session.kill()
        self.session = self._start(self.project).ready()

    def check(self, *, once: Iterable[str] = ()) -> dict[str, Counter[str]]:
        """What must hold however the world failed; how many jobs of each performer ended how.

        ``once`` are the at-most-once jobs that never failed by themselves.
        """
        jobs = self.ended()
        self._wait_until_at_rest()
        assert self.jobs(job["id"] for job in jobs) == jobs, "what has ended stays as it ended"
        begun, attempts, brought_to_end = (
            self.performed(), self._attempts("start"), self._attempts("end"),
        )  # fmt: skip
        for job in jobs:
            assert job["attempts"] == len(job["attempts_log"]), job
            assert job["attempts"] >= max(attempts[job["id"]], default=0), job
            if job["state"] == "COMPLETED":
                assert job["attempts"] in brought_to_end[job["id"]], job
            if job["state"] == "FAILED":
                assert job["attempts"] == job["max_attempts"], job
        assert {job_id: begun[job_id] for job_id in once if begun[job_id] > 1} == {}
        self._check_the_read_model(jobs)
        counts: dict[str, Counter[str]] = {}
        for job in jobs:
            counts.setdefault(job["binding"], Counter())[job["state"]] += 1
        return counts

    def _attempts(self, event: str) -> dict[str, set[int]]:
        found: dict[str, set[int]] = defaultdict(set)
        for line in self.log():
            if line["event"] == event:
                found[line["job"]].add(line["attempt"])
        return found

    def _wait_until_at_rest(self) -> None:
        """No job in flight anywhere, nothing between shard, queue and read model."""

        def is_at_rest() -> bool:
            told = self.session.get("/diagnostics").json()
            return all(
                shard["handovers"] == 0
                and shard["outbox"] == 0
                and not shard["counts"].get("QUEUED")
                and not shard["counts"].get("RUNNING")
                for shards in told.values()
                for shard in shards.values()
            )

        eventually(is_at_rest, "nothing is on its way any more", WITHIN_S)

    def _check_the_read_model(self, jobs: list[dict[str, Any]]) -> None:
        listed: dict[str, str] = {}
        while True:
            page = self.api("/jobs", params={"limit": 100, "offset": len(listed)}).json()["jobs"]
            if not page:
                break
            listed.update((job["id"], job["state"]) for job in page)
        kept = {job["id"]: job["state"] for job in jobs}
        assert {job_id: listed.get(job_id) for job_id in kept} == kept
