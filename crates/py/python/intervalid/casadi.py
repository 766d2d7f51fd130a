"""A fitted model as a CasADi function, for model predictive control: ``model.to_casadi()``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _intervalid
from ._arrays import ArrayLike, in_order, table
from .errors import InitialOutputsError, MissingDependencyError, ShapeError

if TYPE_CHECKING:
    from ._intervalid import Model

__all__ = ["CasadiModel"]

Array = npt.NDArray[np.float64]
#: An expression of CasADi, or numbers.
Expression = Any
#: Lower and upper bounds.
Pair = tuple[Expression, Expression]


class CasadiModel:
    """One step of a model as a ``casadi.Function``, and the state that a run starts from.

    ``step(x, u)`` gives ``x_next, y, y_lower, y_upper``: ŷ of the sample with inputs u and its band, as ``predict`` gives them, and the state
    for the next sample. x holds, in the units of the record, past inputs and the past outputs of every member; hidden states have no
    unit. ``states`` names them. Everything is differentiable, so that CasADi's solvers can plan inputs with the band as a constraint.
    """

    def __init__(self, model: Model, name: str = "step") -> None:
        try:
            import casadi
        except ImportError as error:
            raise MissingDependencyError("to_casadi needs CasADi: pip install casadi") from error
        self._ca = casadi
        self._program: dict[str, Any] = _intervalid.step_program(model)
        self._body: dict[str, Any] = self._program["body"]
        inputs, outputs = self._program["inputs"], self._program["outputs"]
        self._nu, self._ny = len(inputs), len(outputs)
        self._input = _scale(inputs)
        self._output = _scale(outputs)
        self._remembered: int = self._program["nd"] + self._program["nx"]
        self._members: list[Any] = self._body.get("members", [None])
        #: What the entries of x are.
        self.states: list[str] = self._names()
        x, u = casadi.MX.sym("x", len(self.states)), casadi.MX.sym("u", self._nu)
        #: (x, u) to (x_next, y, y_lower, y_upper).
        self.step: Any = casadi.Function(
            name, [x, u], list(self._step(x, u)), ["x", "u"], ["x_next", "y", "y_lower", "y_upper"]
        )

    def start(self, y: ArrayLike, u: ArrayLike | None = None) -> Array:
        """x after the measured outputs y and the inputs u of the same samples, oldest first: where ``simulator(y0, u0)`` starts.

        Columns of tables go by name, as in ``predict``. Inputs that are missing are taken at the training mean.
        """
        outputs = self._rows(y, "y")
        inputs = np.empty((0, self._nu)) if u is None else self._rows(u, "u")
        need, warmup = self._program["past_outputs"], self._program["warmup"]
        if outputs.shape[1] != self._ny:
            raise ShapeError(f"y has {outputs.shape[1]} columns, the model {self._ny} outputs")
        if u is not None and inputs.shape[1] != self._nu:
            raise ShapeError(f"u has {inputs.shape[1]} columns, the model {self._nu} inputs")
        if len(outputs) < need:
            raise InitialOutputsError(f"y has {len(outputs)} samples, expected at least {need}: the last before the first step")
        if self._nu and len(inputs) < warmup:
            raise InitialOutputsError(f"this model is led by a warm-up: give u, the last {warmup} inputs or more")
        return self._started(outputs[len(outputs) - need :], inputs, warmup)

    def __repr__(self) -> str:
        return f"CasadiModel({self.step!r})"

    def _rows(self, values: ArrayLike, letter: str) -> Array:
        channels = self._program["inputs" if letter == "u" else "outputs"]
        wanted = [(channel["name"], channel["unit"]) for channel in channels]
        return np.column_stack(in_order(table(values, letter), wanted, letter).columns).astype(np.float64)

    # The start ----------------------------------------------------------------------------------------------------------

    def _started(self, outputs: Array, inputs: Array, warmup: int) -> Array:
        before = len(inputs) - warmup
        past = inputs[max(0, before - self._remembered) : before][::-1] if self._nu else inputs
        shared = np.vstack([past, np.tile(self._input[0], (self._remembered - len(past), 1))]) if self._nu else inputs
        known = outputs[: len(outputs) - warmup]
        own = np.zeros((len(self._members), self._own()))
        self._take(own, known[-1], np.zeros((len(self._members), self._ny)))
        if self._body["kind"] != "state_space":
            lags = np.vstack([known[::-1], np.tile(self._output[0], (self._program["ny"] - len(known), 1))])
            own[:, : lags.size] = lags[: self._program["ny"]].ravel()
        x = np.concatenate([shared.ravel(), own.ravel()])
        for row in range(warmup):
            now = inputs[before + row] if self._nu else np.empty(0)
            x = np.array(self.step(x, now)[0]).ravel()
            own = x[self._shared() :].reshape(len(self._members), -1)
            predicted = np.array(self._predicted(x, now)).reshape(len(self._members), self._ny)
            self._take(own, outputs[len(known) + row], predicted)
        return x

    def _take(self, own: Array, measured: Array, predicted: Array) -> None:
        """Puts measured outputs in place of predicted ones; a state-space model remembers how far the prediction was off."""
        if self._body["kind"] == "state_space":
            own[:, self._body["states"] :] = (measured - self._output[0]) / self._output[1] - predicted
        else:
            own[:, : self._ny] = measured

    def _predicted(self, x: Array, now: Array) -> Any:
        """What each state-space model predicts in states that it has reached, normalised."""
        if self._body["kind"] != "state_space":
            return np.zeros((len(self._members), self._ny))
        states, z = self._body["states"], (now - self._input[0]) / self._input[1]
        own = x[self._shared() :].reshape(len(self._members), -1)
        delayed = self._program["nd"]
        if delayed and self._nu:
            # x has moved on: u(k - n_d) now stands one place further back.
            z = (x[delayed * self._nu : (delayed + 1) * self._nu] - self._input[0]) / self._input[1]
        rows = [
            self._map(member["output"], self._ca.vertcat(row[:states], z)) for member, row in zip(self._members, own, strict=True)
        ]
        return np.array([np.array(self._ca.DM(row)).ravel() for row in rows])

    # The step -----------------------------------------------------------------------------------------------------------

    def _own(self) -> int:
        """States of one member. Those of a state-space model end with the error of its last prediction, which it corrects once."""
        if self._body["kind"] == "state_space":
            return int(self._body["states"]) + self._ny
        return int(self._program["ny"]) * self._ny + (2 * sum(self._body["hidden"]) if self._body.get("lstm") else 0)

    def _shared(self) -> int:
        return self._remembered * self._nu

    def _names(self) -> list[str]:
        inputs, outputs = ([channel["name"] for channel in self._program[side]] for side in ("inputs", "outputs"))
        names = [f"{name}(k-{age})" for age in range(1, self._remembered + 1) for name in inputs]
        for number in range(len(self._members)):
            prefix = "" if len(self._members) == 1 else f"member {number + 1}: "
            if self._body["kind"] == "state_space":
                own = [f"x{index + 1}" for index in range(self._body["states"])] + [f"error of {name}" for name in outputs]
            else:
                own = [f"{name}(k-{age})" for age in range(1, self._program["ny"] + 1) for name in outputs]
                own += [f"x{index + 1}" for index in range(self._own() - len(own))]
            names += [prefix + name for name in own]
        return names

    def _stack(self, *parts: Expression) -> Expression:
        """One below the other. Empty parts are left out: CasADi minds that a slice without entries is a row."""
        return self._ca.vertcat(*(part for part in parts if part.shape[0] * (part.shape[1] if len(part.shape) > 1 else 1)))

    def _step(self, x: Expression, u: Expression) -> tuple[Expression, Expression, Expression, Expression]:
        shared = self._shared()
        ages = self._remembered + 1
        inputs = self._stack(u, x[:shared])
        after = inputs[:shared]
        taps = inputs
        if self._nu:
            scaled = (inputs - np.tile(self._input[0], ages)) / np.tile(self._input[1], ages)
            taps = scaled[self._program["nd"] * self._nu :]
        run = {"linear": self._arx, "networks": self._network, "state_space": self._state_space}[self._body["kind"]]
        following, centres, sides = [after], [], []
        for number, member in enumerate(self._members):
            own = x[shared + number * self._own() : shared + (number + 1) * self._own()]
            moved, y, bounds = run(member, own, taps)
            following.append(moved)
            centres.append(y)
            sides.append(bounds)
        return (self._stack(*following), *self._band(centres, sides))

    def _band(self, centres: list[Expression], sides: list[Pair]) -> tuple[Expression, Expression, Expression]:
        """The mean of the members and its band, as the calibration scales it, inside physical limits."""
        ca = self._ca
        count, outputs = len(centres), self._program["outputs"]
        mean = sum(centres) / count
        below, above = (sum(pair[side] for pair in sides) / count for side in (0, 1))
        if count > 1:
            floor = np.array([output["spread_floor"] for output in outputs]) / self._output[1]
            factor = np.array([output["spread_factor"] ** 2 for output in outputs])
            variance = factor * sum((centre - mean) ** 2 for centre in centres) / count
            below, above = (ca.sqrt(ca.fmax(side, floor) ** 2 + variance) for side in (below, above))
        y = mean * self._output[1] + self._output[0]
        # The band of a single linear model has the unit of the output already.
        unit = np.ones(self._ny) if self._body["kind"] == "linear" else self._output[1]
        below, above = below * unit, above * unit
        if all(output["calibration"] is not None for output in outputs):
            lower, upper, floor = np.array([output["calibration"] for output in outputs]).T
            below, above = lower * ca.fmax(below, floor), upper * ca.fmax(above, floor)
        least = np.array([-np.inf if output["least"] is None else output["least"] for output in outputs])
        most = np.array([np.inf if output["most"] is None else output["most"] for output in outputs])
        results = (y, y - below, y + above)
        if np.isfinite(least).any() or np.isfinite(most).any():
            results = tuple(ca.fmin(ca.fmax(value, least), most) for value in results)
        return results

    def _lags(self, own: Expression) -> Expression:
        count = self._program["ny"]
        return (own[: count * self._ny] - np.tile(self._output[0], count)) / np.tile(self._output[1], count)

    def _pushed(self, y: Expression, own: Expression) -> Expression:
        """Past outputs after ŷ, in physical units."""
        kept = own[: (self._program["ny"] - 1) * self._ny]
        return self._stack(y * self._output[1] + self._output[0], kept)

    def _arx(self, _member: Any, own: Expression, taps: Expression) -> tuple[Expression, Expression, Pair]:
        regressor = self._stack(self._lags(own), taps)
        weight = np.array(self._body["weight"]).reshape(self._ny, -1)
        y = self._ca.mtimes(weight, regressor) + np.array(self._body["bias"])
        side = np.array(self._body["half_width"])
        return self._pushed(y, own), y, (side, side)

    def _network(self, member: Any, own: Expression, taps: Expression) -> tuple[Expression, Expression, Pair]:
        ca = self._ca
        lags = self._lags(own)
        regressor = self._stack(lags, taps)
        value, bounds = regressor, (regressor, regressor)
        at, cells = self._program["ny"] * self._ny, []
        last = len(member["layers"]) - 1
        for index, layer in enumerate(member["layers"]):
            weight, bias = layer["weight"], layer["bias"]
            total = self._product(weight, value) + _part(bias, "centre")
            low, high = self._image(weight, bounds, is_crisp=index == 0)
            low, high = low + _part(bias, "lower"), high + _part(bias, "upper")
            if layer["recurrent"] is not None:
                size = layer["recurrent"]["shape"][1]
                h, c = own[at : at + size], own[at + size : at + 2 * size]
                at += 2 * size
                total = total + self._product(layer["recurrent"], h)
                more = self._image(layer["recurrent"], (h, h), is_crisp=True)
                bounds = self._cell_bounds((low + more[0], high + more[1]), c, size)
                value, c = self._cell(total, c, size)
                cells += [value, c]
            elif index < last:
                value, bounds = ca.tanh(total), (ca.tanh(low), ca.tanh(high))
            else:
                value, bounds = total, (low, high)
        if self._body["base"] == "last":
            value, bounds = value + lags[: self._ny], (bounds[0] + lags[: self._ny], bounds[1] + lags[: self._ny])
        elif self._body["base"] == "linear":
            path = self._image(member["linear"], (regressor, regressor), is_crisp=True)
            value, bounds = value + self._product(member["linear"], regressor), (bounds[0] + path[0], bounds[1] + path[1])
        return self._stack(self._pushed(value, own), *cells), value, self._sides(value, bounds)

    def _state_space(self, member: Any, own: Expression, taps: Expression) -> tuple[Expression, Expression, Pair]:
        ca = self._ca
        states = self._body["states"]
        x, error = own[:states], own[states:]
        now, before = taps[: self._nu], taps[self._nu : 2 * self._nu]
        z = self._stack(x, before)
        moved = self._map(member["state"], z) + self._product(member["observer"], error)
        low, high = self._map_bounds(member["state"], (z, z), is_crisp=True)
        more = self._image(member["observer"], (error, error), is_crisp=True)
        y = self._map(member["output"], self._stack(moved, now))
        ends = (self._stack(low + more[0], now), self._stack(high + more[1], now))
        bounds = self._map_bounds(member["output"], ends, is_crisp=False)
        # From here on the model runs freely: there is no error to correct.
        return self._stack(moved, np.zeros(self._ny)), y, self._sides(y, bounds)

    def _map(self, plan: Any, z: Expression) -> Expression:
        total = self._product(plan["linear"], z) + _part(plan["bias"], "centre")
        if plan["units"] is None:
            return total
        weight, bias, read_out = plan["units"]
        return total + self._product(read_out, self._ca.tanh(self._product(weight, z) + _part(bias, "centre")))

    def _map_bounds(self, plan: Any, z: Pair, *, is_crisp: bool) -> Pair:
        low, high = self._image(plan["linear"], z, is_crisp=is_crisp)
        low, high = low + _part(plan["bias"], "lower"), high + _part(plan["bias"], "upper")
        if plan["units"] is None:
            return low, high
        weight, bias, read_out = plan["units"]
        inner = self._image(weight, z, is_crisp=is_crisp)
        units = (self._ca.tanh(inner[0] + _part(bias, "lower")), self._ca.tanh(inner[1] + _part(bias, "upper")))
        added = self._image(read_out, units, is_crisp=False)
        return low + added[0], high + added[1]

    def _product(self, matrix: Any, value: Expression) -> Expression:
        return self._ca.mtimes(_part(matrix, "centre"), value)

    def _image(self, matrix: Any, value: Pair, *, is_crisp: bool) -> Pair:
        """Bounds of a product: of a crisp value c·v ∓ r·|v|, of bounds the least and greatest of the four products of ends."""
        ca = self._ca
        lower, upper = _part(matrix, "lower"), _part(matrix, "upper")
        if is_crisp:
            centre, reach = ca.mtimes((lower + upper) / 2, value[0]), ca.mtimes((upper - lower) / 2, ca.fabs(value[0]))
            return centre - reach, centre + reach
        rows = matrix["shape"][0]
        ends = [weight * ca.repmat(end.T, rows, 1) for weight in (lower, upper) for end in value]
        least, greatest = ends[0], ends[0]
        for end in ends[1:]:
            least, greatest = ca.fmin(least, end), ca.fmax(greatest, end)
        return ca.sum2(least), ca.sum2(greatest)

    def _gates(self, total: Expression, size: int) -> list[Expression]:
        parts = [total[gate * size : (gate + 1) * size] for gate in range(4)]
        sigmoid = [1 / (1 + self._ca.exp(-part)) for part in parts]
        return [sigmoid[0], sigmoid[1], self._ca.tanh(parts[2]), sigmoid[3]]

    def _cell(self, total: Expression, c: Expression, size: int) -> Pair:
        i, f, q, o = self._gates(total, size)
        c = f * c + i * q
        return o * self._ca.tanh(c), c

    def _cell_bounds(self, total: Pair, c: Expression, size: int) -> Pair:
        """Gates are positive, so a bound of a product with one is the lesser or the greater with either end of the gate."""
        ca = self._ca
        lower, upper = (self._gates(end, size) for end in total)
        ends = []
        for pick, q in ((ca.fmin, lower[2]), (ca.fmax, upper[2])):
            memory = pick(lower[1] * c, upper[1] * c) + pick(lower[0] * q, upper[0] * q)
            squashed = ca.tanh(memory)
            ends.append(pick(lower[3] * squashed, upper[3] * squashed))
        return ends[0], ends[1]

    def _sides(self, y: Expression, bounds: Pair) -> Pair:
        """Rounding may push a bound past ŷ where margins are zero."""
        return self._ca.fmax(y - bounds[0], 0), self._ca.fmax(bounds[1] - y, 0)


def _scale(channels: list[dict[str, Any]]) -> tuple[Array, Array]:
    return np.array([channel["mean"] for channel in channels]), np.array([channel["std"] for channel in channels])


def _part(matrix: Any, part: str) -> Any:
    return np.array(matrix[part]).reshape(matrix["shape"])
