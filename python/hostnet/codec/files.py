"""Assesses the codec on a file of floats."""

from __future__ import annotations

import tokenize
import warnings
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from hostnet import _core
from hostnet.codec.arrays import FLOAT_BYTES, Sizes, compress, decompress, roundtrip, sizes

if TYPE_CHECKING:
    from pathlib import Path

    from hostnet.codec.arrays import Floats


VERSIONS = ((1, 0), (2, 0), (3, 0))
"""Supported versions of the .npy format."""


@dataclass(frozen=True)
class Assessment:
    """Result of compressing the floats of a file."""

    file: Path
    mode: str
    bound_exponent: int
    """Exponent k of the error bound 2^-k."""
    sizes: Sizes
    not_finite: int
    """Number of floats that are infinite or NaN; they are kept."""
    error_max: float
    """Largest error of a float."""
    compress_s: float
    decompress_s: float
    parts: tuple[Sizes, ...] = ()
    """Sizes of the parts that circulate in a ring, one per rank."""

    @property
    def bound(self) -> float:
        """Bound on the error of a float."""
        return float(2.0**-self.bound_exponent)

    @property
    def bound_kept(self) -> bool:
        """True if no error exceeds the bound."""
        return self.error_max <= self.bound

    @property
    def ring_ratio(self) -> float | None:
        """Speed-up of a ring whose steps last as long as the part that stays largest; None without parts."""
        plain = max((part.plain_bytes for part in self.parts), default=0)
        return plain / max(part.payload_bytes for part in self.parts) if plain else None

    def to_dict(self) -> dict[str, Any]:
        """Returns all values, ready for JSON."""
        gigabytes = self.sizes.plain_bytes / 1e9
        return {
            "file": str(self.file),
            "mode": self.mode,
            "bound_exponent": self.bound_exponent,
            "bound": self.bound,
            "floats": self.sizes.floats,
            "not_finite": self.not_finite,
            "classes": [
                {"bits": bits, "floats": count, "share": self.sizes.shares[bits]}
                for bits, count in self.sizes.classes.items()
            ],
            "plain_bytes": self.sizes.plain_bytes,
            "payload_bytes": self.sizes.payload_bytes,
            "stream_bytes": self.sizes.stream_bytes,
            "ratio": self.sizes.ratio,
            "part_ratios": [part.ratio for part in self.parts],
            "ring_ratio": self.ring_ratio,
            "error_max": self.error_max,
            "bound_kept": self.bound_kept,
            "compress_gb_per_s": gigabytes / self.compress_s,
            "decompress_gb_per_s": gigabytes / self.decompress_s,
        }


def assess(path: Path, bound: int = 10, mode: str = "thesis", ranks: int = 0) -> Assessment:
    """Compresses and decompresses the floats of a .npy file.

    With `ranks`, also assesses the parts that this number of ranks sends around a ring.

    Raises:
        ConfigError: The file is not a .npy file of float32, or an argument is invalid.
        OSError: The file cannot be read.
    """
    values = floats_of(path)
    counted = sizes(values, bound, mode)
    begun = perf_counter()
    stream = compress(values, bound, mode)
    between = perf_counter()
    decompress(stream)
    ended = perf_counter()
    return Assessment(
        file=path,
        mode=mode,
        bound_exponent=bound,
        sizes=counted,
        not_finite=values.size - int(np.count_nonzero(np.isfinite(values))),
        error_max=roundtrip(values, bound, mode)[1],
        compress_s=between - begun,
        decompress_s=ended - between,
        parts=tuple(sizes(part, bound, mode) for part in np.array_split(values, ranks)) if ranks else (),
    )


def floats_of(path: Path) -> Floats:
    """Reads the floats of a .npy file as one dimension, in the order of the file.

    Raises:
        ConfigError: The file is not a .npy file, or not of float32.
        OSError: The file cannot be read.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise _core.ConfigError("file-access", f"{path}: is no file")
    with path.open("rb") as file, warnings.catch_warnings():
        try:
            # NumPy's warning about files written by Python 2 is of no use here.
            warnings.simplefilter("ignore", UserWarning)
            version = np.lib.format.read_magic(file)
            if version not in VERSIONS:
                raise ValueError("version {}.{}; known are 1.0, 2.0 and 3.0".format(*version))
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = read(file)
        except (ValueError, TypeError, SyntaxError, RecursionError, OverflowError, tokenize.TokenError) as error:
            reason = str(error).partition("\n")[0]
            raise _core.ConfigError(
                "malformed-file", f"{path}: is no .npy file, as numpy.save writes it: {reason}"
            ) from None
        if dtype != np.float32:
            advice = 'must be float32; numpy.save(FILE, values.astype("float32")) writes it'
            raise _core.ConfigError("malformed-file", f"{path}: {dtype}: {advice}")
        floats, begin = 1, file.tell()
        for length in shape:
            floats *= length
        bytes_left = file.seek(0, 2) - begin
        sound = all(length >= 0 and not isinstance(length, bool) for length in shape)
        if floats * FLOAT_BYTES != bytes_left or not sound:
            rule = f"{shape} of float32 are {floats * FLOAT_BYTES} bytes"
            raise _core.ConfigError(
                "malformed-file", f"{path}: is damaged: {bytes_left} bytes behind its header; {rule}"
            )
        file.seek(begin)
        return np.fromfile(file, np.float32, floats)
