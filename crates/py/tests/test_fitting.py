"""What happens while a fit runs: callbacks, bars, Ctrl-C, other threads."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from typing import Any

import numpy as np
import pytest

import intervalid as iv
from conftest import small, two_by_two


def test_callbacks_see_every_epoch_and_can_stop(dryer: iv.Record) -> None:
    seen: list[dict[str, Any]] = []

    def stop_in_second_stage(event: dict[str, Any]) -> bool:
        seen.append(event)
        return bool(event["stage"] == "margins" and event["epoch"] == 2)

    model = small(epochs=4, callbacks=[stop_in_second_stage]).fit(dryer)
    assert [event["epoch"] for event in seen] == [1, 2, 3, 4, 1, 2]
    assert seen[0]["epochs_total"] == 8 and seen[-1]["epochs_done"] == 6
    assert model.n_iter_ == 6 and model.stages_[-1]["stopped_because"] == "interrupted after epoch 2"
    # Stopped by a callback is the same as fewer epochs, to the bit, where the schedule does not look ahead.
    steady = {"epochs": 4, "schedule": "constant", "margin_schedule": "constant"}
    fewer = small(margin_epochs=2, **steady).fit(dryer)
    stopped = small(callbacks=[stop_in_second_stage], **steady).fit(dryer)
    np.testing.assert_array_equal(fewer.predict(dryer).upper, stopped.predict(dryer).upper)


def test_watching_changes_nothing(dryer: iv.Record, capsys: pytest.CaptureFixture[str]) -> None:
    watched = small(verbose=True, callbacks=[lambda event: None]).fit(dryer)
    assert watched.model_.to_bytes() == small().fit(dryer).model_.to_bytes()
    shown = capsys.readouterr().err
    assert "IntervalNODE: 100%" in shown and "6/6" in shown


def test_a_search_shows_its_steps(dryer: iv.Record, capsys: pytest.CaptureFixture[str]) -> None:
    shares: list[float] = []
    iv.AutoModel(model="arx", verbose=True, callbacks=[lambda event: shares.append(event["share"])]).fit(dryer[:300])
    assert shares == sorted(shares) and 0 <= shares[-1] <= 1
    assert "AutoModel: 100%" in capsys.readouterr().err


def test_without_tqdm_lines_are_printed(
    dryer: iv.Record, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    small(verbose=1).fit(dryer)
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("IntervalNODE: 100 %, margins: loss")


def test_an_exception_of_a_callback_comes_out(dryer: iv.Record) -> None:
    def fail(event: dict[str, Any]) -> None:
        raise LookupError(f"no epoch {event['epoch']}")

    model = small(callbacks=[fail])
    with pytest.raises(LookupError, match="no epoch 1"):
        model.fit(dryer)
    assert not hasattr(model, "model_")


def test_the_interpreter_is_free_meanwhile(dryer: iv.Record) -> None:
    """Another thread of Python goes on while a fit computes."""
    ticks = 0
    done = threading.Event()

    def count() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    small(epochs=30, hidden=(20, 20)).fit(dryer)
    done.set()
    thread.join()
    assert ticks > 10


INTERRUPTED = """
import os, signal, threading, time
import numpy as np
import intervalid as iv

signal.signal(signal.SIGINT, signal.default_int_handler)
dryer = iv.load_data("hair-dryer")
epochs = []

def tell(event):
    epochs.append(event["epochs_done"])
    if len(epochs) == 3:
        print("ready", flush=True)

model = {model}
try:
    model.fit(dryer)
    raise SystemExit("was not interrupted")
except KeyboardInterrupt as error:
    print("interrupted:", error, flush=True)
if {is_network}:
    band = model.predict(dryer)
    assert np.isfinite(band.upper).all()
    assert 0 < model.n_iter_ < 100000, model.n_iter_
    assert "interrupted" in model.result_["stopped_because"]
else:
    assert model.config_["model"] == "arx" and model.search_["capped"]
    assert np.isfinite(model.predict(dryer).upper).all()
print("usable")
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("model", "is_network"),
    [
        ("iv.IntervalNODE(strategy='joint', epochs=100000, callbacks=[tell])", True),
        ("iv.IntervalNODE(epochs=100000, callbacks=[tell])", True),
        ("iv.EnsembleLSTM(epochs=100000, callbacks=[tell])", True),
        ("iv.AutoModel(n_jobs=2, callbacks=[lambda e: tell({'epochs_done': 0})])", False),
    ],
)
def test_ctrl_c_keeps_the_best_so_far(model: str, is_network: bool) -> None:
    program = INTERRUPTED.format(model=model, is_network=is_network)
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=120)
    assert child.returncode == 0, err
    lines = out.splitlines()
    assert lines[-1] == "usable" and lines[0].startswith("interrupted:"), out
    assert "the estimator is fitted" in lines[0]
    # An INODE in cascade has no trained band in its first stage, and says so.
    assert ("band has not been trained" in lines[0]) == model.startswith("iv.IntervalNODE(epochs")


UNWATCHED = """
import os, signal, threading
import intervalid as iv

signal.signal(signal.SIGINT, signal.default_int_handler)
dryer = iv.load_data("hair-dryer")
model = iv.IntervalNODE(strategy="joint", epochs=100_000)
threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    model.fit(dryer)
except KeyboardInterrupt as error:
    assert "stopped after" in str(error), error
    assert len(model.predict(dryer)) == 1000
    print("usable")
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_without_callbacks() -> None:
    """Nobody listens to epochs, and the signal is seen all the same."""
    done = subprocess.run([sys.executable, "-c", UNWATCHED], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "usable\n", done.stderr


def test_what_a_callback_cuts_off_is_told() -> None:
    u, y = two_by_two(300, 2)
    with pytest.warns(UserWarning, match="a callback ended training early: its band has not been trained"):
        model = small(callbacks=[lambda event: True]).fit(u, y)
    assert model.stages_[-1]["stage"] == "crisp"

    def in_margins(event: dict[str, Any]) -> bool:
        return bool(event["stage"] == "margins")

    with pytest.warns(UserWarning, match="ended training early: its band has not been calibrated"):
        small(calibrate=True, callbacks=[in_margins]).fit(u, y)
    with pytest.warns(UserWarning, match="1 of 3 members were trained"):
        iv.EnsembleNODE(members=3, lags=(1, 0, 1), hidden=(4,), epochs=3, window=(30, 5), callbacks=[lambda event: True]).fit(u, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small(callbacks=[in_margins]).fit(u, y)
