"""The training iteration in JAX: jit, one `lax.scan` for the crisp path, the interval branch of all steps at once.

    python peer_jax.py --problems DIR [--threads N] [--seconds S] [--case NAME] [--plain]
    python peer_jax.py --check [--precision f32|f64]

Arrays are [step, window, channel]; layers are dicts W [out, in], b [out], LSTM cells also U [4h, h] (gates i, f, q, o).
"""

from __future__ import annotations

import math
import os
import sys
import time
from functools import partial

import common

ARGUMENTS = common.arguments("JAX peer of the intervalid benchmark") if __name__ == "__main__" else None
if ARGUMENTS is not None:
    # XLA sizes its thread pool by the cores it may use, at import.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: ARGUMENTS.threads])
PLAIN = ARGUMENTS is not None and ARGUMENTS.plain
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

ROW_BLOCK = 16  # of 16, 32 and 64 the fastest

# --- crisp path -----------------------------------------------------------------------------------------------------


def first_layer(layer, u, output_lags):
    """Splits the first layer: the input part of all steps is one product outside the scan."""
    return layer["W"][:, :output_lags], u @ layer["W"][:, output_lags:].T + layer["b"]


def shift(lags, y):
    return jnp.concatenate([y, lags[:, :-1]], axis=1)


def crisp_node(theta, u, start):
    """Free run of y(k) = y(k-1) + MLP(x(k)); returns y [step, window] and no recurrent states."""
    feedback, driven = first_layer(theta[0], u, start.shape[1])

    def step(lags, driven):
        z = jnp.tanh(lags @ feedback.T + driven)
        for layer in theta[1:-1]:
            z = jnp.tanh(z @ layer["W"].T + layer["b"])
        y = lags[:, :1] + z @ theta[-1]["W"].T + theta[-1]["b"]
        return shift(lags, y), y[:, 0]

    return lax.scan(step, start, driven)[1], ()


def gates(pre):
    i, f, q, o = jnp.split(pre, 4, axis=-1)
    return jax.nn.sigmoid(i), jax.nn.sigmoid(f), jnp.tanh(q), jax.nn.sigmoid(o)


def crisp_lstm(theta, u, start):
    """Free run of stacked LSTM cells; returns y and per cell the states (h, c) after each step."""
    feedback, driven = first_layer(theta[0], u, start.shape[1])
    joined = [jnp.concatenate([feedback, theta[0]["U"]], axis=1)]
    joined += [jnp.concatenate([cell["W"], cell["U"]], axis=1) for cell in theta[1:-1]]
    zeros = [jnp.zeros((start.shape[0], cell["U"].shape[1]), u.dtype) for cell in theta[:-1]]

    def step(carry, driven):
        lags, states = carry
        below, bias, after = lags, driven, []
        for index, (weight, (h, c)) in enumerate(zip(joined, states)):
            if index > 0:
                bias = theta[index]["b"]
            i, f, q, o = gates(jnp.concatenate([below, h], axis=1) @ weight.T + bias)
            c = f * c + i * q
            below = o * jnp.tanh(c)
            after.append((below, c))
        y = below @ theta[-1]["W"].T + theta[-1]["b"]
        return (shift(lags, y), tuple(after)), (y[:, 0], tuple(after))

    return lax.scan(step, (start, tuple((z, z) for z in zeros)), driven)[1]


# --- interval branch ------------------------------------------------------------------------------------------------


def positive(x):
    return jnp.maximum(x, 0)


def negative(x):
    return jnp.maximum(-x, 0)


def max_dot_plain(p, s, q, t):
    """sum_j max(p[r,j] s[o,j], q[r,j] t[o,j]): the part of an interval product that is not a matrix product."""
    return jnp.maximum(p[:, :, None] * s.T, q[:, :, None] * t.T).sum(1)


# The same with loops. XLA fuses whatever made the operands into each use of them, and materialises [r, j, o] in the
# backward pass; a loop is a border to fusion and keeps the working set small.
@jax.custom_vjp
def max_dot_loops(p, s, q, t):
    def add(total, column):
        p, s, q, t = column
        return total + jnp.maximum(p[:, None] * s, q[:, None] * t), None

    return lax.scan(add, jnp.zeros((p.shape[0], s.shape[0]), p.dtype), (p.T, s.T, q.T, t.T))[0]


