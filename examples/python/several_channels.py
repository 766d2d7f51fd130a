"""Two inputs, two outputs: arrays with one column per channel."""

import numpy as np

from intervalid import ARX, IntervalNODE

rng = np.random.default_rng(1)
u = np.repeat(rng.normal(size=(120, 2)), 5, axis=0)
y = np.zeros((600, 2))
for k in range(1, 600):
    y[k, 0] = 0.8 * y[k - 1, 0] + 0.1 * y[k - 1, 1] + 0.5 * np.tanh(u[k, 0])
    y[k, 1] = 0.6 * y[k - 1, 1] + 0.4 * u[k - 1, 1] - 0.1 * u[k, 0]
y += rng.normal(0, 0.02, y.shape)

for model in (ARX(lags=(1, 0, 1)), IntervalNODE(lags=(1, 0, 1), hidden=(12,), epochs=60, linear_path=True)):
    model.fit(u[:400], y[:400])
    metrics = model.metrics(u[400:], y[400:])
    for name in model.output_names_:
        print(f"{type(model).__name__:13} {name}: fit {metrics['fit_percent'][name]:5.1f} %, inside {metrics['picp'][name]:6.1%}")

band = model.predict(u[400:], y0=y[400 : 400 + model.initial_outputs_])
print(band, band["y2"].upper[:3].round(3))
