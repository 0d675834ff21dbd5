"""What a person sees when the Worker is up: its bindings, its queues, where it listens."""

from __future__ import annotations

import json
import shutil
import textwrap
from typing import TYPE_CHECKING

from tsumugi_emulator.cli.terminal import BLUE, BOLD, DIM

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tsumugi_emulator.cli.terminal import Terminal
    from tsumugi_emulator.config.model import QueueConsumer, WorkerConfig
    from tsumugi_emulator.worker.spawn import Pyodide

#: What ``--runtime pyodide`` lacks (ADR-0213).
NOT_IN_PYODIDE = ("breakpoint()", "limits of CPU time and memory", "snapshots")
#: Longer values of variables are cut in the table.
MAX_VALUE_LENGTH = 40


def ready(
    terminal: Terminal,
    configs: Sequence[WorkerConfig],
    ip: str,
    port: int,
    *,
    loaded: bool,
    runtime: Callable[[WorkerConfig], Pyodide | None] = lambda _config: None,
) -> str:
    """``loaded`` says whether the primary Worker's code imported."""
    parts = [part for config in configs for part in _worker(terminal, config, runtime(config))]
    url = terminal.paint(address(ip, port), BLUE)
    parts.append(f"Ready on {url}" if loaded else f"{url} answers with the error until it is fixed")
    return "\n\n".join(parts)


def address(ip: str, port: int) -> str:
    """Where a browser on this machine finds the Worker."""
    host = f"[{ip}]" if ":" in ip else "localhost" if ip in ("127.0.0.1", "0.0.0.0") else ip
    return f"http://{host}:{port}"


def title(terminal: Terminal, config: WorkerConfig) -> str:
    name = config.name + (f" ({config.environment})" if config.environment else "")
    return terminal.paint(f"tsumugi · {name}", BOLD)


def resources(terminal: Terminal, config: WorkerConfig) -> list[str]:
    """What the Worker is given, what it consumes and when it is called, each as one part."""
    parts = []
    if rows := _bindings(config):
        parts.append(_table(terminal, ("Binding", "Resource"), rows))
    if rows := [_consumer(consumer) for consumer in config.consumers]:
        parts.append(_table(terminal, ("Queue", "Consumer"), rows))
    if config.crons:
        parts.append(f"Cron triggers: {', '.join(config.crons)}")
    return parts


def _worker(terminal: Terminal, config: WorkerConfig, pyodide: Pyodide | None) -> list[str]:
    parts = [title(terminal, config)]
    if pyodide is not None:
        python = config.compatibility.python_version
        parts.append(
            f"Runs in Pyodide {pyodide.version} (Python {python}) on Node {pyodide.node_version}, "
            f"without {', '.join(NOT_IN_PYODIDE)}"
        )
    return [*parts, *resources(terminal, config)]


def keys(terminal: Terminal, *, interactive: bool) -> str:
    text = "[r] reload  [c] clear  [x] exit" if interactive else "Ctrl-C to exit"
    return terminal.paint(text, DIM)


def _bindings(config: WorkerConfig) -> list[tuple[str, str]]:
    rows = []
    for producer in config.producers:
        delay = producer.delivery_delay_s
        suffix = f", delivery delay {delay} s" if delay else ""
        rows.append((f"env.{producer.binding}", f"Queue {producer.queue}{suffix}"))
    rows += _resources(config)
    for name, value in config.vars.items():
        hidden = name in config.secret_names
        shown = '"(hidden)"' if hidden else json.dumps(value, ensure_ascii=False)
        if len(shown) > MAX_VALUE_LENGTH:
            shown = shown[: MAX_VALUE_LENGTH - 1] + "…"
        rows.append((f"env.{name}", f"Variable {shown}"))
    rows += _elsewhere(config)
    rows += [
        (f"env.{binding.binding}", f"{binding.kind} (not emulated yet)")
        for binding in config.unsupported
    ]
    return rows


def _resources(config: WorkerConfig) -> list[tuple[str, str]]:
    found = config.resources
    rows = [(kv.binding, f"KV Namespace {kv.id}") for kv in found.kv_namespaces]
    rows += [(data.binding, f"D1 Database {data.name}") for data in found.d1_databases]
    rows += [(bucket.binding, f"R2 Bucket {bucket.bucket}") for bucket in found.r2_buckets]
    rows += [
        (data.binding, f"Analytics Engine Dataset {data.dataset}")
        for data in found.analytics_datasets
    ]
    rows += [
        (limit.binding, f"Rate Limit {limit.limit} / {limit.period_s} s")
        for limit in found.rate_limits
    ]
    if found.version_metadata is not None:
        rows.append((found.version_metadata, "Worker Version Metadata"))
    return [(f"env.{binding}", what) for binding, what in rows]


def _elsewhere(config: WorkerConfig) -> list[tuple[str, str]]:
    """What is called, and what is served before the Worker."""
    rows = []
    for service in config.services:
        suffix = f", entrypoint {service.entrypoint}" if service.entrypoint else ""
        rows.append((f"env.{service.binding}", f"Worker {service.service}{suffix}"))
    for objects in config.durable_objects:
        suffix = f" of {objects.script}" if objects.script else ""
        rows.append((f"env.{objects.binding}", f"Durable Object {objects.class_name}{suffix}"))
    if (assets := config.assets) is not None:
        name = f"env.{assets.binding}" if assets.binding else "assets"
        rows.append((name, f"Assets {assets.directory.name}/"))
    return rows


def _consumer(consumer: QueueConsumer) -> tuple[str, str]:
    concurrency = consumer.max_concurrency
    parts = [
        f"batch {consumer.max_batch_size} / {consumer.max_batch_timeout_s:g} s",
        f"retries {consumer.max_retries}",
        f"concurrency {'auto' if concurrency is None else concurrency}",
    ]
    if consumer.retry_delay_s:
        parts.append(f"retry delay {consumer.retry_delay_s} s")
    if consumer.dead_letter_queue:
        parts.append(f"dead letters to {consumer.dead_letter_queue}")
    return consumer.queue, ", ".join(parts)


def _table(terminal: Terminal, heads: tuple[str, str], rows: list[tuple[str, str]]) -> str:
    columns = shutil.get_terminal_size().columns
    left_width = max(len(heads[0]), *(len(left) for left, _ in rows))
    if left_width > columns // 2:  # one below the other: two columns would leave no room
        return "\n".join([terminal.paint(" / ".join(heads), DIM), *_stacked(rows, columns)])
    lines = [terminal.paint(f"{heads[0]:<{left_width}}  {heads[1]}", DIM)]
    for left, right in rows:
        for line in _wrapped(right, columns - left_width - 2):
            lines.append(f"{left:<{left_width}}  {line}")
            left = ""
    return "\n".join(lines)


def _stacked(rows: list[tuple[str, str]], columns: int) -> list[str]:
    lines = []
    for left, right in rows:
        lines.append(left)
        lines += [f"  {line}" for line in _wrapped(right, columns - 2)]
    return lines


def _wrapped(text: str, columns: int) -> list[str]:
    # Names and values are copied from here: they are never broken.
    return textwrap.wrap(text, columns, break_long_words=False, break_on_hyphens=False) or [""]
