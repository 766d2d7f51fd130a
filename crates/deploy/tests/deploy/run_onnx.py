"""Runs exported ONNX models: `run_onnx.py TASKS.json`. Prints one line of figures per task; the first failure ends it."""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort

ort.set_default_logger_severity(4)  # refusals are tested, not shown
BAND = ["y_lower", "y", "y_upper"]


def session(path: Path) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


class Exported:
    """The models of a folder."""

    def __init__(self, folder: str) -> None:
        files = {name: Path(folder) / f"{name}.onnx" for name in ["init", "step", "simulate", "correct"]}
        self.protos = {name: onnx.load(path) for name, path in files.items()}
        for proto in self.protos.values():
            onnx.checker.check_model(proto, full_check=True)
            assert proto.ir_version == 7 and [(o.domain, o.version) for o in proto.opset_import] == [("", 13)]
        self.init, self.step, self.simulate, self.correct = (session(path) for path in files.values())
        #: Whether each sample of the last run was extrapolated; None of models that do not know their region.
        self.alarms: list[bool] | None = None
        self.type = {"tensor(float)": np.float32, "tensor(double)": np.float64}[self.step.get_outputs()[0].type]

    def fed(self, model: ort.InferenceSession, **values: np.ndarray) -> dict[str, np.ndarray]:
        names = {port.name for port in model.get_inputs()}
        return {name: value.astype(self.type) for name, value in values.items() if name in names}

    def stepped(
        self, u: np.ndarray, past_u: np.ndarray, past_y: np.ndarray, measured: np.ndarray | None = None
    ) -> np.ndarray:
        """[bound, sample, output] by the step model; with what was `measured`, two samples of three are corrected."""
        names = [port.name for port in self.init.get_outputs()]
        alarm = ["extrapolated"] if "state_watched" in names else []
        assert [port.name for port in self.step.get_outputs()] == BAND + [f"next_{name}" for name in names] + alarm
        state = dict(zip(names, self.init.run(None, self.fed(self.init, past_u=past_u, past_y=past_y))))
        found, alarms = [], []
        assert [port.name for port in self.correct.get_outputs()] == [f"next_{name}" for name in names]
        for k, row in enumerate(u):
            results = self.step.run(None, {**self.fed(self.step, u=row), **state})
            found.append(results[:3])
            # The alarm comes last: counting from the front finds band and states.
            state = dict(zip(names, results[3:]))
            if measured is not None and k % 3 != 2:
                state = dict(zip(names, self.correct.run(None, {**self.fed(self.correct, y_measured=measured[k]), **state})))
            if alarm:
                alarms.append(bool(results[-1][0]))
        self.alarms = alarms if alarm else None
        return np.array(found, dtype=np.float64).transpose(1, 0, 2)

    def whole(self, u: np.ndarray, past_u: np.ndarray, past_y: np.ndarray) -> np.ndarray:
        """As `stepped`, by the model of whole records."""
        assert [port.name for port in self.simulate.get_outputs()] in (BAND, [*BAND, "extrapolated"])
        found = self.simulate.run(None, self.fed(self.simulate, u=u, past_u=past_u, past_y=past_y))
        self.alarms = found[3][:, 0].astype(bool).tolist() if len(found) > 3 else None
        return np.array(found[:3], dtype=np.float64)


def matrix(rows: list[list[float]]) -> np.ndarray:
    return np.array(rows, dtype=np.float64).reshape(len(rows), -1)


def error(found: np.ndarray, expected: np.ndarray, std: np.ndarray) -> float:
    """Largest error relative to the value or its standard deviation."""
    assert found.shape == expected.shape, (found.shape, expected.shape)
    assert np.isfinite(found).all()
    return float((np.abs(found - expected) / np.maximum(np.abs(expected), std)).max())


def refuses(exported: Exported, past_u: np.ndarray, past_y: np.ndarray, name: str) -> None:
    try:
        exported.init.run(None, exported.fed(exported.init, past_u=past_u, past_y=past_y))
    except Exception as refusal:  # noqa: BLE001 - onnxruntime raises several kinds
        assert name in str(refusal), refusal
    else:
        raise AssertionError(f"too little history passed: {name}")


