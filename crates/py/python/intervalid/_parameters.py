"""Parameters of an estimator's constructor, and the settings of a model that they mean."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterable
from typing import Any, ClassVar, TypeVar

import numpy as np

from .errors import OptionError
from .record import Prepare, preparation

Self = TypeVar("Self", bound="Parameters")

#: Parameters that say what is done to data first; records take the same.
PREPARATION = ("fill_gaps", "clip_spikes", "decimate")
#: Parameters that are not settings of the model.
NOT_SETTINGS = ("split", "calibrate", "budget", "n_jobs", "verbose", "callbacks", "random_state", *PREPARATION)


class Parameters:
    """Whatever is made with parameters, in the manner of scikit-learn."""

    #: Names of the models on the command line that this class stands for, its own first.
    _kinds: ClassVar[tuple[str, ...]] = ()
    _is_search: ClassVar[bool] = False

    def __new__(cls: type[Self], *args: Any, **parameters: Any) -> Self:
        """Names the parameter that a misspelt one may mean."""
        known = cls._parameters()
        for name in parameters:
            if name not in known:
                raise TypeError(f"{cls.__name__}() got an unexpected keyword argument '{name}': {_hint(name, known)}")
        return super().__new__(cls)

    @classmethod
    def _parameters(cls) -> dict[str, Any]:
        """Names and defaults, in the order of the constructor."""
        parameters = inspect.signature(cls.__init__).parameters.values()
        return {parameter.name: parameter.default for parameter in parameters if parameter.name != "self"}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters of the constructor and their values, as scikit-learn wants them."""
        return {name: getattr(self, name) for name in self._parameters()}

    def set_params(self: Self, **params: Any) -> Self:
        """Changes parameters by name; an unknown name is an error."""
        known = self._parameters()
        for name in params:
            if name not in known:
                raise OptionError(f"Invalid parameter '{name}' for estimator {type(self).__name__}: {_hint(name, known)}")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def _settings(self) -> dict[str, Any]:
        """The parameters that are settings of the model, as the library takes them; None is left to the preset."""
        settings = {name: value for name, value in self.get_params().items() if name not in NOT_SETTINGS}
        random_state = getattr(self, "random_state", None)
        if random_state is not None:
            if isinstance(random_state, bool) or not isinstance(random_state, (int, np.integer)):
                raise OptionError(f"random_state = {random_state!r}: expected a whole number, or None for the seed")
            settings["seed"] = int(random_state)
        if not self._is_search:
            settings["model"] = self._kinds[0]
        lags = settings.get("lags")
        if lags is not None and not isinstance(lags, str):
            settings["lags"] = ",".join(str(lag) for lag in three(lags, "lags", "(n_x, n_d, n_y)"))
        window = settings.get("window")
        if window is not None and not isinstance(window, dict):
            length, step = _numbers(window, 2, "window", "(length, step)")
            settings["window"] = {"length": length, "step": step}
        ranges = settings.get("output_range")
        if ranges is not None:
            settings["output_range"] = {name: _range(value) for name, value in ranges.items()}
        detrend = settings.get("detrend")
        if detrend is not None:
            settings["detrend"] = [detrend] if isinstance(detrend, str) else list(detrend)
        hidden = settings.get("hidden")
        if isinstance(hidden, (int, np.integer)):
            settings["hidden"] = [hidden]
        return settings

    def _preparation(self) -> Prepare | None:
        """What is done to data first, as the library takes it; None where that is nothing."""
        asked = (getattr(self, name, None) for name in PREPARATION)
        wanted = preparation(*asked)
        return None if wanted == (None, None, None) else wanted

    def _code(self) -> str:
        """The expression that makes such an estimator."""
        defaults = self._parameters()
        changed = (
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if not _same(value, defaults[name])
        )
        return f"{type(self).__name__}({', '.join(changed)})"


def _hint(name: str, known: Iterable[str]) -> str:
    """What a name that is unknown may mean."""
    near = difflib.get_close_matches(name, known, n=1)
    return f"did you mean '{near[0]}'?" if near else f"there are {', '.join(known)}"


def _numbers(values: Iterable[Any], count: int, name: str, expected: str, kind: type = int) -> tuple[Any, ...]:
    try:
        numbers = tuple(kind(value) for value in values)
    except (TypeError, ValueError) as error:
        raise OptionError(f"{name} = {values!r}: expected {expected}") from error
    if len(numbers) != count or any(kind(number) != value for number, value in zip(numbers, values, strict=False)):
        raise OptionError(f"{name} = {values!r}: expected {expected}")
    return numbers


def _range(ends: Any) -> str:
    """Limits of an output as text: two numbers, of which one may be None, or such text itself."""
    if isinstance(ends, str):
        return ends
    try:
        least, most = ends
        return ":".join("" if end is None else repr(float(end)) for end in (least, most))
    except (TypeError, ValueError) as error:
        raise OptionError(f"output_range: expected (least, greatest), found {ends!r}") from error


def three(values: Iterable[Any], name: str, expected: str, kind: type = int) -> tuple[Any, Any, Any]:
    first, second, third = _numbers(values, 3, name, expected, kind)
    return first, second, third


def _same(value: Any, default: Any) -> bool:
    try:
        return bool(value is default or value == default)
    except (TypeError, ValueError):
        return False
