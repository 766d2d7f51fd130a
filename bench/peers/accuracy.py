"""Free runs of peers over the last part of a record: one JSON line per model.

Split 0.5 / 0.1 / 0.4 in time. Orders are chosen on the validation part. State-space peers find the state of a run in the 100 samples before
it, the others take the measured outputs before it.
"""

import argparse
import itertools
import json
import sys
import time
import warnings

import numpy as np

warnings.filterwarnings("ignore")
TRAIN, VALIDATION = 0.5, 0.1
HISTORY = 100
# Beyond this many standard deviations a run is held: it has diverged.
LIMIT = 50.0


class Record:
    """A record in units of its training part."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            # Without quotes and units, as our program names them.
            names = [name.strip(' "').split("[")[0].strip() for name in file.readline().strip().split(",")]
        data = np.genfromtxt(path, delimiter=",", skip_header=1)
        self.train_end = round(TRAIN * len(data))
        self.test_start = round((TRAIN + VALIDATION) * len(data))
        self.outputs = [name for name in names if name.startswith("y")]
        self.u = self._normalised(data[:, [name.startswith("u") for name in names]])
        self.y = self._normalised(data[:, [name.startswith("y") for name in names]])

    def _normalised(self, columns):
        train = columns[: self.train_end]
        return (columns - train.mean(0)) / (train.std(0) + 1e-12)

    def fit_percent(self, predicted):
        measured = self.y[self.test_start :]
        error = np.sqrt(((predicted - measured) ** 2).mean(0))
        return 100.0 * (1.0 - error / measured.std(0))


def report(record, peer, started, predicted):
    fit = record.fit_percent(predicted)
    seconds = time.perf_counter() - started
    line = {"peer": peer, "outputs": record.outputs, "seconds": seconds}
    if np.isfinite(fit).all():
        line["fit_percent"] = fit.tolist()
    else:
        # JSON knows no NaN.
        line["error"] = f"the run has diverged: fit {', '.join(f'{value:g}' for value in fit)} %"
    print(json.dumps(line, allow_nan=False), flush=True)


def arx(record):
    """Least squares, orders by the free run over the validation part, fitted again on training and validation parts."""
    started = time.perf_counter()
    u, y = record.u, record.y

    def regressors(start, end, na, nb, nk):
        lags = [y[start - lag : end - lag] for lag in range(1, na + 1)]
        taps = [u[start - lag : end - lag] for lag in range(nk, nk + nb)]
        return np.column_stack([*lags, *taps, np.ones(end - start)])

    def solve(end, na, nb, nk):
        start = max(na, nb + nk)
        return np.linalg.lstsq(regressors(start, end, na, nb, nk), y[start:end], rcond=None)[0]

    def simulate(theta, na, nb, nk, start, end):
        run = y.copy()
        for k in range(start, end):
            past = [run[k - lag] for lag in range(1, na + 1)] + [u[k - lag] for lag in range(nk, nk + nb)]
            run[k] = np.clip(np.concatenate([*past, [1.0]]) @ theta, -LIMIT, LIMIT)
        return run[start:end]

    def validation_error(orders):
        run = simulate(solve(record.train_end, *orders), *orders, record.train_end, record.test_start)
        return ((run - y[record.train_end : record.test_start]) ** 2).mean()

    sizes = (1, 2, 3, 4, 6)
    orders = [
        (na, nb, nk)
        for na, nb, nk in itertools.product(sizes, sizes, (0, 1, 2))
        if 8 * (na * y.shape[1] + nb * u.shape[1]) <= record.train_end
    ]
    best = min(orders, key=validation_error)
    theta = solve(record.test_start, *best)
    report(record, f"ARX {best}", started, simulate(theta, *best, record.test_start, len(y)))


def frols(record):
    """Polynomial NARX with terms chosen by FROLS (sysidentpy); it takes one output, so records with several are left out."""
    if record.y.shape[1] > 1:
        return
    from sysidentpy.basis_function import Polynomial
    from sysidentpy.model_structure_selection import FROLS

    started = time.perf_counter()
    u, y = record.u, record.y

    def fitted(end, lag, terms):
        lags = [list(range(1, lag + 1))] * u.shape[1]
        model = FROLS(
            n_terms=terms,
            order_selection=False,
            ylag=lag,
            xlag=lags if u.shape[1] > 1 else lags[0],
            basis_function=Polynomial(degree=2),
        )
        model.fit(X=u[:end], y=y[:end])
        return model

    def simulate(model, start, end):
        first = max(start - model.max_lag, 0)
        run = model.predict(X=u[first:end], y=y[first:start])
        return np.clip(np.nan_to_num(run[start - first :], nan=LIMIT), -LIMIT, LIMIT)

    def validation_error(choice):
        run = simulate(fitted(record.train_end, *choice), record.train_end, record.test_start)
        return ((run - y[record.train_end : record.test_start]) ** 2).mean()

    best = min(itertools.product((2, 4, 6), (5, 10, 20)), key=validation_error)
    model = fitted(record.test_start, *best)
    report(record, f"FROLS {best}", started, simulate(model, record.test_start, len(y)))


def jax_sysid(record):
    """Linear and neural state-space models of jax-sysid, fitted to the training part; the neural one from two seeds."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    from jax_sysid.models import LinearModel, Model

    u, y = record.u, record.y
    outputs, inputs = y.shape[1], u.shape[1]
    states, units = max(4, outputs + 2), 8
    train = slice(0, record.train_end)

    def judge(model, peer, started):
        first = max(record.test_start - HISTORY, 0)
        before = slice(first, record.test_start)
        x0 = model.learn_x0(u[before], y[before], verbosity=False)
        run, _ = model.predict(x0, u[first:])
        report(record, peer, started, np.asarray(run)[record.test_start - first :])

    started = time.perf_counter()
    linear = LinearModel(states, outputs, inputs, feedthrough=True)
    linear.loss(rho_x0=1e-3, rho_th=1e-4)
    linear.optimization(lbfgs_epochs=1000, iprint=-1)
    linear.fit(y[train], u[train])
    judge(linear, f"jax-sysid linear, {states} states", started)

    def state_map(x, u, p):
        return p[0] @ x + p[1] @ u + p[2] @ jnp.tanh(p[3] @ x + p[4] @ u + p[5]) + p[6]

    def output_map(x, u, p):
        return p[7] @ x + p[8] @ u + p[9] @ jnp.tanh(p[10] @ x + p[11]) + p[12]

    for seed in range(2):
        started = time.perf_counter()
        random = np.random.default_rng(seed)

        def small(*shape, random=random):
            return 0.1 * random.standard_normal(shape)

        model = Model(states, outputs, inputs, state_fcn=jax.jit(state_map), output_fcn=jax.jit(output_map))
        state = [0.5 * np.eye(states), small(states, inputs), small(states, units)]
        state += [small(units, states), small(units, inputs), np.zeros(units), np.zeros(states)]
        output = [small(outputs, states), small(outputs, inputs), small(outputs, units)]
        output += [small(units, states), np.zeros(units), np.zeros(outputs)]
        model.init(params=state + output)
        model.loss(rho_x0=1e-4, rho_th=1e-4)
        model.optimization(adam_epochs=1000, lbfgs_epochs=1500, iprint=-1)
        model.fit(y[train], u[train])
        judge(model, f"jax-sysid neural, {states} states, seed {seed}", started)


PEERS = {"arx": arx, "frols": frols, "jax": jax_sysid}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("record")
    parser.add_argument("--peers", default=",".join(PEERS))
    options = parser.parse_args()
    record = Record(options.record)
    for name in options.peers.split(","):
        try:
            PEERS[name](record)
        except Exception as error:  # a peer that fails is a row, not the end
            print(json.dumps({"peer": name, "error": str(error)[:200]}), flush=True)
            print(f"{name}: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()
