"""Lossy codec for gradients with a bound on its error, as a NIC can implement it; docs/codec.md explains it.

    from hostnet import codec

    stream = codec.compress(gradient, bound=10)
    back = codec.decompress(stream).reshape(gradient.shape)

Values may be NumPy arrays, torch tensors on the CPU, and any other buffer of float32.
"""

from hostnet.codec.arrays import (
    MODES,
    Header,
    Sizes,
    bytes_max,
    compress,
    compress_into,
    decompress,
    header,
    roundtrip,
    sizes,
)
from hostnet.codec.feedback import ErrorFeedback

__all__ = [
    "MODES",
    "ErrorFeedback",
    "Header",
    "Sizes",
    "bytes_max",
    "compress",
    "compress_into",
    "decompress",
    "header",
    "roundtrip",
    "sizes",
]
