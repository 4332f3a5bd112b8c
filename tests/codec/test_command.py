"""`hostnet codec`: its output, and its errors."""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostnet import ConfigError, codec
from hostnet.codec.files import assess, floats_of
from tests.docs.reference import ROOT
from tests.support import Cli, assert_tells

GRADIENT = np.array([0.75, -0.3, 0.02, 0.005, 0.0009, -2.5, 0.0, np.inf] * 10, "float32")


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    np.save(tmp_path / "gradient.npy", GRADIENT.reshape(4, 20))
    return Cli(tmp_path)


def summary_of(cli: Cli, *options: str) -> dict[str, Any]:
    done = cli("codec", "gradient.npy", "--json", *options)
    assert (done.returncode, done.stderr) == (0, "")
    summary: dict[str, Any] = json.loads(done.stdout)
    return summary


def test_json_has_what_the_arrays_have(cli: Cli) -> None:
    for mode in codec.MODES:
        summary, sizes = summary_of(cli, "--mode", mode, "--bound", "8"), codec.sizes(GRADIENT, 8, mode)
        assert {row["bits"]: row["floats"] for row in summary["classes"]} == sizes.classes
        assert (summary["ratio"], summary["payload_bytes"]) == (sizes.ratio, sizes.payload_bytes)
        assert (summary["stream_bytes"], summary["plain_bytes"]) == (sizes.stream_bytes, 320)
        assert summary["error_max"] == codec.roundtrip(GRADIENT, 8, mode)[1]
        assert summary["bound_kept"] == (mode != "thesis")
        assert (summary["bound"], summary["not_finite"]) == (2.0**-8, 10)
        assert summary["compress_gb_per_s"] > 0


def test_the_table_says_whether_the_bound_was_kept(cli: Cli) -> None:
    shown = cli("codec", "gradient.npy").stdout
    assert "gradient.npy: 80 floats, thesis, bound 2^-10 = 0.000977" in shown
    assert "largest error 0.005: the bound is not kept; --mode bounded keeps it" in shown
    assert "10 floats are infinite or no numbers" in shown
    rows = [line.split() for line in shown.splitlines()]
    assert ["8", "20", "25.0", "%"] in rows
    assert "the bound is kept" in cli("codec", "gradient.npy", "--mode", "bounded").stdout


def test_every_key_and_option_is_documented(cli: Cli) -> None:
    text = (ROOT / "docs/codec.md").read_text(encoding="utf-8")
    keys = {*summary_of(cli), *summary_of(cli)["classes"][0]}
    assert sorted(key for key in keys if f"`{key}`" not in text) == []
    options = set(re.findall(r"(--[a-z]+)", cli("codec", "--help").stdout)) - {"--help"}
    assert sorted(option for option in options if f"`{option}" not in text) == []


def test_a_ring_gains_what_its_densest_part_does(cli: Cli) -> None:
    gradient = np.concatenate([np.zeros(800), np.full(800, 0.5)]).astype("float32")
    np.save(cli.folder / "half.npy", gradient)
    found = json.loads(cli("codec", "half.npy", "--ranks", "4", "--json").stdout)
    assert found["part_ratios"] == [16.0, 16.0, pytest.approx(32 / 18), pytest.approx(32 / 18)]
    assert found["ring_ratio"] == pytest.approx(32 / 18)
    assert found["ratio"] == pytest.approx(2 * 32 / (2 + 18))
    shown = cli("codec", "half.npy", "--ranks", "4").stdout
    assert "around a ring of 4 ranks 1.78: " in shown
    # More ranks than floats: ranks without floats are allowed.
    np.save(cli.folder / "few.npy", gradient[-3:])
    assert json.loads(cli("codec", "few.npy", "--ranks", "8", "--json").stdout)["ring_ratio"] == pytest.approx(1.0)