def max_dot_forward(p, s, q, t):
    return max_dot_loops(p, s, q, t), (p, s, q, t)


def max_dot_backward(saved, g):
    p, s, q, t = saved

    def add_rows(total, rows):
        p, q, g = rows
        dp, dq = jnp.zeros_like(p), jnp.zeros_like(q)
        for o in range(s.shape[0]):
            first, gradient = p * s[o] >= q * t[o], g[:, o, None]
            dp += jnp.where(first, gradient * s[o], 0)
            dq += jnp.where(first, 0, gradient * t[o])
        p, q, g = p[:, None, :], q[:, None, :], g[:, :, None]
        first = p * s >= q * t
        ds = jnp.where(first, g * p, 0).sum(0)
        dt = jnp.where(first, 0, g * q).sum(0)
        return (total[0] + ds, total[1] + dt), (dp, dq)

    block = math.gcd(p.shape[0], ROW_BLOCK)
    blocks = tuple(array.reshape(-1, block, array.shape[1]) for array in (p, q, g))
    (ds, dt), (dp, dq) = lax.scan(add_rows, (jnp.zeros_like(s), jnp.zeros_like(t)), blocks)
    return dp.reshape(p.shape), ds, dq.reshape(q.shape), dt


max_dot_loops.defvjp(max_dot_forward, max_dot_backward)


def with_one(*parts):
    """Joins the factors of a product with a column of ones that carries the bias: its gradient is then part of a matrix
    product too, where XLA's own row reduction would evaluate all that led to it once per column."""
    return jnp.concatenate([*parts, jnp.ones_like(parts[0][:, :1])], 1)


def interval_product(a_lo, a_hi, w_lo, w_hi, b_lo, b_hi):
    """Exact bounds of a @ w.T + b, by the identity that leaves only max terms outside matrix products."""
    signed = with_one(positive(a_lo), negative(a_hi))
    w_lo_p, w_lo_n, w_hi_p, w_hi_n = positive(w_lo), negative(w_lo), positive(w_hi), negative(w_hi)
    for_lo = jnp.concatenate([w_lo_p, w_hi_n, b_lo[:, None]], 1)
    for_hi = jnp.concatenate([-w_hi_n, -w_lo_p, b_hi[:, None]], 1)
    max_dot = max_dot_plain if PLAIN else max_dot_loops
    lo = signed @ for_lo.T - max_dot(positive(a_hi), w_lo_n, negative(a_lo), w_hi_p)
    hi = signed @ for_hi.T + max_dot(positive(a_hi), w_hi_p, negative(a_lo), w_lo_n)
    return lo, hi


def crisp_product(x, w_lo, w_hi, b_lo, b_hi):
    """Exact bounds of x @ w.T + b for a crisp x."""
    signed = with_one(positive(x), -negative(x))
    for_lo = jnp.concatenate([w_lo, w_hi, b_lo[:, None]], 1)
    for_hi = jnp.concatenate([w_hi, w_lo, b_hi[:, None]], 1)
    return signed @ for_lo.T, signed @ for_hi.T


def scale_by_gate(g_lo, g_hi, x_lo, x_hi):
    """Product of a gate (>= 0) and an interval."""
    return jnp.where(x_lo >= 0, g_lo, g_hi) * x_lo, jnp.where(x_hi >= 0, g_hi, g_lo) * x_hi


def interval_node(lower, upper, x, _states):
    lo, hi = crisp_product(x, lower[0]["W"], upper[0]["W"], lower[0]["b"], upper[0]["b"])
    for below, above in zip(lower[1:], upper[1:]):
        lo, hi = interval_product(jnp.tanh(lo), jnp.tanh(hi), below["W"], above["W"], below["b"], above["b"])
    return x[:, 0] + lo[:, 0], x[:, 0] + hi[:, 0]


