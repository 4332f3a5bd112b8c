"""Input and output of the readers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hostnet.calibration.measurement import Conditions, DataError, Measurement, set_condition

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from hostnet.calibration.curves import MeasuredCurve
    from hostnet.presets import ServerFile


@dataclass(frozen=True)
class DataFile:
    """A measurement file."""

    file: str
    """File name, for messages."""
    text: str
    given: Mapping[str, str]
    """Conditions that hold for the whole file, in the user's notation."""
    server: ServerFile
    """The server that was measured."""

    def conditions(self, start: Conditions, but: Collection[str] = ()) -> Conditions:
        """Returns `start` with the conditions of the whole file applied, except for those in `but`.

        Raises:
            DataError: A condition is invalid.
        """
        for name, value in self.given.items():
            if name in but:
                continue
            try:
                start = set_condition(start, name, value)
            except ValueError as error:
                raise DataError("malformed-value", f"--data {self.file}@{name}={value}: {error}") from None
        return start


@dataclass
class ParsedData:
    """The contents of a file."""

    measurements: list[Measurement] = field(default_factory=list)
    curves: list[MeasuredCurve] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Assumptions made when reading the file."""
