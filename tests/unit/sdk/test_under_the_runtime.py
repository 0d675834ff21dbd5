"""What needs the runtime's modules, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
INSTALL = "from tsumugi_emulator.javascript import install; install(); "


def run(*arguments: str, cwd: Path = ROOT) -> None:
    result = subprocess.run(
        [sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-4000:]


def test_types_fakes_and_consumer_agree_with_the_runtimes_own_objects() -> None:
    run("-m", "pytest", "-q", "-p", "no:cacheprovider", str(HERE / "runtime_cases.py"))


def test_the_consumer_behaves_the_same_on_the_real_entrypoint() -> None:
    cases = [str(HERE / "test_consumer.py"), str(HERE / "test_testing_run.py")]
    run("-c", INSTALL + f"import pytest; raise SystemExit(pytest.main(['-q', *{cases!r}]))")


@pytest.mark.parametrize("template", ["hello", "queue"])
def test_the_tests_of_a_template_pass(template: str) -> None:
    run("-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=ROOT / "templates" / template)


def test_the_consumer_finds_the_entrypoint_of_a_runtime_that_is_loaded_after_it() -> None:
    run(
        "-c",
        "import tsumugi, tsumugi.consumer; before = tsumugi.QueueConsumer; "
        + INSTALL
        + "import workers; after = tsumugi.QueueConsumer; "
        "assert not issubclass(before, workers.WorkerEntrypoint); "
        "assert issubclass(after, workers.WorkerEntrypoint); "
        "assert after is tsumugi.QueueConsumer; "
        "from tsumugi.consumer import QueueConsumer; assert after is QueueConsumer",
    )
