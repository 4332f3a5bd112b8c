"""What readers are given and what they find."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hostnet.calibrate.measurement import Conditions, DataError, Measurement, set_condition

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from hostnet.presets import ServerFile


@dataclass(frozen=True)
class Content:
    """A file of measurements."""

    file: str
    """Its name, for messages."""
    text: str
    given: Mapping[str, str]
    """Conditions that hold for the whole file, as the user wrote them."""
    server: ServerFile
    """The server that was measured."""

    def conditions(self, start: Conditions, but: Collection[str] = ()) -> Conditions:
        """`start` with the conditions that hold for the whole file, except some that the reader handles itself.

        Raises:
            DataError: One of them is wrong.
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
class Found:
    """What a file says."""

    measurements: list[Measurement] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What the user should know of how the file was understood."""
