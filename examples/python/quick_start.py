"""A band around the simulation of a hair dryer, in five lines."""

import matplotlib

matplotlib.use("Agg")  # writes a file; leave it out in a notebook

from intervalid import AutoModel, load_data  # noqa: E402

dryer = load_data("hair-dryer")
model = AutoModel(budget=20).fit(dryer[:500])  # seconds; without a budget it takes the time it needs
band = model.predict(dryer[500:])
axes = band.plot(dryer[500:].y, title="Hair dryer, second half")
axes.figure.savefig("band.png", dpi=150)

assert model.search_ is not None
print(model.search_["why"])
metrics = band.metrics(dryer[500:].y)
print(f"{metrics['picp']:.1%} of {metrics['n']} samples inside, RMSE {metrics['rmse']:.3f} V")