def check_metadata(exported: Exported, task: dict) -> None:
    for proto in exported.protos.values():
        found = {entry.key: entry.value for entry in proto.metadata_props}
        for key, value in task["metadata"].items():
            assert found.get(key) == value, (key, found.get(key), value)
        for key in ["inputs", "outputs"]:
            assert json.loads(found[key]) == task[key], found[key]
        assert int(found["past_y_rows"]) == task["past_y_rows"]
        assert int(found["past_u_rows"]) == task["past_u_rows"]
        assert "y_lower <= y <= y_upper" in found["band"] and proto.doc_string


def predict(task: dict) -> str:
    exported = Exported(task["folder"])
    check_metadata(exported, task)
    u, past_u, past_y = matrix(task["u"]), matrix(task["past_u"]), matrix(task["past_y"])
    expected = np.array(task["expected"], dtype=np.float64).transpose(2, 0, 1)
    std = np.array(task["std"])
    stepped = exported.stepped(u, past_u, past_y)
    alarms = exported.alarms
    whole = exported.whole(u, past_u, past_y)
    assert alarms == exported.alarms, f"{task['name']}: alarms of steps and of the whole record"
    if task["extrapolated"] is not None:
        expected_alarms = [flag == 1 for flag in task["extrapolated"]]
        assert alarms == expected_alarms, f"{task['name']}: alarms differ at {np.flatnonzero(np.array(alarms) != expected_alarms)}"
    assert (whole[0] <= whole[1]).all() and (whole[1] <= whole[2]).all()
    errors = error(stepped, expected, std), error(whole, expected, std)
    apart = error(whole, stepped, std)
    # Only the samples that are asked for.
    least = (u, past_u[len(past_u) - task["past_u_rows"] :], past_y[len(past_y) - task["past_y_rows"] :])
    assert np.array_equal(exported.whole(*least), whole)
    assert np.array_equal(exported.stepped(*(values[:5] if i == 0 else values for i, values in enumerate(least))), stepped[:, :5])
    short = past_y[len(past_y) - task["past_y_rows"] + 1 :]
    refuses(exported, past_u, short, f"past_y_needs_{task['past_y_rows']}_rows")
    warmup = task["past_u_least_rows"]
    if warmup and past_u.shape[1]:
        refuses(exported, past_u[len(past_u) - warmup + 1 :], past_y, f"past_u_needs_{warmup}_rows")
    line = f"{task['name']}: step {errors[0]:.1e}, record {errors[1]:.1e}, step against record {apart:.1e}"
    assert max(*errors, apart) <= task["tolerance"], line
    return line


def corrected(task: dict) -> str:
    exported = Exported(task["folder"])
    u, past_u, past_y = matrix(task["u"]), matrix(task["past_u"]), matrix(task["past_y"])
    expected = np.array(task["expected"], dtype=np.float64).transpose(2, 0, 1)
    measured = matrix(task["measured"])
    found = exported.stepped(u, past_u, past_y, measured)
    apart = error(found, expected, np.array(task["std"]))
    line = f"{task['name']}: {apart:.1e}"
    assert apart <= task["tolerance"], line
    # A measurement that is beyond all reason ends the run, as anywhere else.
    measured[3, 0] = 9.9e37
    ended = exported.stepped(u[:9], past_u, past_y, measured)
    assert np.isfinite(ended[:, :4]).all() and np.isnan(ended[:, 4:]).all(), f"{line} {ended}"
    return line


def runaway(task: dict) -> str:
    exported = Exported(task["folder"])
    history = matrix(task["u"])[:50], matrix(task["past_u"]), matrix(task["past_y"])
    for found in [exported.stepped(*history), exported.whole(*history)]:
        if task["same_as"] is None:
            assert np.isnan(found).all(), f"{task['name']}: {found}"
            continue
        other = error(found, Exported(task["same_as"]).whole(*history), np.array(task["std"]))
        assert other <= task["tolerance"], f"{task['name']}: {other:.1e}"
    return task["name"]


def ends(task: dict) -> str:
    exported = Exported(task["folder"])
    history = matrix(task["u"]), matrix(task["past_u"]), matrix(task["past_y"])
    for found in [exported.stepped(*history), exported.whole(*history)]:
        last = task["ends_at"]
        assert np.isfinite(found[:, :last]).all() and np.isnan(found[:, last:]).all(), f"{task['name']}: {last} {found}"
    return task["name"]


if __name__ == "__main__":
    for job in json.loads(Path(sys.argv[1]).read_text()):
        kind = corrected if "measured" in job else runaway if "same_as" in job else ends if "ends_at" in job else predict
        print(kind(job), flush=True)
