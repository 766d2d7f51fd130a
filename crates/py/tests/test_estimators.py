"""Estimators: parameters, scikit-learn's tools, files and pickles."""

from __future__ import annotations

import json
import pathlib
import pickle
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.model_selection import GridSearchCV, KFold, TimeSeriesSplit, cross_val_score
from sklearn.utils.validation import check_is_fitted

import intervalid as iv
from conftest import small, two_by_two
from intervalid import errors
from intervalid.estimators import ESTIMATORS

QUICK: dict[str, Any] = {"lags": (1, 0, 1), "hidden": (4,), "epochs": 2, "window": (20, 10)}


def quick(kind: str) -> iv.Estimator:
    if kind == "arx":
        return iv.ARX(lags=(1, 0, 1))
    extra: dict[str, Any] = {"members": 2} if kind.startswith("ensemble") else {}
    if kind[0] in "bd":
        extra = {"samples": 5}
    return ESTIMATORS[kind](**QUICK, **extra)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_every_model_fits_predicts_saves_and_pickles(kind: str, tmp_path: pathlib.Path) -> None:
    u, y = two_by_two(200, 1)
    model = quick(kind)
    assert model.fit(u, y) is model
    assert model.model_.kind == kind == model.config_["model"]
    start = y[: model.initial_outputs_]
    band = model.predict(u, y0=start)
    assert band.shape == (200, 2) and (band.lower <= band.upper).all() and np.isfinite(band.mean).all()
    path = tmp_path / "model.safetensors"
    model.save(path)
    for again in (iv.load_model(path), type(model).load(path), pickle.loads(pickle.dumps(model))):
        assert type(again) is type(model)
        np.testing.assert_array_equal(again.predict(u, y0=start).upper, band.upper)
        assert again.get_params()["lags"] == (1, 0, 1)
    assert iv.load_model(tmp_path).config_ == model.config_
    # A loaded model can be fitted again, with the settings it was fitted with.
    assert iv.load_model(path).fit(u, y).config_ == model.config_


def test_the_constructor_stores_and_nothing_else() -> None:
    hidden = [7, "seven"]
    model = iv.IntervalNODE(hidden=hidden, coverage=90)  # type: ignore[arg-type]
    assert model.hidden is hidden
    assert model.get_params()["coverage"] == 90
    assert not [name for name in vars(model) if name.endswith("_")]
    with pytest.raises(iv.errors.SettingError, match="hidden = "):
        model.fit(*two_by_two(100, 1))
    with pytest.raises(iv.errors.OptionError, match="coverage = 90 .*did you mean 0.9"):
        model.set_params(hidden=(4,)).fit(*two_by_two(100, 1))


def test_a_typo_is_caught_and_the_name_suggested() -> None:
    with pytest.raises(TypeError, match="epoch"):
        iv.IntervalNODE(epoch=3)  # type: ignore[call-arg]
    with pytest.raises(iv.errors.OptionError, match="did you mean 'epochs'"):
        iv.IntervalNODE().set_params(epoch=3)
    with pytest.raises(iv.errors.SettingError, match="expected `cascade` or `joint`"):
        small(strategy="together").fit(*two_by_two(100, 1))
    with pytest.raises(iv.errors.OptionError, match=r"expected \(n_x, n_d, n_y\)"):
        small(lags=(1, 2)).fit(*two_by_two(100, 1))
    with pytest.raises(ValueError, match="sum to 1"):
        small(split=(0.5, 0.1, 0.1)).fit(*two_by_two(100, 1))
    with pytest.raises(iv.errors.OptionError, match="budget = 0"):
        iv.AutoModel(budget=0).fit(*two_by_two(100, 1))
    with pytest.raises(iv.errors.OptionError, match="n_jobs = 0"):
        small(n_jobs=0).fit(*two_by_two(100, 1))


def test_repr_shows_what_was_changed() -> None:
    assert repr(iv.IntervalNODE()) == "IntervalNODE()"
    assert repr(iv.IntervalLSTM(strategy="joint", seed=2)) == "IntervalLSTM(strategy='joint', seed=2)"


def test_numpy_scalars_and_text_are_settings_too(dryer: iv.Record) -> None:
    plain = small(lags=(2, 2, 3), epochs=2, learning_rate=0.01).fit(dryer)
    other = small(
        lags="2,2,3", epochs=np.int64(2), learning_rate=np.float64(0.01), hidden=np.array([6]), window=[30, 5]
    ).fit(dryer)
    assert plain.model_.to_bytes() == other.model_.to_bytes()


def test_clone_and_searches(dryer: iv.Record) -> None:
    u, y = dryer.u.reshape(-1, 1), dryer.y
    model = small()
    copy = clone(model)
    assert copy.get_params() == model.get_params() and copy is not model
    assert is_regressor(model)
    search = GridSearchCV(model, {"hidden": [(2,), (6,)]}, cv=TimeSeriesSplit(2), n_jobs=2)
    search.fit(u, y)
    check_is_fitted(search.best_estimator_)
    assert search.best_params_["hidden"] in [(2,), (6,)]
    band = search.best_estimator_.predict(u, y0=y[:1])
    assert len(band) == 1000
    scores = cross_val_score(iv.ARX(lags=(2, 2, 3)), u, y, cv=TimeSeriesSplit(3))
    assert (scores > 0.9).all(), scores
    by_band = cross_val_score(iv.ARX(lags=(2, 2, 3)), u, y, cv=TimeSeriesSplit(3), scoring=iv.interval_score)
    assert (by_band < 0).all()