def interval_lstm(lower, upper, x, states):
    in_lo = in_hi = x
    for index, (h, c) in enumerate(states):
        below, above = lower[index], upper[index]
        if index == 0:
            # Regressor and state are both crisp: one product.
            w_lo, w_hi = (jnp.concatenate([side["W"], side["U"]], 1) for side in (below, above))
            lo, hi = crisp_product(jnp.concatenate([x, h], 1), w_lo, w_hi, below["b"], above["b"])
        else:
            zero = jnp.zeros_like(below["b"])
            lo, hi = interval_product(in_lo, in_hi, below["W"], above["W"], below["b"], above["b"])
            recurrent = crisp_product(h, below["U"], above["U"], zero, zero)
            lo, hi = lo + recurrent[0], hi + recurrent[1]
        i_lo, f_lo, q_lo, o_lo = gates(lo)
        i_hi, f_hi, q_hi, o_hi = gates(hi)
        kept, added = scale_by_gate(f_lo, f_hi, c, c), scale_by_gate(i_lo, i_hi, q_lo, q_hi)
        in_lo, in_hi = scale_by_gate(o_lo, o_hi, jnp.tanh(kept[0] + added[0]), jnp.tanh(kept[1] + added[1]))
    lo, hi = interval_product(in_lo, in_hi, lower[-1]["W"], upper[-1]["W"], lower[-1]["b"], upper[-1]["b"])
    return lo[:, 0], hi[:, 0]


NETWORKS = {"node": (crisp_node, interval_node), "lstm": (crisp_lstm, interval_lstm)}
# |x| with slope 0 at 0, as in the other programs: JAX has 1 there, and margins that start at zero would grow.
MARGINS = {"abs": lambda x: x * jnp.sign(x), "relu": positive}


def regressors(start, y, u):
    """x(k) of all steps from the crisp trajectory, [step * window, channel], output lags newest first."""
    # Column `lag` begins with what was known before the first prediction, oldest first.
    known = start.T[::-1]
    columns = [jnp.concatenate([known[-1 - lag :], y[: len(y) - lag - 1]]) for lag in range(len(known))]
    x = jnp.concatenate([jnp.stack(columns, -1), u], axis=-1)
    return x.reshape(-1, x.shape[-1])


def previous(state):
    return jnp.concatenate([jnp.zeros_like(state[:1]), state[:-1]]).reshape(-1, state.shape[-1])


# --- losses and gradients -------------------------------------------------------------------------------------------


def band(architecture, margin, theta, margins, u, start, y, states):
    sigma = MARGINS[margin]
    lower = jax.tree.map(lambda centre, raw: centre - sigma(raw), theta, margins["lower"])
    upper = jax.tree.map(lambda centre, raw: centre + sigma(raw), theta, margins["upper"])
    states = jax.tree.map(previous, states)
    return NETWORKS[architecture][1](lower, upper, regressors(start, y, u), states)


def rqr_w(target, lo, hi, coverage, width_penalty):
    level = coverage + 2 * width_penalty
    kappa = (target - lo) * (target - hi)
    return jnp.mean(jnp.where(kappa >= 0, level, level - 1) * kappa + width_penalty / 2 * (hi - lo) ** 2)


def joint_gradients(architecture, margin, coverage, width_penalty, theta, margins, u, start, target):
    """Both losses, both gradients with respect to theta, and the gradient with respect to the raw margins."""
    (y, states), crisp_vjp = jax.vjp(lambda theta: NETWORKS[architecture][0](theta, u, start), theta)
    mse = jnp.mean((y - target) ** 2)

    def interval_loss(theta, margins, y, states):
        lo, hi = band(architecture, margin, theta, margins, u, start, y, states)
        return rqr_w(target.reshape(-1), lo, hi, coverage, width_penalty), (lo, hi)

    rqr, interval_vjp, bounds = jax.vjp(interval_loss, theta, margins, y, states, has_aux=True)
    direct, margin_gradient, *adjoint = interval_vjp(jnp.ones_like(rqr))
    # Both adjoints go through time together: one backward scan.
    of_mse = (2 * (y - target) / y.size, jax.tree.map(jnp.zeros_like, states))
    stacked = jax.tree.map(lambda a, b: jnp.stack([a, b]), of_mse, tuple(adjoint))
    (through_time,) = jax.vmap(crisp_vjp)(stacked)
    mse_gradient = jax.tree.map(lambda both: both[0], through_time)
    rqr_gradient = jax.tree.map(lambda both, direct: both[1] + direct, through_time, direct)
    return jnp.stack([mse, rqr]), mse_gradient, rqr_gradient, margin_gradient, (y, *bounds)


