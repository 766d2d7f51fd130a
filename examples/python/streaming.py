"""A model beside its plant: one sample at a time, with a band that follows the measurements."""

import pickle

import numpy as np

from intervalid import AutoModel, load_data

dryer = load_data("hair-dryer")
u, y = dryer.u, dryer.y
model = AutoModel(model="arx").fit(dryer[:500])

simulator = model.simulator(y0=y[490:500], u0=u[490:500])
offline, online = [], []
for k in range(500, 1000):
    step = simulator.step(u[k])  # before the measurement arrives
    offline.append(step.lower <= y[k] <= step.upper)
    online.append(step.online_lower <= y[k] <= step.online_upper)
    simulator.observe(y[k])  # the band of the next samples follows; the simulation runs free

print(f"inside: {np.mean(offline):.1%} of the band that was fitted, {np.mean(online):.1%} of the one that follows")

# What if the heater went to full power now? A copy answers without disturbing the simulation.
what_if = simulator.copy()
print("full power for ten samples:", [round(what_if.step(u.max()).mean, 2) for _ in range(10)][-1], "V")

# And it can be stored: in a pickle with its model, or as a small text beside the model file.
assert pickle.loads(pickle.dumps(simulator)).step(5.0) == model.simulator().restore(simulator.state()).step(5.0)
