"""The training iteration in PyTorch, eager mode: the interval branch of all steps at once, fused Adam.

    python peer_torch.py --problems DIR [--threads N] [--seconds S] [--case NAME]
    python peer_torch.py --check [--precision f32|f64]

Arrays are [step, window, channel]; layers are dicts W [out, in], b [out], LSTM cells also U [4h, h] (gates i, f, q, o).
"""

from __future__ import annotations

import os
import sys
from functools import partial

import common
import torch
from torch.autograd.function import once_differentiable

Layers = list[dict[str, torch.Tensor]]

# --- crisp path -----------------------------------------------------------------------------------------------------


def first_layer(layer, u, output_lags):
    """Splits the first layer: the input part of all steps is one product outside the loop."""
    return layer["W"][:, :output_lags].T, u @ layer["W"][:, output_lags:].T + layer["b"]


def shift(lags, y):
    return y if lags.shape[1] == 1 else torch.cat([y, lags[:, :-1]], 1)


def crisp_node(theta: Layers, u, start):
    """Free run of y(k) = y(k-1) + MLP(x(k)); returns y [step, window] and no recurrent states."""
    feedback, driven = first_layer(theta[0], u, start.shape[1])
    hidden = [(layer["W"].T, layer["b"]) for layer in theta[1:]]
    lags, trajectory = start, []
    for offset in driven.unbind():
        z = torch.addmm(offset, lags, feedback).tanh()
        for weight, bias in hidden[:-1]:
            z = torch.addmm(bias, z, weight).tanh()
        y = lags[:, :1] + torch.addmm(hidden[-1][1], z, hidden[-1][0])
        lags = shift(lags, y)
        trajectory.append(y)
    return torch.cat(trajectory, 1).T, []


def gates(pre):
    i, f, q, o = pre.chunk(4, -1)
    return i.sigmoid(), f.sigmoid(), q.tanh(), o.sigmoid()


def crisp_lstm(theta: Layers, u, start):
    """Free run of stacked LSTM cells; returns y and per cell the states (h, c) after each step."""
    feedback, driven = first_layer(theta[0], u, start.shape[1])
    joined = [torch.cat([feedback, theta[0]["U"].T])] + [torch.cat([c["W"].T, c["U"].T]) for c in theta[1:-1]]
    zeros = [start.new_zeros(start.shape[0], cell["U"].shape[1]) for cell in theta[:-1]]
    states = [(zero, zero) for zero in zeros]
    history = [([], []) for _ in states]
    readout, lags, trajectory = theta[-1]["W"].T, start, []
    for offset in driven.unbind():
        below = lags
        for index, (h, c) in enumerate(states):
            bias = offset if index == 0 else theta[index]["b"]
            i, f, q, o = gates(torch.addmm(bias, torch.cat([below, h], 1), joined[index]))
            c = torch.addcmul(f * c, i, q)
            below = o * c.tanh()
            states[index] = (below, c)
            history[index][0].append(below)
            history[index][1].append(c)
        y = torch.addmm(theta[-1]["b"], below, readout)
        lags = shift(lags, y)
        trajectory.append(y)
    return torch.cat(trajectory, 1).T, [tuple(torch.stack(state) for state in cell) for cell in history]


# --- interval branch ------------------------------------------------------------------------------------------------


class MaxDot(torch.autograd.Function):
    """sum_j max(p[r,j] s[o,j], q[r,j] t[o,j]): the part of an interval product that is not a matrix product.

    Loops over the narrow axis keep each operation's arrays in cache; broadcasting to [r, j, o] takes several times as long.
    """

    @staticmethod
    def forward(context, p, s, q, t):
        context.save_for_backward(p, s, q, t)
        total = p.new_zeros(p.shape[0], s.shape[0])
        p, q, s, t = p.T.contiguous(), q.T.contiguous(), s.T.contiguous(), t.T.contiguous()
        for j in range(p.shape[0]):
            total += torch.maximum(torch.outer(p[j], s[j]), torch.outer(q[j], t[j]))
        return total

    @staticmethod
    @once_differentiable
    def backward(context, gradient):
        p, s, q, t = context.saved_tensors
        dp, dq, ds, dt = torch.zeros_like(p), torch.zeros_like(q), torch.empty_like(s), torch.empty_like(t)
        for o, column in enumerate(gradient.T.contiguous().unbind()):
            by_first = (p * s[o] >= q * t[o]).to(p.dtype) * column[:, None]
            by_second = column[:, None] - by_first
            dp.addcmul_(by_first, s[o])
            dq.addcmul_(by_second, t[o])
            torch.sum(by_first.mul_(p), 0, out=ds[o])
            torch.sum(by_second.mul_(q), 0, out=dt[o])
        return dp, ds, dq, dt


