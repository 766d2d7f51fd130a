"""What the two peers share: the cases, the data, the golden values, and how a timing is taken and printed.

Nothing here computes; each peer is complete on its own.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

import numpy as np

GOLDEN = Path(__file__).resolve().parents[2] / "crates/testkit/golden/golden.json"

# One training iteration: 64 windows of N = 40 samples (39 predicted), MR-damper regressor: 1 output lag, 3 input taps.
BATCH, STEPS, OUTPUT_LAGS, INPUT_TAPS = 64, 40, 1, 3
COVERAGE, WIDTH_PENALTY, LEARNING_RATE, CLIP = 0.9, 0.5, 5e-3, 5.0
SEED = 1


@dataclass(frozen=True)
class Case:
    """One row of the benchmark."""

    name: str
    architecture: str  # "node" or "lstm"
    joint: bool
    hidden: tuple[int, ...]
    beta: float = 0.1  # GradNorm exponent
    margin_hidden: float = 1.0  # initial margin, as a fraction of |theta|
    margin_output: float = 1.0


CASES = (
    Case("joint-inode", "node", True, (40, 40)),
    Case("joint-ilstm", "lstm", True, (30, 10), beta=0.5, margin_hidden=0.2),
    Case("crisp-node", "node", False, (40, 40)),
    Case("crisp-lstm", "lstm", False, (30, 10)),
)

Layers = list[dict[str, np.ndarray]]


def glorot(generator: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    limit = np.sqrt(6.0 / (rows + columns))
    return generator.uniform(-limit, limit, (rows, columns))


def initial_theta(case: Case, generator: np.random.Generator) -> Layers:
    """Layers as in golden.json: W [out, in], b [out], and for LSTM cells U [4h, h]; gates i, f, q, o."""
    layers, inputs = [], OUTPUT_LAGS + INPUT_TAPS
    for width in case.hidden:
        if case.architecture == "node":
            layers.append({"W": glorot(generator, width, inputs), "b": np.zeros(width)})
        else:
            orthogonal = [np.linalg.qr(generator.standard_normal((width, width)))[0] for _ in range(4)]
            bias = np.zeros(4 * width)
            bias[width : 2 * width] = 1.0
            layers.append({"W": glorot(generator, 4 * width, inputs), "U": np.concatenate(orthogonal), "b": bias})
        inputs = width
    layers.append({"W": glorot(generator, 1, inputs), "b": np.zeros(1)})
    return layers


def initial_margins(case: Case, theta: Layers) -> Layers:
    """Raw margins r·|theta|; the same for the lower and the upper side."""
    ratios = [case.margin_hidden] * (len(theta) - 1) + [case.margin_output]
    return [{key: ratio * np.abs(value) for key, value in layer.items()} for layer, ratio in zip(theta, ratios)]


@dataclass(frozen=True)
class Problem:
    theta: Layers
    margins: Layers
    u: np.ndarray  # [window, step, tap]
    y_target: np.ndarray  # [window, step]


def problem(case: Case) -> Problem:
    """Seeded data of the right shapes; both peers get the same numbers."""
    generator = np.random.default_rng(SEED)
    theta = initial_theta(case, generator)
    return Problem(
        theta=theta,
        margins=initial_margins(case, theta),
        u=generator.standard_normal((BATCH, STEPS, INPUT_TAPS)),
        y_target=generator.standard_normal((BATCH, STEPS)),
    )


def golden_cases() -> list[dict[str, Any]]:
    return json.loads(GOLDEN.read_text())["cases"]


def golden_layers(layers: list[dict[str, Any]]) -> Layers:
    return [{key: np.asarray(value, np.float64) for key, value in layer.items()} for layer in layers]


class Check:
    """Compares against golden values: error relative to the largest entry of the expected array."""

    def __init__(self, tolerance: float):
        self.tolerance, self.worst, self.failed = tolerance, 0.0, 0

    def close(self, what: str, expected: Any, found: Any) -> None:
        expected, found = np.asarray(expected, np.float64), np.asarray(found, np.float64)
        if expected.shape != found.shape:
            self.failed += 1
            print(f"FAILED {what}: shape {found.shape}, expected {expected.shape}")
            return
        # An array that must be exactly zero (dead relu margins) is compared absolutely.
        scale = np.abs(expected).max() or 1.0
        error = float(np.abs(found - expected).max() / scale)
        self.worst = max(self.worst, error)
        if not error <= self.tolerance:
            self.failed += 1
            print(f"FAILED {what}: relative error {error:.3e}, allowed {self.tolerance:.0e}")

    def layers(self, what: str, expected: Layers, found: Layers) -> None:
        for index, (layer, other) in enumerate(zip(expected, found, strict=True)):
            for key, value in layer.items():
                self.close(f"{what} layer {index} {key}", value, other[key])

    def finish(self, peer: str) -> int:
        verdict = "FAILED" if self.failed else "ok"
        print(f"{peer}: golden values {verdict}, worst relative error {self.worst:.2e} (allowed {self.tolerance:.0e})")
        return 1 if self.failed else 0


def measure(step: Callable[[], None], seconds: float, least: int = 5) -> list[float]:
    """Times `step` (which must wait for its own result) for about `seconds`, in milliseconds each."""
    for _ in range(3):
        step()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < least:
        start = time.perf_counter()
        step()
        times.append((time.perf_counter() - start) * 1e3)
    return times


def report(peer: str, case: Case, times: list[float], compile_s: float, threads: int, versions: dict[str, str]) -> None:
    """One JSON line per case, the format that `cargo xtask bench-peers` reads."""
    p10, median, p90 = np.percentile(times, [10, 50, 90])
    line = {
        "peer": peer,
        "case": case.name,
        "median_ms": round(float(median), 5),
        "p10": round(float(p10), 5),
        "p90": round(float(p90), 5),
        "iterations": len(times),
        "compile_s": round(compile_s, 3),
        "threads": threads,
        "versions": {"python": platform.python_version(), **versions},
    }
    print(json.dumps(line), flush=True)


def arguments(description: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--check", action="store_true", help="compare with golden.json instead of timing")
    parser.add_argument("--precision", choices=("f32", "f64"), default="f32")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=5.0, help="time spent on each case")
    parser.add_argument("--case", action="append", choices=[case.name for case in CASES], help="default: all")
    parser.add_argument("--plain", action="store_true", help="JAX: interval products by broadcasting and autodiff only")
    return parser.parse_args()


def chosen_cases(names: list[str] | None) -> list[Case]:
    return [case for case in CASES if names is None or case.name in names]
