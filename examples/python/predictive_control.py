"""Model predictive control with the band as a constraint: heat up a hair dryer fast, but stay below a limit with the whole band.

Needs CasADi: pip install casadi
"""

from typing import Any

import casadi
import numpy as np

import intervalid as iv

HORIZON = 40
TARGET, LIMIT = 5.6, 5.8
LOW, HIGH = 3.4, 6.4

dryer = iv.load_data("hair-dryer")
model = iv.ARX(lags=(2, 2, 3)).fit(dryer)
exported = model.to_casadi()
x0 = exported.start(dryer.y[:20], dryer.u[:20])


def plan(upper_at_most: float | None) -> np.ndarray:
    """Inputs over the horizon that bring ŷ to the target with small moves; optionally the band stays below a limit."""
    problem = casadi.Opti()
    u = problem.variable(HORIZON)
    x: Any = casadi.DM(x0)
    before: Any = float(dryer.u[19])
    cost: Any = 0.0
    for k in range(HORIZON):
        x, y, _, upper = exported.step(x, u[k])
        cost += (y - TARGET) ** 2 + 0.05 * (u[k] - before) ** 2
        before = u[k]
        # The first samples are decided by inputs of the past: the dead time.
        if upper_at_most is not None and k >= 3:
            problem.subject_to(upper <= upper_at_most)
    problem.minimize(cost)
    problem.subject_to(problem.bounded(LOW, u, HIGH))
    problem.set_initial(u, float(dryer.u[19]))
    problem.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes"})
    return np.array(problem.solve().value(u))


for limit in (None, LIMIT):
    inputs = plan(limit)
    # What the plan promises is what the model's own simulation gives.
    simulator = model.simulator(y0=dryer.y[:20], u0=dryer.u[:20])
    steps = [simulator.step(now) for now in inputs]
    highest = max(one.upper for one in steps[3:])
    print(f"limit {limit}: ŷ ends at {steps[-1].mean:.3f}, the band reaches {highest:.3f}")
    assert limit is None or highest <= limit + 1e-6
