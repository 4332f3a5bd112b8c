"""`hostnet.codec` for arrays: results, errors, and progress of other threads."""

from __future__ import annotations

import array
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from hostnet import ConfigError, codec
from tests.support import raises_code

GRADIENT: Any = np.random.default_rng(1).normal(0, 0.01, 1001).astype("float32")

ERROR_MAX = {"thesis": lambda bound: max(2.0**-bound, 2.0**-7), "bounded": lambda bound: 2.0**-bound}
ERROR_MAX["nearest"] = ERROR_MAX["bounded"]

settings = st.tuples(st.integers(1, 15), st.sampled_from(codec.MODES))


@given(values=arrays.arrays(np.float32, st.integers(0, 40), elements=st.floats(width=32)), settings=settings)
def test_what_comes_back_is_what_each_float_becomes(values: Any, settings: tuple[int, str]) -> None:
    stream = codec.compress(values, *settings)
    back = codec.decompress(stream)
    rounded, error = codec.roundtrip(values, *settings)
    assert back.dtype == np.float32
    assert back.tobytes() == rounded.tobytes()
    finite = np.isfinite(values)
    assert error == np.abs(values[finite] - rounded[finite]).max(initial=0)
    assert error <= ERROR_MAX[settings[1]](settings[0])
    assert values[~finite].tobytes() == rounded[~finite].tobytes()
    sizes = codec.sizes(values, *settings)
    assert (sizes.floats, sizes.stream_bytes) == (len(values), len(stream))
    header = codec.header(stream)
    assert (header.mode, header.bound, header.floats) == (settings[1], settings[0], len(values))


def test_vectors_of_the_format_page() -> None:
    values = np.array([0.75, -0.3, 0.02, 0.005, 0.0009, -2.5, 0.0, 0.5], "float32")
    expected = "484e47430100 0a00 0800000000000000 5a8c 0060 66a6 02 00 000020c0 0040"
    assert codec.compress(values).hex() == expected.replace(" ", "")
    assert codec.decompress(codec.compress(values)).tolist() == pytest.approx(
        [0.75, -0.29998779, 0.015625, 0, 0, -2.5, 0, 0.5], abs=1e-8
    )


class Tensor:
    """Stand-in for a tensor of torch, as NumPy sees it."""

    def __init__(self, values: Any, trouble: Exception | None = None) -> None:
        self.values, self.trouble = values, trouble

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if self.trouble is not None:
            raise self.trouble
        return self.values


@pytest.mark.parametrize(
    "values",
    [
        GRADIENT.reshape(7, 11, 13),
        np.asfortranarray(GRADIENT.reshape(7, 143)),
        np.repeat(GRADIENT, 2)[::2],
        GRADIENT[::-1][::-1],
        memoryview(GRADIENT),
        array.array("f", GRADIENT.tolist()),
        Tensor(GRADIENT),
        np.frombuffer(GRADIENT.tobytes(), np.float32),
        np.ma.masked_array(GRADIENT),
        np.frombuffer(b"." + GRADIENT.tobytes(), np.float32, offset=1),
    ],
    ids=["shape", "columns first", "every other", "views", "memory", "array", "tensor", "read-only", "subclass", "odd"],
)
def test_all_that_holds_floats_gives_the_same_stream(values: Any) -> None:
    assert codec.compress(values) == codec.compress(GRADIENT)
    rounded, _ = codec.roundtrip(values)
    assert rounded.shape == np.asarray(values).shape
    assert rounded.reshape(-1).tobytes() == codec.decompress(codec.compress(GRADIENT)).tobytes()
    assert codec.sizes(values) == codec.sizes(GRADIENT)
    assert codec.ErrorFeedback().compress(values) == codec.ErrorFeedback().compress(GRADIENT)


def test_nothing_is_changed_that_was_given() -> None:
    values = GRADIENT.copy()
    codec.compress(values)
    codec.roundtrip(values)
    codec.ErrorFeedback().compress(values)
    assert values.tobytes() == GRADIENT.tobytes()


def test_nothing_in_gives_nothing_out() -> None:
    empty = np.empty((0, 3), np.float32)
    assert len(codec.compress(empty)) == 16
    assert codec.decompress(codec.compress(empty)).shape == (0,)
    assert codec.roundtrip(empty)[0].shape == (0, 3)
    assert (codec.sizes(empty).ratio, codec.sizes(empty).shares[32]) == (1.0, 0.0)
    assert codec.roundtrip(np.float32(0.3))[0].shape == ()


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ((GRADIENT.astype("float64"),), "values: float64; must be float32"),
        ((GRADIENT.astype(">f4"),), "values: >f4; must be float32"),
        (([1, 2],), "values: int64; must be float32"),
        ((None,), "values: object; must be float32"),
        (([[1.0], [1.0, 2.0]],), "values: "),
        ((Tensor(0, RuntimeError("use tensor.detach()")),), "values: use tensor.detach()"),
        ((Tensor(0, TypeError("can't convert cuda:0")),), "values: can't convert cuda:0"),
        ((GRADIENT, 0), "bound 0: must be 1 to 15, which means 2^-1 to 2^-15"),
        ((GRADIENT, 16), "bound 16: must be 1 to 15"),
        ((GRADIENT, 1 << 80), f"bound {1 << 80}: must be 1 to 15"),
        ((GRADIENT, 2.0**-10), "bound 0.0009765625: must be a whole number, k of 2^-k"),
        ((GRADIENT, "10"), "bound '10': must be a whole number"),
        ((GRADIENT, 10, "exact"), 'mode "exact": must be one of thesis, bounded, nearest'),
        ((GRADIENT, 10, None), "mode None: must be one of thesis, bounded, nearest"),
        ((GRADIENT, 10, b"thesis"), "mode b'thesis': must be one of thesis, bounded, nearest"),
    ],
    ids=range(15),
)
@pytest.mark.parametrize("function", [codec.compress, codec.sizes, codec.roundtrip], ids=lambda one: one.__name__)
def test_what_is_wrong_is_said(function: Any, arguments: tuple[Any, ...], rule: str) -> None:
    with pytest.raises(ConfigError) as caught:
        function(*arguments)
    assert rule in str(caught.value)


