"""The codec for arrays."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from hostnet import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Bytes = NDArray[np.uint8]

MODES = ("thesis", "bounded", "nearest")
"""As published; 8 bits only where they keep the bound; and to the nearest value instead of towards zero."""

BITS = (0, 8, 16, 32)
"""The bits that a float may take beside its tag of two."""

HEADER_BYTES = 16
FLOAT_BYTES = 4
FLOATS_MAX = 1 << 60


@dataclass(frozen=True)
class Sizes:
    """How many floats take how many bits."""

    classes: dict[int, int]
    """Floats that take 0, 8, 16 and 32 bits beside their tags."""
    payload_bytes: int
    """Bytes of all of them and their tags."""

    @property
    def floats(self) -> int:
        """Floats in all."""
        return sum(self.classes.values())

    @property
    def shares(self) -> dict[int, float]:
        """The shares of the classes, 0 to 1; all 0 without floats."""
        return {bits: count / max(self.floats, 1) for bits, count in self.classes.items()}

    @property
    def plain_bytes(self) -> int:
        """Bytes of the floats as they are."""
        return FLOAT_BYTES * self.floats

    @property
    def stream_bytes(self) -> int:
        """Bytes of their stream, which has a header before the payload."""
        return HEADER_BYTES + self.payload_bytes

    @property
    def ratio(self) -> float:
        """Bytes of the floats by those of their payload; 1 without floats."""
        return self.plain_bytes / self.payload_bytes if self.payload_bytes else 1.0


@dataclass(frozen=True)
class Header:
    """What a stream says of itself."""

    mode: str
    """How it was made."""
    bound: int
    """k of the bound 2^-k."""
    floats: int
    """How many floats it holds."""


def compress(values: Any, bound: int = 10, mode: str = "thesis") -> bytes:
    """The stream of float32 values, in the order of their last index. Their shape is not kept.

    Args:
        values: A NumPy array, a torch tensor on the CPU, or a buffer of float32. What is not contiguous is copied.
        bound: k of the bound 2^-k on the error of a float, 1 to 15.
        mode: "thesis", "bounded" or "nearest".

    Raises:
        ConfigError: An argument is wrong.
    """
    row = flat(values)
    out = np.empty(bytes_max(row.size), np.uint8)
    return compress_into(out, row, bound, mode).tobytes()


def compress_into(out: Bytes, values: Any, bound: int = 10, mode: str = "thesis") -> Bytes:
    """As `compress`, but into an array of bytes that is used again and again; the part of it that the stream takes.

    Raises:
        ConfigError: An argument is wrong, or `out` has less than `bytes_max` bytes, is not contiguous, cannot be
            written, or shares memory with the values.
    """
    if not has_room(out, np.uint8) or out.ndim != 1:
        raise _core.ConfigError(
            "wrong-type", "out: must be an array of uint8 in one row that is contiguous and can be written"
        )
    row = flat(values)
    if np.may_share_memory(out, row):
        raise _core.ConfigError("conflicting-keys", "out: shares memory with the values")
    return out[: _core.codec_compress(row, out, checked(bound), named(mode))]


def bytes_max(floats: int) -> int:
    """The most bytes that the stream of so many floats has: 34 for each eight, and its header.

    Raises:
        ConfigError: There are no arrays of so many floats.
    """
    if not 0 <= floats < FLOATS_MAX:
        raise _core.ConfigError("out-of-range", f"floats {floats}: must be 0 to {FLOATS_MAX - 1}")
    return _core.codec_bytes_max(floats)


def decompress(stream: Any, out: Floats | None = None) -> Floats:
    """The floats of a stream, as an array of one dimension, or in `out`, an array of as many float32.

    Raises:
        ConfigError: It is damaged, or no stream; the message says where. What is in `out` is undefined then. Or `out`
            has another number of floats, is not contiguous, or cannot be written.
    """
    content = raw(stream)
    if out is None:
        out = np.empty(header(content).floats, np.float32)
    elif not has_room(out, np.float32):
        raise _core.ConfigError(
            "wrong-type", "out: must be an array of float32 that is contiguous and aligned, and can be written"
        )
    _core.codec_decompress(content, out.reshape(-1))
    return out


def header(stream: Any) -> Header:
    """What a stream says of itself.

    Raises:
        ConfigError: It is damaged, or no stream.
    """
    return Header(*_core.codec_header(raw(stream)))


def sizes(values: Any, bound: int = 10, mode: str = "thesis") -> Sizes:
    """What the stream of values would take; arguments and errors are those of `compress`."""
    counts, payload_bytes = _core.codec_sizes(flat(values), checked(bound), named(mode))
    return Sizes(dict(zip(BITS, counts, strict=True)), payload_bytes)


def roundtrip(values: Any, bound: int = 10, mode: str = "thesis") -> tuple[Floats, float]:
    """What values become, in their shape, and the largest error; arguments and errors are those of `compress`.

    What is not finite stays as it is and has no error.
    """
    rounded = np.array(as_array(values), order="C")
    error = _core.codec_round(rounded.reshape(-1), checked(bound), named(mode))
    return rounded, error


def has_room(out: Any, kind: type) -> bool:
    """Whether something is an array of that type that can be written from its first element to its last."""
    return isinstance(out, np.ndarray) and out.dtype == kind and out.flags.carray


def as_array(values: Any) -> Floats:
    """The array of float32 that something is, without a copy where there need be none.

    Raises:
        ConfigError: It is none.
    """
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:  # as torch says that a tensor is elsewhere
        raise _core.ConfigError("wrong-type", f"values: {error}") from None
    if array.dtype != np.float32:
        raise _core.ConfigError("wrong-type", f'values: {array.dtype}; must be float32, as values.astype("float32") is')
    return array


def flat(values: Any) -> Floats:
    """The floats of an array in one row, copied only if they are not, or do not lie at multiples of their size."""
    return np.require(as_array(values), requirements=["C", "ALIGNED"]).reshape(-1)


def checked(bound: int) -> int:
    """A bound that fits into a machine's integer; the codec knows which of them there are.

    Raises:
        ConfigError: It is no whole number.
    """
    try:
        number = index(bound)
    except TypeError:
        raise _core.ConfigError("wrong-type", f"bound {bound!r}: must be a whole number, k of 2^-k") from None
    if abs(number) >> 62:
        raise _core.ConfigError("out-of-range", f"bound {number}: must be 1 to 15, which means 2^-1 to 2^-15")
    return number


def named(mode: str) -> str:
    """A mode that may be one; the codec knows which there are.

    Raises:
        ConfigError: It is no text.
    """
    if not isinstance(mode, str):
        raise _core.ConfigError("wrong-type", f"mode {mode!r}: must be one of {', '.join(MODES)}")
    return mode


def raw(stream: Any) -> bytes | bytearray:
    """The bytes of a stream.

    Raises:
        ConfigError: It has none.
    """
    if isinstance(stream, bytes | bytearray):
        return stream
    try:
        return memoryview(stream).tobytes()
    except TypeError as error:
        raise _core.ConfigError("wrong-type", f"stream: {error}") from None