def gradnorm(s, losses, initial, beta, mse_gradient, rqr_gradient):
    """GradNorm on the penultimate layer's weights: norms, rates, targets, loss and its gradient by s."""
    shared = [[layer[key] for key in ("W", "U") if key in layer] for layer in (mse_gradient[-2], rqr_gradient[-2])]
    norms = jnp.stack([jnp.sqrt(sum(jnp.sum(g * g) for g in group)) for group in shared])
    scaled = s * norms
    rates = losses / initial
    rates = rates / jnp.mean(rates)
    targets = jnp.mean(scaled) * rates**beta
    return norms, rates, targets, jnp.sum(jnp.abs(scaled - targets)), jnp.sign(scaled - targets) * norms


# --- optimiser and the timed iterations -----------------------------------------------------------------------------


def clipped(gradient, limit):
    norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(gradient)))
    factor = jnp.minimum(1.0, limit / (norm + 1e-12))
    return jax.tree.map(lambda g: g * factor, gradient)


def adam(parameters, gradient, moments, count, learning_rate):
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], gradient)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, moments[1], gradient)
    correction = jnp.sqrt(1 - 0.999**count)
    rate, epsilon = learning_rate * correction / (1 - 0.9**count), 1e-8 * correction
    parameters = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + epsilon), parameters, first, second)
    return parameters, (first, second)


def no_moments(parameters):
    return (jax.tree.map(jnp.zeros_like, parameters), jax.tree.map(jnp.zeros_like, parameters))


@partial(jax.jit, static_argnames=("settings",), donate_argnames=("state",))
def joint_iteration(state, u, start, target, settings):
    count, rate = state["count"] + 1, settings.learning_rate
    losses, mse_gradient, rqr_gradient, margin_gradient, _ = joint_gradients(
        settings.network, "abs", settings.coverage, settings.width_penalty,
        state["theta"], state["margins"], u, start, target,
    )  # fmt: skip
    initial = jnp.where(count == 1, losses, state["initial"])
    *_, by_s = gradnorm(state["s"], losses, initial, settings.beta, mse_gradient, rqr_gradient)
    gradient = jax.tree.map(lambda a, b: state["s"][0] * a + state["s"][1] * b, mse_gradient, rqr_gradient)
    gradient = clipped(gradient, settings.clip)
    margin_gradient = {side: clipped(margin_gradient[side], settings.clip) for side in ("lower", "upper")}
    theta, theta_moments = adam(state["theta"], gradient, state["theta_moments"], count, rate)
    margins, margin_moments = adam(state["margins"], margin_gradient, state["margin_moments"], count, rate)
    s, s_moments = adam(state["s"], by_s, state["s_moments"], count, rate)
    s = jnp.maximum(s, settings.least_scale)
    return {
        "theta": theta, "theta_moments": theta_moments, "margins": margins, "margin_moments": margin_moments,
        "s": s / jnp.sum(s), "s_moments": s_moments, "initial": initial, "count": count,
    }, losses  # fmt: skip


@partial(jax.jit, static_argnames=("settings",), donate_argnames=("state",))
def crisp_iteration(state, u, start, target, settings):
    def loss(theta):
        y, _ = NETWORKS[settings.network][0](theta, u, start)
        return jnp.mean((y - target) ** 2)

    count = state["count"] + 1
    mse, gradient = jax.value_and_grad(loss)(state["theta"])
    gradient = clipped(gradient, settings.clip)
    theta, moments = adam(state["theta"], gradient, state["theta_moments"], count, settings.learning_rate)
    return {"theta": theta, "theta_moments": moments, "count": count}, mse


def initial_state(problem):
    # Buffers are donated, so nothing is shared, not even by the two sides of the margins.
    to_device = lambda layers: jax.tree.map(lambda value: jnp.array(value, jnp.float32), layers)  # noqa: E731
    theta = to_device(problem.theta)
    state = {"theta": theta, "theta_moments": no_moments(theta), "count": jnp.zeros((), jnp.float32)}
    if problem.joint:
        margins, s = {side: to_device(problem.margins) for side in ("lower", "upper")}, jnp.full(2, 0.5, jnp.float32)
        state |= {"margins": margins, "margin_moments": no_moments(margins)}
        state |= {"s": s, "s_moments": no_moments(s), "initial": jnp.ones(2, jnp.float32)}
    return state


