"""What the two peers share: reading the problem, the golden values, and how a timing is taken and printed.

Nothing here computes; each peer is complete on its own.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Protocol

import numpy as np

GOLDEN = Path(__file__).resolve().parents[2] / "crates/testkit/golden/golden.json"

CASES = ("joint-inode", "joint-ilstm", "crisp-node", "crisp-lstm")

Layers = list[dict[str, np.ndarray]]


@dataclass(frozen=True)
class Settings:
    """What an iteration depends on beside its arrays; can be hashed, as jit wants."""

    network: str  # "node" or "lstm"
    iterations: int  # of a pass from the start
    learning_rate: float  # of theta, margins and GradNorm's scales
    clip: float  # of theta's gradient and of either side's
    coverage: float
    width_penalty: float
    beta: float  # GradNorm exponent
    least_scale: float  # of GradNorm


@dataclass(frozen=True)
class Problem:
    """One row of the benchmark, as our program wrote it; all arrays are float32, and no peer makes any of its own."""

    case: str
    settings: Settings
    theta: Layers  # W [out, in], b [out], and for LSTM cells U [4h, h]; gates i, f, q, o
    margins: Layers  # raw, the same for the lower and the upper side
    inputs: np.ndarray  # [window, predicted step, tap]
    outputs: np.ndarray  # [window, sample]; the first starts the free run

    @property
    def joint(self) -> bool:
        return self.case.startswith("joint")

    def checksum(self) -> str:
        """The first digits of SHA-256 over all arrays; our program prints that of the arrays it uses itself."""
        arrays = [self.inputs, self.outputs]
        arrays += [layer[key] for layer in self.theta + self.margins for key in ("W", "U", "b") if key in layer]
        digest = hashlib.sha256()
        for array in arrays:
            digest.update(np.ascontiguousarray(array, "<f4").tobytes())
        return digest.hexdigest()[:16]


def read_problem(folder: Path, case: str) -> Problem:
    found = json.loads((folder / f"{case}.json").read_text())
    arrays = {key: np.asarray(found[key], np.float32) for key in ("inputs", "outputs")}
    layers = {
        name: [{key: np.asarray(value, np.float32) for key, value in layer.items()} for layer in found[name]]
        for name in ("theta", "margins")
    }
    settings = Settings(**{field.name: found[field.name] for field in fields(Settings)})
    return Problem(case=case, settings=settings, **layers, **arrays)


def straddling(theta: Layers, lower: Layers, upper: Layers) -> float:
    """Share of the weights that meet bounds (all but the first layer's) whose own bounds lie on both sides of zero."""
    sides = [(t["W"], np.abs(low["W"]), np.abs(up["W"])) for t, low, up in zip(theta, lower, upper, strict=True)]
    straddle = np.concatenate([((t < low) & (t > -up)).ravel() for t, low, up in sides[1:]])
    return float(straddle.mean())


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


class Run(Protocol):
    """Training from the start."""

    def step(self) -> Any:
        """One iteration, finished when it returns; gives the losses."""

    def straddling(self) -> float: ...


@dataclass
class Timing:
    milliseconds: list[float]  # of all iterations
    losses: list[list[float]]  # of the first and the last iteration of a pass
    straddling: list[float] | None  # before and after a pass


def measure(begin: Callable[[], Run], problem: Problem, seconds: float) -> Timing:
    """Passes of the same iterations from the same start, for about `seconds`: how many weights straddle zero changes as training
    goes on, and programs that are slower would otherwise see other weights."""
    timing = Timing([], [], None)
    end = time.perf_counter() + seconds
    while not timing.milliseconds or time.perf_counter() < end:
        run, losses = begin(), []
        before = run.straddling() if problem.joint else None
        for _ in range(problem.settings.iterations):
            start = time.perf_counter()
            found = run.step()
            timing.milliseconds.append((time.perf_counter() - start) * 1e3)
            losses.append(found)
        timing.losses = [np.atleast_1d(np.asarray(value, np.float64)).tolist() for value in (losses[0], losses[-1])]
        timing.straddling = [before, run.straddling()] if problem.joint else None
    return timing


def report(
    peer: str, problem: Problem, timing: Timing, compile_s: float, threads: int, versions: dict[str, str]
) -> None:
    """One JSON line per case, the format that `cargo xtask bench-peers` reads."""
    p10, median, p90 = np.percentile(timing.milliseconds, [10, 50, 90])
    line = {
        "peer": peer,
        "case": problem.case,
        "median_ms": round(float(median), 5),
        "p10": round(float(p10), 5),
        "p90": round(float(p90), 5),
        "iterations": len(timing.milliseconds),
        "compile_s": round(compile_s, 3),
        "threads": threads,
        "checksum": problem.checksum(),
        "losses": timing.losses,
        "straddling": timing.straddling,
        "versions": {"python": platform.python_version(), **versions},
    }
    print(json.dumps(line), flush=True)


def arguments(description: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--check", action="store_true", help="compare with golden.json instead of timing")
    parser.add_argument("--problems", type=Path, help="folder with the arrays that our program wrote; needed for timing")
    parser.add_argument("--precision", choices=("f32", "f64"), default="f32", help="of --check; timing is in f32")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=5.0, help="time spent on each case, at least one pass")
    parser.add_argument("--case", action="append", choices=CASES, help="default: all")
    parser.add_argument("--plain", action="store_true", help="JAX: interval products by broadcasting and autodiff only")
    found = parser.parse_args()
    if not found.check and found.problems is None:
        parser.error("--problems DIR is missing; `cargo xtask bench-peers` writes the arrays and starts everything")
    return found


def chosen_problems(arguments: argparse.Namespace) -> Iterator[Problem]:
    for case in arguments.case or CASES:
        yield read_problem(arguments.problems, case)
