"""Run in an environment with nothing but the wheel: optional packages are optional."""

from __future__ import annotations

import importlib.util
import pathlib
import tempfile

import numpy as np

import intervalid as iv

for name in ("sklearn", "pandas", "matplotlib", "tqdm", "pyarrow", "polars"):
    assert importlib.util.find_spec(name) is None, f"{name} is installed: this is no bare environment"

dryer = iv.load_data("hair-dryer")
model = iv.IntervalNODE(lags=(2, 2, 3), hidden=(6,), epochs=2, verbose=True).fit(dryer.u[:500], dryer.y[:500])
band = model.predict(dryer.u[500:], y0=dryer.y[500:501])
assert np.isfinite(band.upper).all() and len(band) == 500
for use in (band.plot, band.to_pandas, dryer.to_pandas, model.elasticity().to_pandas):
    try:
        use()
    except iv.errors.MissingDependencyError as error:
        assert "pip install" in str(error)
    else:
        raise AssertionError(f"{use} needs no package?")
try:
    iv.ARX().predict(dryer.u)
except iv.errors.NotFittedError:
    pass
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "model.safetensors"
    model.save(path)
    assert iv.load_model(path).model_.to_bytes() == model.model_.to_bytes()
print(f"intervalid {iv.__version__} works with NumPy {np.__version__} alone")