class Run:
    """Training from the start with a compiled iteration."""

    def __init__(self, problem, compiled, data):
        self.state, self.compiled, self.data = initial_state(problem), compiled, data

    def step(self):
        self.state, losses = self.compiled(self.state, *self.data)
        jax.block_until_ready((self.state, losses))
        return losses

    def straddling(self):
        theta, margins = jax.tree.map(np.asarray, (self.state["theta"], self.state["margins"]))
        return common.straddling(theta, margins["lower"], margins["upper"])


def time_case(problem, seconds, threads, plain):
    u = jnp.array(problem.inputs.swapaxes(0, 1))
    data = u, jnp.array(problem.outputs[:, :1]), jnp.array(problem.outputs[:, 1:].T)
    iteration = joint_iteration if problem.joint else crisp_iteration
    begin = time.perf_counter()
    compiled = iteration.lower(initial_state(problem), *data, problem.settings).compile()
    compile_s = time.perf_counter() - begin
    timing = common.measure(lambda: Run(problem, compiled, data), problem, seconds)
    common.report("jax-plain" if plain else "jax", problem, timing, compile_s, threads, {"jax": jax.__version__})


def check(precision) -> int:
    jax.config.update("jax_enable_x64", precision == "f64")
    dtype = jnp.float64 if precision == "f64" else jnp.float32
    check = common.Check(1e-9 if precision == "f64" else 1e-4)
    for golden in common.golden_cases():
        name = f"{golden['architecture']}-{golden['parameterisation']}"
        tree = lambda layers: jax.tree.map(lambda v: jnp.asarray(v, dtype), common.golden_layers(layers))  # noqa: E731
        u = jnp.asarray(golden["u"], dtype)[:, 1:].swapaxes(0, 1)
        y_target = jnp.asarray(golden["y_target"], dtype)
        start = jnp.pad(y_target[:, :1], ((0, 0), (0, golden["output_lags"] - 1)))
        margins = {side: tree(golden["delta_raw"][side]) for side in ("lower", "upper")}
        losses, mse, rqr, margin, (y, lo, hi) = jax.jit(joint_gradients, static_argnums=(0, 1, 2, 3))(
            golden["architecture"].removeprefix("i"), golden["parameterisation"],
            golden["coverage"], golden["width_penalty"], tree(golden["theta"]), margins, u, start, y_target[:, 1:].T,
        )  # fmt: skip
        by_window = lambda flat: np.asarray(flat).reshape(y.shape).T  # noqa: E731
        for key, found in (("y", y), ("lower", lo), ("upper", hi)):
            check.close(f"{name} {key}", golden[key], by_window(found))
        check.close(f"{name} losses", [golden["loss"]["mse"], golden["loss"]["rqr_w"]], losses)
        check.layers(f"{name} mse_theta", common.golden_layers(golden["grad"]["mse_theta"]), mse)
        check.layers(f"{name} rqr_w_theta", common.golden_layers(golden["grad"]["rqr_w_theta"]), rqr)
        for side in ("lower", "upper"):
            expected = common.golden_layers(golden["grad"]["rqr_w_delta_raw"][side])
            check.layers(f"{name} rqr_w_delta_raw {side}", expected, margin[side])
        expected = golden["gradnorm"]
        s, initial = jnp.asarray(expected["s"], dtype), jnp.asarray(expected["initial_losses"], dtype)
        found = gradnorm(s, losses, initial, expected["beta"], mse, rqr)
        keys = ("shared_gradient_norms", "relative_rates", "targets", "loss", "grad_s")
        for key, value in zip(keys, found, strict=True):
            check.close(f"{name} gradnorm {key}", expected[key], value)
    return check.finish(f"jax {precision}")


def main() -> int:
    if ARGUMENTS.check:
        return check(ARGUMENTS.precision)
    for problem in common.chosen_problems(ARGUMENTS):
        time_case(problem, ARGUMENTS.seconds, ARGUMENTS.threads, ARGUMENTS.plain)
    return 0


if __name__ == "__main__":
    sys.exit(main())