def positive(x):
    return x.clamp_min(0)


def negative(x):
    return x.neg().clamp_min(0)


def interval_product(a_lo, a_hi, w_lo, w_hi):
    """Exact bounds of a @ w.T, by the identity that leaves only max terms outside matrix products."""
    a_lo_n, a_hi_p = negative(a_lo), positive(a_hi)
    signed = torch.cat([positive(a_lo), negative(a_hi)], 1)
    w_lo_p, w_lo_n, w_hi_p, w_hi_n = positive(w_lo), negative(w_lo), positive(w_hi), negative(w_hi)
    lo = signed @ torch.cat([w_lo_p, w_hi_n], 1).T - MaxDot.apply(a_hi_p, w_lo_n, a_lo_n, w_hi_p)
    hi = MaxDot.apply(a_hi_p, w_hi_p, a_lo_n, w_lo_n) - signed @ torch.cat([w_hi_n, w_lo_p], 1).T
    return lo, hi


def crisp_product(x, w_lo, w_hi):
    """Exact bounds of x @ w.T for a crisp x."""
    signed = torch.cat([positive(x), -negative(x)], 1)
    return signed @ torch.cat([w_lo, w_hi], 1).T, signed @ torch.cat([w_hi, w_lo], 1).T


def scale_by_gate(g_lo, g_hi, x_lo, x_hi):
    """Product of a gate (>= 0) and an interval."""
    return torch.where(x_lo >= 0, g_lo, g_hi) * x_lo, torch.where(x_hi >= 0, g_hi, g_lo) * x_hi


def interval_node(lower: Layers, upper: Layers, x, _states):
    lo, hi = crisp_product(x, lower[0]["W"], upper[0]["W"])
    lo, hi = lo + lower[0]["b"], hi + upper[0]["b"]
    for below, above in zip(lower[1:], upper[1:]):
        lo, hi = interval_product(lo.tanh(), hi.tanh(), below["W"], above["W"])
        lo, hi = lo + below["b"], hi + above["b"]
    return x[:, 0] + lo[:, 0], x[:, 0] + hi[:, 0]


def interval_lstm(lower: Layers, upper: Layers, x, states):
    in_lo = in_hi = x
    for index, (h, c) in enumerate(states):
        below, above = lower[index], upper[index]
        if index == 0:
            # Regressor and state are both crisp: one product.
            w_lo, w_hi = (torch.cat([side["W"], side["U"]], 1) for side in (below, above))
            lo, hi = crisp_product(torch.cat([x, h], 1), w_lo, w_hi)
        else:
            lo, hi = interval_product(in_lo, in_hi, below["W"], above["W"])
            recurrent = crisp_product(h, below["U"], above["U"])
            lo, hi = lo + recurrent[0], hi + recurrent[1]
        i_lo, f_lo, q_lo, o_lo = gates(lo + below["b"])
        i_hi, f_hi, q_hi, o_hi = gates(hi + above["b"])
        kept, added = scale_by_gate(f_lo, f_hi, c, c), scale_by_gate(i_lo, i_hi, q_lo, q_hi)
        in_lo, in_hi = scale_by_gate(o_lo, o_hi, (kept[0] + added[0]).tanh(), (kept[1] + added[1]).tanh())
    lo, hi = interval_product(in_lo, in_hi, lower[-1]["W"], upper[-1]["W"])
    return lo[:, 0] + lower[-1]["b"], hi[:, 0] + upper[-1]["b"]


NETWORKS = {"node": (crisp_node, interval_node), "lstm": (crisp_lstm, interval_lstm)}
MARGINS = {"abs": torch.abs, "relu": torch.relu}


def regressors(start, y, u):
    """x(k) of all steps from the crisp trajectory, [step * window, channel], output lags newest first."""
    # Column `lag` begins with what was known before the first prediction, oldest first.
    known = start.T.flip(0)
    columns = [torch.cat([known[len(known) - 1 - lag :], y[: len(y) - lag - 1]]) for lag in range(len(known))]
    x = torch.cat([torch.stack(columns, -1), u], -1)
    return x.reshape(-1, x.shape[-1])


def previous(state):
    return torch.cat([torch.zeros_like(state[:1]), state[:-1]]).reshape(-1, state.shape[-1])


# --- losses and gradients -------------------------------------------------------------------------------------------


def flat(layers: Layers) -> list[torch.Tensor]:
    return [value for layer in layers for value in layer.values()]


