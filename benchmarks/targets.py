"""What each figure means, which way is better, and what it is held to. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number of one row."""

    row: str
    key: str
    label: str
    unit: str
    better: Literal["higher", "lower"]
    #: An absolute bound on ours, or None.
    target: float | None = None
    #: A bound on ours divided by the peer's in the same run, or None.
    target_ratio: float | None = None

    def best(self, samples: Sequence[float]) -> float:
        """Of several runs on a machine that others use too, the least disturbed one."""
        return max(samples) if self.better == "higher" else min(samples)

    def meets(self, ours: float, peer: float | None) -> bool | None:
        """Whether the target is met; None when there is none, or no peer to compare with."""
        if self.target is not None:
            return ours >= self.target if self.better == "higher" else ours <= self.target
        if self.target_ratio is None or not peer:
            return None
        ratio = ours / peer
        return ratio >= self.target_ratio if self.better == "higher" else ratio <= self.target_ratio

    def target_text(self) -> str:
        """The target in words; empty when there is none."""
        sign = ">=" if self.better == "higher" else "<="
        if self.target is not None:
            return f"{sign} {self.target:,g}"
        return "" if self.target_ratio is None else f"{sign} {self.target_ratio:g}x"


FIGURES = (
    Figure("a", "messages_per_s", "20 000 messages, sent to acked", "msg/s", "higher",
           target_ratio=1.0),
    Figure("a", "accepted_whole", "20 000 from one request accepted", "", "higher", target=1),
    Figure("b", "mean_ms", "send, mean", "ms", "lower", target=0.25),
    Figure("b", "p50_ms", "send, p50", "ms", "lower"),
    Figure("b", "p95_ms", "send, p95", "ms", "lower"),
    Figure("c", "p50_ms", "idle send to handler, p50", "ms", "lower", target=2),
    Figure("c", "p95_ms", "idle send to handler, p95", "ms", "lower"),
    Figure("d", "start_s", "start to first 200", "s", "lower", target=0.45),
    Figure("e", "p50_s", "save to new code's answer, p50", "s", "lower", target=0.12),
    Figure("f", "1_connections_rps", "hello world, 1 connection", "req/s", "higher", target=3_000),
    Figure("f", "32_connections_rps", "hello world, 32 connections", "req/s", "higher",
           target=8_000),
    Figure("g", "idle_mb", "resident memory, idle", "MB", "lower", target=130),
    Figure("g", "after_20k_mb", "resident memory after 20 000", "MB", "lower", target=200),
    Figure("g", "after_200k_mb", "resident memory after 200 000", "MB", "lower", target=200),
)  # fmt: skip
