"""Runs exported FMUs in fmpy and compares them with the expected numbers of a task file."""

import json
import shutil
import sys

import fmpy
import numpy as np
from fmpy.fmi2 import FMU2Slave
from fmpy.fmi3 import FMU3Slave
from fmpy.validation import validate_fmu


class Instance:
    """One instance of either version of the interface."""

    def __init__(self, task, folder, description, name):
        self.task = task
        self.references = {variable.name: variable.valueReference for variable in description.modelVariables}
        self.is_three = description.fmiVersion.startswith("3")
        arguments = dict(
            guid=description.guid if not self.is_three else description.instantiationToken,
            unzipDirectory=folder,
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName=name,
        )
        self.fmu = (FMU3Slave if self.is_three else FMU2Slave)(**arguments)
        self.fmu.instantiate()

    def set(self, names, values):
        references = [self.references[name] for name in names]
        (self.fmu.setFloat64 if self.is_three else self.fmu.setReal)(references, list(map(float, values)))

    def get(self, names):
        references = [self.references[name] for name in names]
        return list((self.fmu.getFloat64 if self.is_three else self.fmu.getReal)(references))

    def start(self, online, correcting=False):
        task, fmu = self.task, self.fmu
        if not self.is_three:
            fmu.setupExperiment(startTime=0.0)
        for name, values in initial_values(task, self.references).items():
            self.set([name], [values])
        fmu.setBoolean([self.references["online"]], [online])
        fmu.enterInitializationMode()
        fmu.exitInitializationMode()
        self.step = 0
        self.online = online
        self.correcting = correcting
        last = task["past_outputs"][-1]
        assert np.allclose(self.get(task["outputs"]), last, rtol=1e-12), "outputs before the first step"
        if task["extrapolated"] is not None:
            assert not fmu.getBoolean([self.references["extrapolated"]])[0], "alarm before the first step"

    def advance(self):
        task, time = self.task, self.step * self.task["sample_time"]
        self.set(task["inputs"], task["u"][self.step])
        if self.step > 0:
            self.set([name + "_measured" for name in task["outputs"]], task["measured"][self.step - 1])
        if self.correcting:
            self.fmu.setBoolean([self.references["correct"]], [self.step > 0 and (self.step - 1) % 3 != 2])
        self.fmu.doStep(currentCommunicationPoint=time, communicationStepSize=task["sample_time"])
        self.step += 1
        if self.correcting:
            # What alarm and watch say of a free run is not what they say here.
            return self.bounds()
        if task["extrapolated"] is None:
            assert "extrapolated" not in self.references
        else:
            alarm = self.fmu.getBoolean([self.references["extrapolated"]])[0]
            assert bool(alarm) == bool(task["extrapolated"][self.step - 1]), f"alarm of step {self.step}"
        if task["monitor"] is None:
            assert "monitor_state" not in self.references
        elif self.online:
            kinds = ("coverage", "recent_coverage")
            names = [f"{name}_{kind}" for name in task["outputs"] for kind in kinds]
            found = self.get(["monitor_state", *names])
            # Of what was measured before this step.
            assert np.allclose(found, task["monitor"][self.step - 1], rtol=1e-12), f"watch of step {self.step}: {found}"
        return self.bounds()

    def bounds(self):
        return [
            self.get([name, name + "_lower", name + "_upper"]) for name in self.task["outputs"]
        ]


def initial_values(task, references):
    """Parameters of the start: as many past samples as the FMU asks for."""
    values = {}
    for kind, past in (("inputs", task["past_inputs"]), ("outputs", task["past_outputs"])):
        for age, sample in enumerate(reversed(past), start=1):
            for name, value in zip(task[kind], sample):
                parameter = f"{name}_initial_{age}"
                if parameter in references:
                    values[parameter] = value
    return values


def check(task, found, online, kind="expected"):
    expected = np.array(task[kind])[: len(found)]
    columns = [0, 3, 4] if online else [0, 1, 2]
    found, wanted = np.array(found), expected[:, :, columns]
    y = np.abs(expected[:, :, :1])
    scale = np.maximum(np.maximum(np.abs(wanted), y), np.array(task["std"])[None, :, None])
    if online:
        sides = np.abs(expected[:, :, 1:3] - expected[:, :, :1])
        factor = np.abs(expected[:, :, 3:5] - expected[:, :, :1]) / np.maximum(sides, 1e-300)
        scale[:, :, 1:] *= np.maximum(factor, 1.0)
    error = np.max(np.abs(found - wanted) / scale)
    assert error <= task["tolerance"], f"{task['name']} {kind} online={online}: {error}"


def run(task):
    problems = validate_fmu(task["fmu"])
    assert not problems, problems
    description = fmpy.read_model_description(task["fmu"])
    folder = fmpy.extract(task["fmu"])
    try:
        steps = len(task["u"])
        one, two = (Instance(task, folder, description, name) for name in ("one", "two"))
        one.start(False)
        two.start(True)
        found = ([], [])
        for _ in range(steps):
            found[0].append(one.advance())
            found[1].append(two.advance())
        check(task, found[0], False)
        check(task, found[1], True)
        # Steps that start from what was measured.
        two.fmu.reset()
        two.start(True, correcting=True)
        check(task, [two.advance() for _ in task["corrected"]], True, "corrected")
        two.correcting = False
        # Again after a reset, and from a saved state, also as bytes.
        one.fmu.reset()
        one.start(False)
        first = [one.advance() for _ in range(20)]
        assert first == found[0][:20], "the same numbers after a reset"
        state = one.fmu.getFMUState()
        serialized = one.fmu.serializeFMUState(state)
        rest = [one.advance() for _ in range(20)]
        one.fmu.setFMUState(state)
        one.step = 20
        assert [one.advance() for _ in range(20)] == rest, "the same numbers from a saved state"
        two.fmu.setFMUState(two.fmu.deserializeFMUState(serialized))
        two.step, two.online = 20, False
        assert [two.advance() for _ in range(20)] == rest, "the same numbers in another instance"
        # An overload mark is refused and changes nothing.
        if task["inputs"]:
            one.fmu.setFMUState(state)
            one.step = 20
            one.set(task["inputs"][:1], [9.9e37])
            try:
                one.fmu.doStep(currentCommunicationPoint=0.0, communicationStepSize=task["sample_time"])
            except Exception:  # fmpy raises its own type
                pass
            else:
                raise AssertionError("an input beyond all reason was taken")
            assert [one.advance() for _ in range(20)] == rest, "the same numbers after a refused input"
        # A step that is no whole number of samples.
        try:
            one.fmu.doStep(currentCommunicationPoint=0.0, communicationStepSize=0.4 * task["sample_time"])
            raise AssertionError("a step of part of a sample was taken")
        except Exception as error:  # fmpy raises its own type
            assert "part of a sample" not in str(error), error
        for instance in (one, two):
            instance.fmu.terminate()
            instance.fmu.freeInstance()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    for task in json.load(open(sys.argv[1], encoding="utf-8")):
        run(task)
        print(task["name"], "ok")


main()