def like(layers: Layers, values) -> Layers:
    values = iter(values)
    return [{key: next(values) for key in layer} for layer in layers]


def rqr_w(target, lo, hi, coverage, width_penalty):
    level = coverage + 2 * width_penalty
    kappa = (target - lo) * (target - hi)
    return (torch.maximum(level * kappa, (level - 1) * kappa) + width_penalty / 2 * (hi - lo) ** 2).mean()


def joint_gradients(architecture, margin, coverage, width_penalty, theta, margins, u, start, target):
    """Both losses, both gradients with respect to theta, and the gradient with respect to the raw margins."""
    crisp, interval = NETWORKS[architecture]
    y, states = crisp(theta, u, start)
    mse = ((y - target) ** 2).mean()
    # The interval branch hangs on cut copies of the trajectory, so it is differentiated once and meets BPTT as an adjoint.
    trajectory = [y, *(state for cell in states for state in cell)]
    cut = [value.detach().requires_grad_() for value in trajectory]
    cut_states = [tuple(previous(state) for state in cut[1 + 2 * i : 3 + 2 * i]) for i in range(len(states))]
    sigma = MARGINS[margin]
    lower, upper = (
        like(theta, [centre + sign * sigma(raw) for centre, raw in zip(flat(theta), flat(side))])
        for sign, side in zip((-1, 1), margins)
    )
    lo, hi = interval(lower, upper, regressors(start, cut[0], u), cut_states)
    rqr = rqr_w(target.reshape(-1), lo, hi, coverage, width_penalty)
    parameters = flat(theta)
    raw = flat(margins[0]) + flat(margins[1])
    found = torch.autograd.grad(rqr, parameters + raw + cut)
    direct, by_raw, adjoint = found[: len(parameters)], found[len(parameters) : -len(cut)], found[-len(cut) :]
    mse_gradient = torch.autograd.grad(mse, parameters, retain_graph=True)
    through_time = torch.autograd.grad(trajectory, parameters, adjoint)
    rqr_gradient = list(torch._foreach_add(list(through_time), list(direct)))
    return torch.stack([mse, rqr]).detach(), mse_gradient, rqr_gradient, by_raw, (y, lo, hi)


def gradnorm(s, losses, initial, beta, mse_shared, rqr_shared):
    """GradNorm on the penultimate layer's weights: norms, rates, targets, loss and its gradient by s."""
    norms = torch.stack([torch.cat([g.reshape(-1) for g in group]).norm() for group in (mse_shared, rqr_shared)])
    scaled = s * norms
    rates = losses / initial
    rates = rates / rates.mean()
    targets = scaled.mean() * rates**beta
    return norms, rates, targets, (scaled - targets).abs().sum(), (scaled - targets).sign() * norms


def shared(theta: Layers, gradient) -> list[torch.Tensor]:
    layer = like(theta, gradient)[-2]
    return [layer[key] for key in ("W", "U") if key in layer]


# --- the timed iterations -------------------------------------------------------------------------------------------


def parameters_from(layers, dtype) -> Layers:
    return [{k: torch.tensor(v, dtype=dtype, requires_grad=True) for k, v in layer.items()} for layer in layers]


