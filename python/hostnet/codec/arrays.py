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
"""The mode as published; 8 bits only where they keep the bound; and rounding to nearest instead of towards zero."""

BITS = (0, 8, 16, 32)
"""Bits of a float, in addition to its tag of two bits."""

HEADER_BYTES = 16
FLOAT_BYTES = 4
FLOATS_MAX = 1 << 60


@dataclass(frozen=True)
class Sizes:
    """Number of floats of each size class."""

    classes: dict[int, int]
    """Number of floats with 0, 8, 16 and 32 bits."""
    payload_bytes: int
    """Size of all floats and their tags, in bytes."""

    @property
    def floats(self) -> int:
        """Number of floats."""
        return sum(self.classes.values())

    @property
    def shares(self) -> dict[int, float]:
        """Shares of the classes, 0 to 1; all 0 without floats."""
        return {bits: count / max(self.floats, 1) for bits, count in self.classes.items()}

    @property
    def plain_bytes(self) -> int:
        """Uncompressed size of the floats, in bytes."""
        return FLOAT_BYTES * self.floats

    @property
    def stream_bytes(self) -> int:
        """Size of the stream, which consists of a header and the payload, in bytes."""
        return HEADER_BYTES + self.payload_bytes

    @property
    def ratio(self) -> float:
        """Compression ratio: uncompressed size over payload size; 1 without floats."""
        return self.plain_bytes / self.payload_bytes if self.payload_bytes else 1.0


@dataclass(frozen=True)
class Header:
    """Header of a stream."""

    mode: str
    """Mode of the compression, one of `MODES`."""
    bound: int
    """Exponent k of the error bound 2^-k."""
    floats: int
    """Number of floats in the stream."""


def compress(values: Any, bound: int = 10, mode: str = "thesis") -> bytes:
    """Compresses float32 values in C order. Their shape is not stored.

    Args:
        values: A NumPy array, a torch tensor on the CPU, or a buffer of float32. Non-contiguous values are copied.
        bound: Exponent k of the bound 2^-k on the error of a float, 1 to 15.
        mode: "thesis", "bounded" or "nearest".

    Returns:
        The stream: a header and the payload.

    Raises:
        ConfigError: An argument is invalid.
    """
    row = flat_floats(values)
    out = np.empty(bytes_max(row.size), np.uint8)
    return compress_into(out, row, bound, mode).tobytes()


def compress_into(out: Bytes, values: Any, bound: int = 10, mode: str = "thesis") -> Bytes:
    """Compresses as `compress`, but into the reusable byte array `out`; returns the part of it that was written.

    Raises:
        ConfigError: An argument is invalid, or `out` has less than `bytes_max` bytes, is not contiguous, cannot be
            written, or shares memory with the values.
    """
    if not has_room(out, np.uint8) or out.ndim != 1:
        raise _core.ConfigError(
            "wrong-type", "out: must be an array of uint8 in one row that is contiguous and can be written"
        )
    row = flat_floats(values)
    if np.may_share_memory(out, row):
        raise _core.ConfigError("conflicting-keys", "out: shares memory with the values")
    return out[: _core.codec_compress(row, out, check_bound(bound), check_mode(mode))]


def bytes_max(floats: int) -> int:
    """Returns the largest size of a stream of `floats` floats: 34 bytes per eight floats, and the header.

    Raises:
        ConfigError: An array cannot have so many floats.
    """
    if not 0 <= floats < FLOATS_MAX:
        raise _core.ConfigError("out-of-range", f"floats {floats}: must be 0 to {FLOATS_MAX - 1}")
    return _core.codec_bytes_max(floats)


def decompress(stream: Any, out: Floats | None = None) -> Floats:
    """Decompresses a stream to a one-dimensional array of float32, or into `out`, which must have as many floats.

    Raises:
        ConfigError: The stream is damaged or not a stream, and the content of `out` is undefined; or `out` has another
            number of floats, is not contiguous, or cannot be written.
    """
    content = as_bytes(stream)
    if out is None:
        out = np.empty(header(content).floats, np.float32)
    elif not has_room(out, np.float32):
        raise _core.ConfigError(
            "wrong-type", "out: must be an array of float32 that is contiguous and aligned, and can be written"
        )
    _core.codec_decompress(content, out.reshape(-1))
    return out


def header(stream: Any) -> Header:
    """Returns the header of a stream.

    Raises:
        ConfigError: The stream is damaged or not a stream.
    """
    return Header(*_core.codec_header(as_bytes(stream)))


def sizes(values: Any, bound: int = 10, mode: str = "thesis") -> Sizes:
    """Returns the sizes that a stream of the values would have; arguments and errors are those of `compress`."""
    counts, payload_bytes = _core.codec_sizes(flat_floats(values), check_bound(bound), check_mode(mode))
    return Sizes(dict(zip(BITS, counts, strict=True)), payload_bytes)


def roundtrip(values: Any, bound: int = 10, mode: str = "thesis") -> tuple[Floats, float]:
    """Returns the values after compression and decompression, in their shape, and the largest error.

    Arguments and errors are those of `compress`. Values that are not finite are kept and have no error.
    """
    rounded = np.array(as_array(values), order="C")
    error = _core.codec_round(rounded.reshape(-1), check_bound(bound), check_mode(mode))
    return rounded, error


def has_room(out: Any, kind: type) -> bool:
    """Returns True if `out` is a writable, contiguous, aligned array of the type."""
    return isinstance(out, np.ndarray) and out.dtype == kind and out.flags.carray


def as_array(values: Any) -> Floats:
    """Returns the float32 array of a value, without a copy if possible.

    Raises:
        ConfigError: The value is not an array of float32.
    """
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:  # includes torch's for tensors off the CPU
        raise _core.ConfigError("wrong-type", f"values: {error}") from None
    if array.dtype != np.float32:
        raise _core.ConfigError("wrong-type", f'values: {array.dtype}; must be float32, as values.astype("float32") is')
    return array


def flat_floats(values: Any) -> Floats:
    """Returns the floats of an array as one dimension, copied only if they are not contiguous or not aligned."""
    return np.require(as_array(values), requirements=["C", "ALIGNED"]).reshape(-1)


def check_bound(bound: int) -> int:
    """Checks that a bound is a whole number that fits into a machine integer; the codec checks its range.

    Raises:
        ConfigError: It is not.
    """
    try:
        number = index(bound)
    except TypeError:
        raise _core.ConfigError("wrong-type", f"bound {bound!r}: must be a whole number, k of 2^-k") from None
    if abs(number) >> 62:
        raise _core.ConfigError("out-of-range", f"bound {number}: must be 1 to 15, which means 2^-1 to 2^-15")
    return number


def check_mode(mode: str) -> str:
    """Checks that a mode is a string; the codec checks its name.

    Raises:
        ConfigError: It is not.
    """
    if not isinstance(mode, str):
        raise _core.ConfigError("wrong-type", f"mode {mode!r}: must be one of {', '.join(MODES)}")
    return mode


def as_bytes(stream: Any) -> bytes | bytearray:
    """Returns the bytes of a stream.

    Raises:
        ConfigError: The value is not a buffer.
    """
    if isinstance(stream, bytes | bytearray):
        return stream
    try:
        return memoryview(stream).tobytes()
    except TypeError as error:
        raise _core.ConfigError("wrong-type", f"stream: {error}") from None
