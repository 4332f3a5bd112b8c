"""Error feedback for arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hostnet import _core
from hostnet.codec.arrays import as_array, checked, flat, named

if TYPE_CHECKING:
    from hostnet.codec.arrays import Floats


class ErrorFeedback:
    """Adds to each gradient what rounding took from those before it, so that small ones are late instead of lost.

    One for each tensor, and one thread at a time. The first gradient says how many floats there are.
    """

    def __init__(self, bound: int = 10, mode: str = "thesis") -> None:
        """With nothing taken yet; arguments and errors are those of `compress`."""
        self._settings = (checked(bound), named(mode))
        self._shape: tuple[int, ...] = (0,)
        self._kept: _core.CodecFeedback | None = None
        _core.CodecFeedback(0, *self._settings)  # raises what is wrong with them

    def compress(self, gradient: Any) -> bytes:
        """The stream of a gradient and what was left of those before it.

        Raises:
            ConfigError: It is no array of float32, or has another number of floats than the one before.
        """
        array = as_array(gradient)
        if self._kept is None:
            self._kept = _core.CodecFeedback(array.size, *self._settings)
            self._shape = array.shape
        return self._kept.compress(flat(array))

    @property
    def residual(self) -> Floats:
        """What rounding has taken and not yet given back, in the shape of the first gradient."""
        kept = bytearray() if self._kept is None else self._kept.residual()
        return np.frombuffer(kept, np.float32).reshape(self._shape)
