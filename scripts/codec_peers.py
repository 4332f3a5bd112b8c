"""Compares the codec of gradients with other compressors on the same floats: `scripts/codec_peers.py [FILE.npy]`.

Without a file the floats are random and distributed like gradients. The other compressors are optional: zstandard, lz4,
python-snappy and pysz (SZ3) are measured if installed. Rows are the best of all rounds, in GB/s of floats on one core.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hostnet import codec

Floats = Any
BOUND = 10


class Way(NamedTuple):
    """A compressor and its decompressor."""

    name: str
    compress: Callable[[Floats], Any]
    decompress: Callable[[Any], Floats]


def ways() -> Iterator[Way]:
    """Yields every compressor that is installed."""
    for mode in codec.MODES:
        yield Way(f"hostnet {mode} 2^-{BOUND}", lambda values, mode=mode: codec.compress(values, BOUND, mode), back)
    others = {"zstandard": zstd, "lz4.frame": lz4, "snappy": snappy, "pysz": sz3}
    for module, way in others.items():
        try:
            yield way(import_module(module))
        except ImportError:
            print(f"{module} is not installed")


def back(stream: bytes) -> Floats:
    """Returns the floats of a stream."""
    return codec.decompress(stream)


def zstd(module: Any) -> Way:
    """Returns Zstandard at level 1."""
    packer, unpacker = module.ZstdCompressor(level=1), module.ZstdDecompressor()
    return Way("zstd -1", lambda values: packer.compress(values), lambda stream: floats(unpacker.decompress(stream)))


def lz4(module: Any) -> Way:
    """Returns LZ4 with the default settings of its frame format."""
    return Way("LZ4", lambda values: module.compress(values.data), lambda stream: floats(module.decompress(stream)))


def snappy(module: Any) -> Way:
    """Returns Snappy."""
    return Way("Snappy", lambda values: module.compress(values.data), lambda stream: floats(module.decompress(stream)))


def sz3(module: Any) -> Way:
    """Returns SZ3 with an absolute error bound."""
    settings = module.szConfig()
    settings.errorBoundMode = module.szErrorBoundMode.ABS
    settings.absErrorBound = 2.0**-BOUND
    shape: list[tuple[int, ...]] = []

    def compress(values: Floats) -> Any:
        shape[:] = [values.shape]
        return module.sz.compress(values, settings)[0]

    return Way(f"SZ3 2^-{BOUND}", compress, lambda stream: module.sz.decompress(stream, np.float32, shape[0])[0])


def floats(content: bytes) -> Floats:
    """Returns bytes as floats."""
    return np.frombuffer(content, np.float32)


def drawn(count: int) -> Floats:
    """Returns random floats distributed like gradients: products of draws, about a quarter of them below 2^-10."""
    draw = np.random.default_rng(1)
    return np.float32(0.05) * np.prod([draw.uniform(-1, 1, count).astype("float32") for _ in range(3)], axis=0)


def main() -> None:
    """Prints a row for every compressor."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, help="a .npy file of float32")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    values = drawn(1 << 24) if arguments.file is None else np.load(arguments.file).astype("float32").ravel()
    found: dict[str, list[tuple[float, float, float, float]]] = {}
    all_ways = list(ways())
    for _ in range(arguments.rounds):
        for way in all_ways:
            begun = time.perf_counter()
            stream = way.compress(values)
            between = time.perf_counter()
            result = way.decompress(stream)
            ended = time.perf_counter()
            error = float(np.abs(result - values).max())
            row = (values.nbytes / len(stream), between - begun, ended - between, error)
            found.setdefault(way.name, []).append(row)
    print("| | ratio | compress, GB/s | decompress, GB/s | largest error |")
    print("|---|---|---|---|---|")
    for name, rows in found.items():
        speeds = [values.nbytes / 1e9 / min(row[column] for row in rows) for column in (1, 2)]
        ratio, error = statistics.median(row[0] for row in rows), rows[0][3]
        print(f"| {name} | {ratio:.2f} | {speeds[0]:.2f} | {speeds[1]:.2f} | {error:.2g} |")


if __name__ == "__main__":
    main()
