"""Every kind of error is an exception of its own, and also the built-in one that a programmer expects."""

from __future__ import annotations

import inspect
import os
import pathlib
import re
import subprocess
import sys

import pytest

import intervalid as iv
from conftest import ROOT, small
from intervalid import errors


def test_all_exceptions_are_exported_and_of_one_family() -> None:
    classes = [item for _, item in inspect.getmembers(errors, inspect.isclass) if item.__module__ == errors.__name__]
    assert {item.__name__ for item in classes} == set(errors.__all__)
    for item in classes:
        assert issubclass(item, iv.IntervalidError) and item.__doc__


def test_every_class_that_the_library_raises_exists() -> None:
    source = "".join(path.read_text() for path in (ROOT / "crates/py/src").glob("*.rs"))
    names = set(re.findall(r'"(\w+Error)"', source))
    assert len(names) > 10
    assert names <= set(errors.__all__), names - set(errors.__all__)


def test_files(tmp_path: pathlib.Path) -> None:
    with pytest.raises(errors.DataFileNotFoundError, match="no such file") as missing:
        iv.load_data(tmp_path / "no.csv")
    assert isinstance(missing.value, FileNotFoundError) and missing.value.kind == "FileNotFound"
    with pytest.raises(errors.UnknownDataError, match="did you mean 'hair-dryer'"):
        iv.load_data("hair-drier")
    with pytest.raises(errors.DataFileAccessError, match="folder"):
        iv.load_data(str(tmp_path) + "/")
    (tmp_path / "bad.csv").write_text("u,y\n1,2\n3,x\n")
    with pytest.raises(errors.DataFileError, match="line 3, column 'y': 'x' is not a number") as bad:
        iv.load_data(tmp_path / "bad.csv")
    assert isinstance(bad.value, ValueError) and bad.value.kind == "NotANumber"
    with pytest.raises(errors.ModelFileNotFoundError) as absent:
        iv.load_model(tmp_path / "model.safetensors")
    assert isinstance(absent.value, OSError)
    (tmp_path / "model.safetensors").write_bytes(b"not a model at all")
    with pytest.raises(errors.ModelFormatError, match="not a valid model"):
        iv.load_model(tmp_path)
    with pytest.raises(ValueError, match="decimal"):
        iv.load_data("hair-dryer", decimal=";")


def test_a_file_named_like_a_known_data_set_is_the_users_own(dryer: iv.Record, tmp_path: pathlib.Path) -> None:
    dryer.to_pandas().to_csv(tmp_path / "hair_dryer.csv", index=False)
    own = iv.load_data(tmp_path / "hair_dryer.csv")
    assert own.split is None and dryer[:500].split == (0.4, 0.1, 0.5)
    batch = [iv.IntervalNODE(epochs=1, lags=(2, 2, 3)).fit(record).config_["batch"] for record in (own, dryer[:900])]
    assert batch == [64, 32]


def test_a_damaged_pickle_is_refused(fitted: iv.IntervalNODE) -> None:
    content = bytearray(fitted.model_.to_bytes())
    content[-1] ^= 1
    with pytest.raises(errors.ModelFormatError, match="checksum"):
        type(fitted.model_).from_bytes(bytes(content))


def test_not_fitted_is_also_that_of_scikit_learn() -> None:
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError, match="call fit"):
        small().predict([1.0, 2.0], y0=[1.0])
    with pytest.raises(errors.NotFittedError):
        small().save("nowhere")


def test_saving_where_nothing_can_be_written(fitted: iv.IntervalNODE, tmp_path: pathlib.Path) -> None:
    with pytest.raises(errors.ModelFileError):
        fitted.save(tmp_path / "no folder" / "model.safetensors")
    with pytest.raises(errors.ReportFileError, match="report cannot be written"):
        fitted.report(tmp_path / "no folder" / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_divergence_is_told(dryer: iv.Record) -> None:
    with pytest.raises((errors.DivergedError, errors.OptionError)):
        small(learning_rate=1e300, gradient_clip=1e300).fit(dryer)


def test_a_simd_level_that_does_not_exist_is_found_at_import() -> None:
    program = "import intervalid"
    for level, message in [("baseline", ""), ("sse9", "SettingError: INTERVALID_SIMD must be baseline, avx2 or avx512, found 'sse9'")]:
        environment = {**os.environ, "INTERVALID_SIMD": level}
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False)
        assert (done.returncode == 0) == (message == ""), done.stderr
        assert done.stderr.strip().splitlines()[-1:] == ([f"intervalid.errors.{message}"] if message else [])
