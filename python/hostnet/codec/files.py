"""What the codec makes of a file of floats."""

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
"""Of the format."""


@dataclass(frozen=True)
class Assessment:
    """What the codec makes of floats."""

    file: Path
    mode: str
    bound_exponent: int
    """k of the bound 2^-k."""
    sizes: Sizes
    not_finite: int
    """Floats that are infinite or no numbers; they stay as they are."""
    error_max: float
    """The largest error that was found."""
    compress_s: float
    decompress_s: float
    parts: tuple[Sizes, ...] = ()
    """Of the parts that go around a ring, one for each rank."""

    @property
    def bound(self) -> float:
        """The bound on the error of a float."""
        return float(2.0**-self.bound_exponent)

    @property
    def bound_kept(self) -> bool:
        """Whether no error is larger."""
        return self.error_max <= self.bound

    @property
    def ring_ratio(self) -> float | None:
        """What a ring gains whose steps last as long as the part that stays the largest; None without parts."""
        plain = max((part.plain_bytes for part in self.parts), default=0)
        return plain / max(part.payload_bytes for part in self.parts) if plain else None

    def to_dict(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
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
    """Compresses the floats of a .npy file and looks at what comes back.

    With `ranks` also at the parts that so many ranks send around a ring.

    Raises:
        ConfigError: The file is no .npy file of float32, or an argument is wrong.
        OSError: It cannot be read.
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
    """The floats of a .npy file in one row, in the order in which they lie in the file.

    Raises:
        ConfigError: It is none, or not of float32.
        OSError: It cannot be read.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise _core.ConfigError("file-access", f"{path}: is no file")
    with path.open("rb") as file, warnings.catch_warnings():
        try:
            # What NumPy says of files of Python 2 is of no use here.
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
