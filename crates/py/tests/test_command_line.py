"""The command line inside the package, and exports."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import sysconfig

import pytest

import intervalid as iv


def run(*arguments: str, program: list[str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [*(program or [sys.executable, "-m", "intervalid"]), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_package_brings_the_program(tmp_path: pathlib.Path) -> None:
    script = pathlib.Path(sysconfig.get_path("scripts")) / "intervalid"
    for program in ([str(script)], None):
        version = run("--version", program=program)
        assert (version.returncode, version.stdout) == (0, f"intervalid {iv.__version__}\n"), version.stderr
    fit = ["fit", "hair-dryer", "--model", "inode", "--epochs", "2", "--out", str(tmp_path / "fit")]
    done = run(*fit, "--json", "--quiet")
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert json.loads(done.stdout)["epochs_run"] == 4
    again = iv.load_model(tmp_path / "fit")
    here = iv.IntervalNODE(epochs=2, split=(0.4, 0.1, 0.5)).fit(iv.load_data("hair-dryer"))
    assert again.model_.to_bytes() == here.model_.to_bytes()


def test_mistakes_have_the_exit_codes_of_the_program(tmp_path: pathlib.Path) -> None:
    for arguments in (["fit", "nowhere.csv"], ["fit"], ["--no-such-option"]):
        done = run(*arguments)
        assert done.returncode == 2 and done.stdout == "" and "error" in done.stderr, done.stderr
        assert "Traceback" not in done.stderr


def test_models_are_exported(fitted: iv.IntervalNODE, tmp_path: pathlib.Path) -> None:
    found = fitted.export(tmp_path / "step.c", precision="double")
    assert (found["to"], found["precision"]) == ("c", "double")
    assert found["files"] == [str(tmp_path / "step.h"), str(tmp_path / "step.c")]
    source = (tmp_path / "step.c").read_text()
    assert found["model_hash"] in source
    # The same text as the program writes for the saved model.
    fitted.save(tmp_path / "model.safetensors")
    there = run(
        *("export", str(tmp_path / "model.safetensors"), "--to", "c", "--precision", "double"),
        *("--out", str(tmp_path / "step.c"), "--force"),
    )
    assert there.returncode == 0, there.stderr
    assert (tmp_path / "step.c").read_text() == source
    assert fitted.export(tmp_path / "step.onnx")["opset"] > 10
    assert fitted.export(tmp_path / "step.fmu", binary=False, fmi=3)["fmi"] == "3.0"
    with pytest.raises(iv.errors.OptionError, match="exists already"):
        fitted.export(tmp_path / "step.c")
    fitted.export(tmp_path / "step.c", force=True)
    with pytest.raises(iv.errors.OptionError, match="invalid value 'py'"):
        fitted.export(tmp_path / "step.py")
    with pytest.raises(iv.errors.OptionError, match="--fmi is an option of --to fmu"):
        fitted.export(tmp_path / "other.c", fmi=2)
    with pytest.raises(iv.errors.OptionError, match="cannot run step by step"):
        iv.BayesianNODE(epochs=1, hidden=(3,)).fit(iv.load_data("hair-dryer")[:300]).export(tmp_path / "b.c")


def test_licences_are_where_a_package_keeps_them() -> None:
    from importlib.metadata import files

    found = [str(file) for file in files("intervalid") or [] if "LICENSE" in str(file)]
    assert len(found) == 2, found
    assert all(".dist-info/licenses/" in name for name in found), found
