"""Compares the derivatives that exported ONNX steps give at rest with those of a task file."""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort

NAMES = ["jacobian_x_x", "jacobian_x_u", "jacobian_y_x", "jacobian_y_u"]


def session(path: Path) -> ort.InferenceSession:
    onnx.checker.check_model(onnx.load(path), full_check=True)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def compare(task: dict) -> None:
    init, step = (session(Path(task["folder"]) / f"{part}.onnx") for part in ("init", "step"))
    real = {"tensor(float)": np.float32, "tensor(double)": np.float64}[step.get_outputs()[0].type]
    past = {"past_u": np.tile(task["u"], (60, 1)), "past_y": np.tile(task["y"], (60, 1))}
    asked = {port.name for port in init.get_inputs()}
    names = [port.name for port in init.get_outputs()]
    outputs = [port.name for port in step.get_outputs()]
    assert outputs[-4:] == NAMES, outputs
    fed = {name: value.astype(real) for name, value in past.items() if name in asked}
    state = dict(zip(names, init.run(None, fed)))
    u = np.array(task["u"], dtype=real)
    following = [f"next_{name}" for name in names]
    for _ in range(task["settle"]):
        state = dict(zip(names, step.run(following, {"u": u, **state})))
    for name, found in zip(NAMES, step.run(NAMES, {"u": u, **state})):
        expected = np.array(task[name])
        assert found.shape == expected.shape, (task["name"], name, found.shape, expected.shape)
        error = np.abs(found - expected).max() / (1 + np.abs(expected).max())
        assert error <= task["tolerance"], f"{task['name']}, {name}: {error:.1e}"
    print(task["name"], "ok")


for entry in json.loads(Path(sys.argv[1]).read_text()):
    compare(entry)
