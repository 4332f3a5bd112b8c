"""Error feedback for arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hostnet import _core
from hostnet.codec.arrays import as_array, check_bound, check_mode, flat_floats

if TYPE_CHECKING:
    from hostnet.codec.arrays import Floats


class ErrorFeedback:
    """Adds the accumulated rounding error to each gradient, so that small values are delayed instead of lost.

    Use one instance per tensor, from one thread at a time. The first gradient sets the number of floats.
    """

    def __init__(self, bound: int = 10, mode: str = "thesis") -> None:
        """Starts without error; arguments and errors are those of `compress`."""
        self._settings = (check_bound(bound), check_mode(mode))
        self._shape: tuple[int, ...] = (0,)
        self._kept: _core.CodecFeedback | None = None
        _core.CodecFeedback(0, *self._settings)  # raises if bound or mode is invalid

    def compress(self, gradient: Any) -> bytes:
        """Compresses the sum of a gradient and the accumulated error.

        Raises:
            ConfigError: The gradient is not an array of float32, or has another number of floats than the first one.
        """
        array = as_array(gradient)
        if self._kept is None:
            self._kept = _core.CodecFeedback(array.size, *self._settings)
            self._shape = array.shape
        return self._kept.compress(flat_floats(array))

    @property
    def residual(self) -> Floats:
        """Accumulated rounding error, in the shape of the first gradient."""
        kept = bytearray() if self._kept is None else self._kept.residual()
        return np.frombuffer(kept, np.float32).reshape(self._shape)
