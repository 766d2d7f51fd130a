"""Several recordings of one plant: lists of arrays, of any lengths. Experiments make natural folds, too."""

import numpy as np
from sklearn.model_selection import GridSearchCV, KFold

from intervalid import ARX, interval_score


def record(seed: int, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """One run of the plant."""
    rng = np.random.default_rng(seed)
    u = np.repeat(rng.normal(size=samples // 8 + 1), 8)[:samples]
    y = np.zeros(samples)
    for k in range(2, samples):
        y[k] = 1.5 * y[k - 1] - 0.7 * y[k - 2] + 0.3 * u[k - 1]
    return u, y + rng.normal(0, 0.05, samples)


records = [record(seed, samples) for seed, samples in enumerate((300, 250, 400, 350))]
u, y = [u for u, _ in records], [y for _, y in records]

# Every candidate is judged on an experiment that it was not fitted to, by the band it gives there.
search = GridSearchCV(
    ARX(initial="measured"),
    {"lags": [(0, 1, 1), (0, 1, 2), (2, 0, 3)]},
    scoring=interval_score,
    cv=KFold(4),
)
search.fit(u, y)
print("lags:", search.best_params_["lags"], "interval score:", round(-search.best_score_, 3))

model = search.best_estimator_
bands = model.predict(u, y0=[outputs[: model.initial_outputs_] for outputs in y])
for number, (band, outputs) in enumerate(zip(bands, y, strict=True)):
    print(f"experiment {number}: {band.metrics(outputs)['picp']:.1%} inside")