def test_experiments_are_folds() -> None:
    records = [two_by_two(120, seed) for seed in range(4)]
    u, y = [u for u, _ in records], [y for _, y in records]
    scores = cross_val_score(iv.ARX(lags=(1, 0, 1)), u, y, cv=KFold(4))
    assert len(scores) == 4 and (scores > 0.97).all()


def test_fits_run_side_by_side_in_processes(dryer: iv.Record) -> None:
    models = [small(seed=seed) for seed in (1, 2)]
    alone = [_fit_bytes(clone(model), dryer.u, dryer.y) for model in models]
    both = joblib.Parallel(n_jobs=2)(joblib.delayed(_fit_bytes)(model, dryer.u, dryer.y) for model in models)
    assert both == alone and alone[0] != alone[1]


def _fit_bytes(model: iv.Estimator, u: Any, y: Any) -> bytes:
    return model.fit(u, y).model_.to_bytes()


def test_threads_change_nothing(dryer: iv.Record) -> None:
    one = small(calibrate=True, epochs=2).fit(dryer[:500])
    two = small(calibrate=True, epochs=2, n_jobs=2).fit(dryer[:500])
    assert one.model_.to_bytes() == two.model_.to_bytes()
    assert one.model_.calibration is not None and one.model_.calibration["blocks"] >= 5
    assert small().fit(dryer[:500]).model_.calibration is None


def test_result_and_search_are_plain_data(dryer: iv.Record) -> None:
    model = iv.AutoModel(model="arx", split=(0.4, 0.1, 0.5)).fit(dryer)
    result = model.result_
    assert result["dataset"] == "hair-dryer" and result["preset"] == "auto"
    assert result["test"]["n"] == 500 - 1 and result["search"]["why"]
    assert model.search_ is not None and model.search_["candidates"][0]["chosen"]
    json.dumps(result)
    again = pickle.loads(pickle.dumps(model))
    assert again.result_ == result
    assert iv.AutoModel(model="arx").fit(dryer).result_["test"]["n"] == 299
    assert iv.AutoModel(model="arx", split=(0.9, 0.1, 0.0)).fit(dryer).result_["test"] is None


def test_a_search_is_saved_as_what_it_found(dryer: iv.Record, tmp_path: pathlib.Path) -> None:
    model = iv.AutoModel(model="arx").fit(dryer[:500])
    model.save(tmp_path / "model.safetensors")
    assert isinstance(iv.load_model(tmp_path), iv.ARX)
    auto = iv.AutoModel.load(tmp_path)
    rest = dryer[500:]
    np.testing.assert_array_equal(auto.predict(rest).upper, model.predict(rest).upper)
    with pytest.raises(iv.errors.ModelFormatError, match="use intervalid.load_model"):
        iv.IntervalNODE.load(tmp_path)


def test_elasticity_has_a_row_per_parameter(fitted: iv.IntervalNODE, dryer: iv.Record) -> None:
    elasticity = fitted.elasticity()
    assert len(elasticity) == fitted.model_.parameters
    first = elasticity.parameters[0]
    assert (first.layer, first.role, first.input) == ("0", "weight", "y(k-1)")
    table = elasticity.to_pandas()
    assert list(table.columns) == ["layer", "role", "input", "value", "unbounded"]
    bounded = sum(row.value for row in elasticity.parameters if row.value is not None)
    assert table["value"].sum() == pytest.approx(bounded)
    assert len(elasticity.to_pandas(parameters=True)) == len(elasticity)
    with pytest.raises(iv.errors.OptionError, match="interval network"):
        iv.ARX(lags=(2, 2, 3)).fit(dryer).elasticity()


def test_refitting_forgets_the_fit_before(dryer: iv.Record) -> None:
    model = small().fit(dryer.to_pandas()[["u"]], dryer.y)
    assert list(model.feature_names_in_) == ["u"]
    model.fit(dryer.u, dryer.y)
    assert not hasattr(model, "feature_names_in_") and model.n_features_in_ == 1


def test_every_setting_of_the_library_is_a_parameter() -> None:
    from intervalid import _intervalid
    from intervalid._parameters import PREPARATION

    known = set(_intervalid.defaults({"model": "inode"})) | {
        "patience", "margin_epochs", "margin_batch", "margin_schedule"
    }
    offered: set[str] = set()
    for estimator in ESTIMATORS.values():
        names = set(estimator._parameters())
        offered |= names
        besides = {"split", "calibrate", "n_jobs", "verbose", "callbacks", "random_state", "output_range", "detrend", *PREPARATION}
        assert names - besides <= known
    assert known - offered == {"model"}


def test_a_search_takes_a_shape_and_a_coverage_of_all_outputs_together() -> None:
    u, y = two_by_two(200, 1)
    linear = iv.AutoModel(states=2, hidden=0, rounds=2).fit(u, y)
    assert linear.config_["model"] == "iss"
    assert linear.config_["states"] == 2
    assert linear.config_["hidden"] == [0, 0]
    together = iv.AutoModel(model="arx", together=True).fit(u, y)
    each = iv.AutoModel(model="arx").fit(u, y)
    assert together.result_["test"]["picp_together"] >= each.result_["test"]["picp_together"]
    with pytest.raises(errors.OptionError, match="1 to 20 states"):
        iv.AutoModel(states=21).fit(u, y)


def test_a_calibrated_model_is_loaded_as_one(tmp_path: pathlib.Path) -> None:
    u, y = two_by_two(300, 6)
    for calibrate in (True, False):
        iv.ARX(lags=(1, 0, 1), calibrate=calibrate).fit(u, y).save(tmp_path / "m.safetensors")
        loaded = iv.load_model(tmp_path / "m.safetensors")
        assert loaded.get_params()["calibrate"] is calibrate
        assert (loaded.fit(u, y).model_.calibration is not None) is calibrate
