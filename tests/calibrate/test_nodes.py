"""Memory behind a link, calibrated with the matrices of MLC."""

from __future__ import annotations

from pathlib import Path

import pytest

from hostnet.calibration import calibrate
from hostnet.calibration.measurement import Conditions
from hostnet.calibration.parameters import quantity_value
from hostnet.presets import ServerFile, load_server
from tests.calibrate.support import Ask, measure
from tests.support import raises_code

FAR = """\
server.preset = "cascade-lake-6234"
expander = { generation = 4, lanes = 8 }
"""

MATRICES = """\
Intel(R) Memory Latency Checker - v3.11
Measuring idle latencies for random access (in ns)...
\t\tNuma node
Numa node\t     0\t     1
       0\t{0}\t{1}

Measuring Memory Bandwidths between nodes within system
Bandwidths are in MB/sec (1 MB/sec = 1,000,000 Bytes/sec)
Using Read-only traffic type
\t\tNuma node
Numa node\t     0\t     1
       0\t{2}\t{3}
"""

IDLE: list[Ask] = [("latency", Conditions(probe="sequential", node=node)) for node in (0, 1)]
ALL: list[Ask] = [("bandwidth", Conditions(cores=8, node=node)) for node in (0, 1)]


@pytest.fixture
def server(tmp_path: Path) -> ServerFile:
    file = tmp_path / "far.toml"
    file.write_text(FAR, encoding="utf-8")
    return load_server(str(file))


@pytest.mark.parametrize(
    "true",
    [
        pytest.param({"expander.controller": "61 ns"}, marks=pytest.mark.long),
        pytest.param({"expander.controller": "33 ns", "expander.read_credits": 64}, marks=pytest.mark.long),
    ],
)
def test_a_device_is_recovered_from_matrices(tmp_path: Path, server: ServerFile, true: dict[str, str | int]) -> None:
    latencies = measure(server, true, IDLE, noise=0.003, seed=5)
    rates = [1000 * rate for rate in measure(server, true, ALL, noise=0.003, seed=6)]
    data = tmp_path / "matrix.txt"
    data.write_text(MATRICES.format(*(f"{value:.1f}" for value in (*latencies, *rates))), encoding="utf-8")
    found = {one.path: one for one in calibrate(server, [str(data)]).fit.parameters}
    wanted = quantity_value(str(true["expander.controller"]), "time")
    assert found["expander.controller"].value == pytest.approx(wanted, rel=0.06)
    credits = found["expander.read_credits"]
    if "expander.read_credits" in true:
        assert credits.value == pytest.approx(float(true["expander.read_credits"]), abs=1)
    else:
        assert credits.undetermined, "the link carries less than so many credits allow"


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (("81", "246", "43000", "99000"), "implausible-data | 99 GB/s"),
        (("81", "246 300", "43000", "9000"), "malformed-file"),
        (("81", "none", "43000", "9000"), 'malformed-file | "none"'),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, server: ServerFile, cells: tuple[str, ...], message: str) -> None:
    data = tmp_path / "matrix.txt"
    data.write_text(MATRICES.format(*cells), encoding="utf-8")
    with raises_code(message):
        calibrate(server, [str(data)])


def test_a_server_without_such_memory_has_no_second_node(tmp_path: Path) -> None:
    data = tmp_path / "far.csv"
    data.write_text("quantity,value,unit,node\nlatency,240,ns,1\n", encoding="utf-8")
    with raises_code("does-not-exist"):
        calibrate(load_server("cascade-lake-6234"), [str(data)])