class Run:
    """Training from the start."""

    def __init__(self, problem, dtype=torch.float32):
        self.settings = problem.settings
        tensor = lambda value: torch.tensor(value, dtype=dtype).contiguous()  # noqa: E731
        self.u = tensor(problem.inputs.swapaxes(0, 1))
        self.start, self.target = tensor(problem.outputs[:, :1]), tensor(problem.outputs[:, 1:].T)
        self.theta = parameters_from(problem.theta, dtype)
        self.parameters = flat(self.theta)
        self.adam = self.new_adam(self.parameters)
        self.step = self.joint if problem.joint else self.crisp
        if not problem.joint:
            return
        self.margins = [parameters_from(problem.margins, dtype) for _ in range(2)]
        self.raw = [flat(side) for side in self.margins]
        self.s, self.initial = torch.full((2,), 0.5, dtype=dtype), None
        self.margin_adam, self.s_adam = self.new_adam(self.raw[0] + self.raw[1]), self.new_adam([self.s])

    def new_adam(self, parameters):
        return torch.optim.Adam(parameters, lr=self.settings.learning_rate, fused=True)

    def clip(self, parameters):
        torch.nn.utils.clip_grad_norm_(parameters, self.settings.clip)

    def crisp(self):
        y, _ = NETWORKS[self.settings.network][0](self.theta, self.u, self.start)
        self.adam.zero_grad(set_to_none=True)
        loss = ((y - self.target) ** 2).mean()
        loss.backward()
        self.clip(self.parameters)
        self.adam.step()
        return loss.detach()

    def joint(self):
        settings, s = self.settings, self.s
        losses, mse, rqr, by_raw, _ = joint_gradients(
            settings.network, "abs", settings.coverage, settings.width_penalty,
            self.theta, self.margins, self.u, self.start, self.target,
        )  # fmt: skip
        if self.initial is None:
            self.initial = losses
        mse_shared, rqr_shared = shared(self.theta, mse), shared(self.theta, rqr)
        *_, by_s = gradnorm(s, losses, self.initial, settings.beta, mse_shared, rqr_shared)
        weighted = torch._foreach_mul(list(mse), s[0])
        torch._foreach_add_(weighted, torch._foreach_mul(rqr, s[1]))
        # Gradients of products come transposed; fused Adam goes through memory as it lies.
        weighted = [gradient.contiguous() for gradient in weighted]
        raw = self.raw[0] + self.raw[1]
        for parameter, gradient in zip([*self.parameters, *raw, s], [*weighted, *by_raw, by_s], strict=True):
            parameter.grad = gradient
        for group in (self.parameters, *self.raw):
            self.clip(group)
        for adam in (self.adam, self.margin_adam, self.s_adam):
            adam.step()
        with torch.no_grad():
            s.clamp_min_(settings.least_scale)
            s /= s.sum()
        return losses

    def straddling(self):
        sides = [self.theta, *self.margins]
        arrays = [[{k: v.detach().numpy() for k, v in layer.items()} for layer in side] for side in sides]
        return common.straddling(*arrays)


def check(precision) -> int:
    dtype = torch.float64 if precision == "f64" else torch.float32
    check = common.Check(1e-9 if precision == "f64" else 1e-4)
    for golden in common.golden_cases():
        name = f"{golden['architecture']}-{golden['parameterisation']}"
        theta = parameters_from(golden["theta"], dtype)
        margins = [parameters_from(golden["delta_raw"][side], dtype) for side in ("lower", "upper")]
        u = torch.tensor(golden["u"], dtype=dtype)[:, 1:].transpose(0, 1)
        y_target = torch.tensor(golden["y_target"], dtype=dtype)
        start = torch.nn.functional.pad(y_target[:, :1], (0, golden["output_lags"] - 1))
        losses, mse, rqr, by_raw, (y, lo, hi) = joint_gradients(
            golden["architecture"].removeprefix("i"), golden["parameterisation"],
            golden["coverage"], golden["width_penalty"], theta, margins, u, start, y_target[:, 1:].T,
        )  # fmt: skip
        for key, found in (("y", y), ("lower", lo), ("upper", hi)):
            check.close(f"{name} {key}", golden[key], found.detach().reshape(y.shape).T)
        check.close(f"{name} losses", [golden["loss"]["mse"], golden["loss"]["rqr_w"]], losses)
        grad, half = golden["grad"], len(by_raw) // 2
        for key, expected, found in (
            ("mse_theta", grad["mse_theta"], mse),
            ("rqr_w_theta", grad["rqr_w_theta"], rqr),
            ("rqr_w_delta_raw lower", grad["rqr_w_delta_raw"]["lower"], by_raw[:half]),
            ("rqr_w_delta_raw upper", grad["rqr_w_delta_raw"]["upper"], by_raw[half:]),
        ):
            check.layers(f"{name} {key}", common.golden_layers(expected), like(theta, found))
        expected = golden["gradnorm"]
        s, initial = (torch.tensor(expected[key], dtype=dtype) for key in ("s", "initial_losses"))
        found = gradnorm(s, losses, initial, expected["beta"], shared(theta, mse), shared(theta, rqr))
        keys = ("shared_gradient_norms", "relative_rates", "targets", "loss", "grad_s")
        for key, value in zip(keys, found, strict=True):
            check.close(f"{name} gradnorm {key}", expected[key], value)
    return check.finish(f"torch {precision}")


def main() -> int:
    arguments = common.arguments("PyTorch peer of the intervalid benchmark")
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: arguments.threads])
    torch.set_num_threads(arguments.threads)
    if arguments.check:
        return check(arguments.precision)
    for problem in common.chosen_problems(arguments):
        timing = common.measure(partial(Run, problem), problem, arguments.seconds)
        common.report("torch", problem, timing, 0.0, arguments.threads, {"torch": torch.__version__})
    return 0


if __name__ == "__main__":
    sys.exit(main())