@pytest.mark.parametrize(
    ("stream", "rule"),
    [
        (b"", "stream: byte 0: the stream ends within its header of 16 bytes"),
        (codec.compress(GRADIENT)[:-1], "the payload ends within a group"),
        (codec.compress(GRADIENT) + b"\0", "1 bytes behind the last float; must be none"),
        (b"HNGC\1\0\12\0" + b"\xff" * 8, "18446744073709551615 floats in 0 bytes"),
        (np.zeros(40, np.uint8), "byte 0: of the magic is 0"),
        (17, "stream: memoryview: a bytes-like object is required"),
    ],
    ids=range(6),
)
def test_streams_that_are_none_are_refused(stream: Any, rule: str) -> None:
    with pytest.raises(ConfigError) as caught:
        codec.decompress(stream)
    assert rule in str(caught.value)


def test_streams_come_from_any_bytes_and_go_where_there_is_room() -> None:
    stream, out = codec.compress(GRADIENT), np.empty(GRADIENT.shape, np.float32)
    for content in (bytearray(stream), memoryview(stream), np.frombuffer(stream, np.uint8)):
        assert codec.decompress(content, out=out) is out
        assert out.tobytes() == codec.decompress(stream).tobytes()
    read_only: Any = np.frombuffer(out.tobytes(), np.float32)
    odd = np.empty(4 * out.size + 1, np.uint8)[1:].view(np.float32).reshape(out.shape)
    refused: list[Any] = [odd, out[:-1], out.astype("float64"), out.reshape(-1)[::2], read_only, [0.0] * 1001]
    for wrong in refused:
        with pytest.raises(ConfigError, match=r"^out: "):
            codec.decompress(stream, out=wrong)


def test_streams_are_made_where_there_is_room() -> None:
    stream, out = codec.compress(GRADIENT), np.empty(codec.bytes_max(GRADIENT.size), np.uint8)
    made = codec.compress_into(out, GRADIENT)
    assert made.tobytes() == stream
    assert np.shares_memory(made, out)
    assert codec.bytes_max(0) == 16
    assert len(codec.compress(np.full(9, 2.0, "float32"))) == codec.bytes_max(16) - 28
    refused: list[Any] = [
        out[:-1],
        out[::2],
        out.view(np.int8),
        out.reshape(1, -1),
        np.frombuffer(out.tobytes(), np.uint8),
    ]
    for wrong in refused:
        with pytest.raises(ConfigError, match=r"^out: "):
            codec.compress_into(wrong, GRADIENT)
    shared = np.zeros(out.size, np.uint8)
    with raises_code("conflicting-keys"):
        codec.compress_into(shared, shared[:64].view(np.float32))
    for floats in (-1, 1 << 63):
        with raises_code(f"out-of-range | {floats}"):
            codec.bytes_max(floats)


@pytest.mark.parametrize("floats", [(1 << 20) - 1, 1 << 20, (1 << 20) + 9])
def test_long_arrays_are_coded_in_parts_without_a_seam(floats: int) -> None:
    values = np.resize(GRADIENT, floats)
    stream = codec.compress(values)
    first, second = codec.compress(values[: 1 << 19]), codec.compress(values[1 << 19 :])
    assert stream[16:] == first[16:] + second[16:]
    assert codec.decompress(stream).tobytes() == codec.roundtrip(values)[0].tobytes()
    with raises_code(f"malformed-file | {len(stream)}"):
        codec.decompress(stream + b"\0\0\0")


def test_other_threads_go_on_meanwhile() -> None:
    values, done = np.resize(GRADIENT, 1 << 22), threading.Event()

    def code() -> None:
        codec.decompress(codec.compress(values))
        done.set()

    worker = threading.Thread(target=code)
    worker.start()
    turns = 0
    while not done.is_set():
        turns += 1
    worker.join()
    assert turns > 0


def test_what_feedback_keeps_is_sent_later() -> None:
    small = np.full((2, 3), 0.0004, np.float32)
    feedback = codec.ErrorFeedback(bound=10, mode="bounded")
    assert feedback.residual.size == 0
    sent = np.zeros(6)
    for _ in range(100):
        sent += codec.decompress(feedback.compress(small))
    assert feedback.residual.shape == (2, 3)
    assert np.abs(sent - 0.04).max() < 2.0**-10
    with raises_code("wrong-count"):
        feedback.compress(small.reshape(-1)[:5])
    with raises_code("wrong-type | values: float64"):
        feedback.compress(small.astype("float64"))
    with raises_code("out-of-range | 99"):
        codec.ErrorFeedback(bound=99)
