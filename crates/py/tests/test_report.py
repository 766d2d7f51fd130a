"""Reports of fits whose test data come later."""

from __future__ import annotations

import pathlib
import pickle

import pytest

import intervalid as iv
from conftest import small


def test_new_data_are_the_test_part(dryer: iv.Record, fitted: iv.IntervalNODE, tmp_path: pathlib.Path) -> None:
    model = small().fit(dryer[:500])
    model.report(tmp_path / "new.html", dryer.u[500:], dryer.y[500:])
    html = (tmp_path / "new.html").read_text()
    metrics = model.metrics(dryer[500:])
    assert f"of {metrics['n']} samples lie inside the band" in html
    small(split=(0.8, 0.2, 0.0)).fit(dryer[:500]).report(tmp_path / "none.html")
    assert "There is no test part" in (tmp_path / "none.html").read_text()
    model.report(tmp_path / "record.html", dryer[500:])
    assert f"of {metrics['n']} samples" in (tmp_path / "record.html").read_text()
    with pytest.raises(iv.IntervalidError, match="learns from"):
        model.report(tmp_path / "own.html", dryer[:500])
    assert not (tmp_path / "own.html").exists()


def test_a_model_without_its_record_says_so(fitted: iv.IntervalNODE, tmp_path: pathlib.Path) -> None:
    again = pickle.loads(pickle.dumps(fitted))
    with pytest.raises(iv.IntervalidError, match="after fit"):
        again.report(tmp_path / "report.html")
    fitted.save(tmp_path / "model.safetensors")
    with pytest.raises(AttributeError, match="use metrics"):
        _ = iv.load_model(tmp_path).result_
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.safetensors"]