def write_wrong(folder: Path) -> None:
    np.save(folder / "double.npy", GRADIENT.astype("float64"))
    np.save(folder / "foreign.npy", GRADIENT.astype(">f4"))
    np.save(folder / "objects.npy", np.array([None, {}]), allow_pickle=True)
    np.savez(folder / "several.npz", a=GRADIENT)
    whole = (folder / "gradient.npy").read_bytes()
    (folder / "cut.npy").write_bytes(whole[:-1])
    (folder / "head.npy").write_bytes(whole[:40])
    (folder / "empty.npy").write_bytes(b"")
    (folder / "text.npy").write_text("1.0 2.0")
    (folder / "later.npy").write_bytes(whole[:6] + b"\x01\x01" + whole[8:])
    os.mkfifo(folder / "fifo.npy")


WRONG = {
    "missing": (("missing.npy",), "file-not-found | missing.npy"),
    "folder": ((".",), "file-access | .: Is a directory"),
    "text": (("text.npy",), "malformed-file | text.npy | numpy.save"),
    "empty": (("empty.npy",), "malformed-file | empty.npy"),
    "head": (("head.npy",), "malformed-file | head.npy"),
    "version": (("later.npy",), "malformed-file | later.npy | numpy.save | 1.1"),
    "fifo": (("fifo.npy",), "file-access | fifo.npy"),
    "npz": (("several.npz",), "malformed-file | several.npz"),
    "cut": (("cut.npy",), "malformed-file | cut.npy | 319 | 320"),
    "double": (("double.npy",), 'malformed-file | numpy.save | values.astype | "float32"'),
    "foreign": (("foreign.npy",), "malformed-file | foreign.npy"),
    "objects": (("objects.npy",), "malformed-file | objects.npy"),
    "bound": (("gradient.npy", "--bound", "16"), "out-of-range | --bound 16 | 1 to 15 | -15"),
    "vast bound": (("gradient.npy", "--bound", "9" * 40), "out-of-range | 1 to 15"),
    "fraction": (("gradient.npy", "--bound", "0.001"), "usage | --bound 0.001"),
    "mode": (("gradient.npy", "--mode", "exact"), 'unknown-name | --mode | "exact"'),
    "one rank": (("gradient.npy", "--ranks", "1"), "out-of-range | --ranks 1 | 1024"),
    "nothing": ((), "usage | Missing argument"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said(cli: Cli, name: str) -> None:
    write_wrong(cli.folder)
    arguments, message = WRONG[name]
    assert_tells(cli.fails("codec", *arguments), message)


HEADS = st.sampled_from(
    [
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2**64,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1, -4), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (True,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551616, 0), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999,), }",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
        "(" * 5000,
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1L,), }",
        "[" + "-" * 3000 + "1]",
        "\\",
        "'''",
    ]
)


@given(head=HEADS | st.text(max_size=60), version=st.integers(0, 4), body=st.binary(max_size=20))
def test_any_head_of_a_file_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, head: str, version: int, body: bytes
) -> None:
    content = head.encode("utf-8", "surrogatepass")
    length = len(content).to_bytes(2 if version == 1 else 4, "little")
    path = tmp_path_factory.getbasetemp() / "any.npy"
    path.write_bytes(b"\x93NUMPY" + bytes([version, 0]) + length + content + body)
    with suppress(ConfigError):
        assert floats_of(path).dtype == np.float32


def test_shapes_and_orders_do_not_matter(tmp_path: Path) -> None:
    for name, values in (("c", GRADIENT.reshape(8, 10)), ("f", np.asfortranarray(GRADIENT.reshape(8, 10)))):
        np.save(tmp_path / f"{name}.npy", values)
    assert assess(tmp_path / "c.npy").sizes.classes == assess(tmp_path / "f.npy").sizes.classes
    np.save(tmp_path / "empty.npy", np.empty((3, 0), "float32"))
    assert assess(tmp_path / "empty.npy").to_dict()["ratio"] == 1.0
    np.save(tmp_path / "one.npy", np.float32(0.3))
    assert assess(tmp_path / "one.npy").sizes.floats == 1
