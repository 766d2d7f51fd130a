"""From a pandas table with a time index to a prediction with the same index."""

import numpy as np
import pandas as pd

from intervalid import ARX, IntervalNODE

# Stands for your file: pd.read_csv("plant.csv", index_col="time", parse_dates=True)
rng = np.random.default_rng(0)
valve = np.repeat(rng.uniform(0, 1, 80), 10)
level = np.zeros(800)
for k in range(1, 800):
    level[k] = level[k - 1] + 0.2 * valve[k - 1] - 0.1 * np.sqrt(max(level[k - 1], 0))
plant = pd.DataFrame(
    {"valve": valve, "level": level + rng.normal(0, 0.02, 800)},
    index=pd.date_range("2026-01-01", periods=800, freq="s", name="time"),
)

train, test = plant[:400], plant[400:]
linear = ARX().fit(train[["valve"]], train["level"])
network = IntervalNODE(lags=linear.lags_, hidden=(16,), epochs=60, linear_path=True, calibrate=True, n_jobs=-1)
network.fit(train[["valve"]], train["level"], sample_time=1.0)

for model in (linear, network):
    metrics = model.metrics(test[["valve"]], test["level"])
    print(f"{type(model).__name__:13} fit {metrics['fit_percent']:5.1f} %, inside {metrics['picp']:6.1%}, CWC {metrics['cwc']:.3f}")

band = network.predict(test[["valve"]], y0=test["level"][: network.initial_outputs_])
table = band.to_pandas().join(test["level"])
print(table.iloc[[1, 2, -1]].round(3))
