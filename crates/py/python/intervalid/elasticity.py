"""How far the parameters of an interval network may move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from .errors import MissingDependencyError

if TYPE_CHECKING:
    import pandas


class ParameterElasticity(NamedTuple):
    """Width of a parameter's interval over its size."""

    #: ``0``, ``1`` … or ``linear``.
    layer: str
    #: ``weight``, ``recurrent`` or ``bias``.
    role: str
    #: Where it reads from, such as ``y(k-1)``; ``1`` for a bias.
    input: str
    #: Where it goes to.
    output: str
    #: None where the parameter is (as good as) zero, so that the ratio says nothing.
    value: float | None


class ChannelElasticity(NamedTuple):
    """The sum over a channel's outputs of a layer."""

    layer: str
    role: str
    input: str
    #: Sum of the bounded values.
    value: float
    #: How many are unbounded and not in the sum.
    unbounded: int


class Elasticity:
    """Elasticity of every parameter and of every input channel of a layer.

    ``parameters`` has one row per parameter, ``channels`` the sums over outputs; :meth:`to_pandas` gives the latter as a table.
    """

    def __init__(self, rows: Sequence[tuple[str, str, str, str, float | None]]) -> None:
        self.parameters = [ParameterElasticity(*row) for row in rows]

    @property
    def channels(self) -> list[ChannelElasticity]:
        """One row per layer and input channel."""
        sums: dict[tuple[str, str, str], tuple[float, int]] = {}
        for row in self.parameters:
            key = (row.layer, row.role, row.input)
            total, unbounded = sums.get(key, (0.0, 0))
            sums[key] = (total, unbounded + 1) if row.value is None else (total + row.value, unbounded)
        return [ChannelElasticity(*key, *values) for key, values in sums.items()]

    def to_pandas(self, *, parameters: bool = False) -> pandas.DataFrame:
        """The channels as a table, or every parameter."""
        try:
            import pandas
        except ImportError as error:
            raise MissingDependencyError("to_pandas needs pandas: pip install pandas") from error
        rows: list[ParameterElasticity] | list[ChannelElasticity] = self.parameters if parameters else self.channels
        return pandas.DataFrame(rows)

    def __len__(self) -> int:
        return len(self.parameters)

    def __repr__(self) -> str:
        layers = len({row.layer for row in self.parameters})
        return f"Elasticity({len(self)} parameters in {layers} layers)"
