"""Files of measurements are parsed, or refused with their line."""

from __future__ import annotations

import json
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostnet import ConfigError
from hostnet.calibration import DataError, Measurement, calibrate
from hostnet.calibration.measurement import Conditions, parse_kernel
from hostnet.calibration.parameters import base_unit_value, fittable, kind_of, parse_fit, quantity_text, quantity_value
from hostnet.calibration.plausible import check_plausible, compare_reads
from hostnet.calibration.readers import read_data
from hostnet.calibration.readers.counters import quantities_of
from hostnet.curves.points import gap_of
from hostnet.presets import load_server, value_at_path
from tests.support import raises_code

SERVER = load_server("cascade-lake-6234")

MLC = """\
Intel(R) Memory Latency Checker - v3.9
Measuring Loaded Latencies for the system
Using all the threads from each core if Hyper-threading is enabled
Using Read-only traffic type
Inject\tLatency\tBandwidth
Delay\t(ns)\tMB/sec
==========================
 00000\t140.60\t 39697.3
 00002\t135.30\t 39418.3
 00300\t 99.00\t 20000.0
 20000\t 80.00\t   850.0
"""

FIO = {
    "fio version": "fio-3.33",
    "global options": {"bs": "128k", "iodepth": "32"},
    "jobs": [
        {"jobname": "a", "error": 0, "job options": {"rw": "read", "filename": "/dev/nvme0n1"},
         "read": {"bw_bytes": 3_400_000_000}, "write": {"bw_bytes": 0}},
        {"jobname": "b", "error": 0, "job options": {"rw": "read", "filename": "/dev/nvme1n1"},
         "read": {"bw_bytes": 3_300_000_000}, "write": {"bw_bytes": 0}},
        {"jobname": "c", "groupid": 1, "error": 0,
         "job options": {"rw": "randwrite", "bs": "4k", "iodepth": "1", "stonewall": "1", "filename": "/dev/nvme0n1"},
         "read": {"bw_bytes": 0}, "write": {"bw": 400_000}},
    ],
}  # fmt: skip


def read(folder: Path, text: str, given: str = "", name: str = "data.csv") -> list[Measurement]:
    file = folder / name
    file.write_text(text)
    measurements = read_data(f"{file}{given}", SERVER).measurements
    check_plausible(measurements, SERVER)
    return measurements


def test_loaded_latencies_of_mlc(tmp_path: Path) -> None:
    found = read(tmp_path, MLC)
    assert [m.value for m in found if m.quantity == "bandwidth"] == [pytest.approx(39.6973)], (
        "only without a delay the load is known"
    )
    assert [(m.conditions.cores, m.conditions.gap_ns) for m in found if m.value == 140.6] == [(7, 0)]
    loaded = next(m for m in found if m.place == "10")
    assert loaded.conditions.cores == 7
    assert loaded.conditions.gap_ns == pytest.approx(gap_of(20 - 64 / 99, 7, 1.0), abs=0.001)
    light = next(m for m in found if m.place == "11")
    assert (light.conditions.cores, light.value) == (0, 80.0)
    assert not [m for m in found if m.place == "9"], "so close to saturation the bandwidth tells nothing"


def test_other_output_of_mlc(tmp_path: Path) -> None:
    (idle,) = read(tmp_path, "Intel(R) Memory Latency Checker - v3.9\nEach iteration took 261.9 clocks (\t 79.4\tns)\n")
    assert (idle.quantity, idle.value, idle.conditions.cores) == ("latency", 79.4, 0)
    text = (
        "Memory Latency Checker\nALL Reads        :\t41000.5\n3:1 Reads-Writes :\t38000.0\n2:1 Reads-Writes :\t37000\n"
    )
    peaks = read(tmp_path, text)
    assert [m.value for m in peaks] == [41.0005, 38, 37]
    assert [round(m.conditions.reads, 3) for m in peaks] == [1, 0.75, 0.667]
    mixed = read(tmp_path, MLC.replace("Using Read-only traffic", "Using 2:1 reads:writes traffic"))
    assert {round(m.conditions.reads, 3) for m in mixed if m.conditions.cores} == {0.667}


FULL_MLC = """\
Intel(R) Memory Latency Checker - v3.11
Measuring idle latencies for sequential access (in ns)...
\t\tNuma node
Numa node\t     0\t     1\t
       0\t  79.4\t 139.1\t

Measuring Peak Injection Memory Bandwidths for the system
Bandwidths are in MB/sec (1 MB/sec = 1,000,000 Bytes/sec)
Using all the threads from each core if Hyper-threading is enabled
Using traffic with the following read-write ratios
ALL Reads        :\t41000.5\t
3:1 Reads-Writes :\t38000.0\t
1:1 Reads-Writes :\t37000.0\t
Stream-triad like:\t36000.0\t

Measuring Memory Bandwidths between nodes within system
Using Read-only traffic type
\t\tNuma node
Numa node\t     0\t     1\t
       0\t41000.1\t17000.2\t

Measuring Loaded Latencies for the system
Using Read-only traffic type
Inject\tLatency\tBandwidth
Delay\t(ns)\tMB/sec
==========================
 00000\t140.60\t 39697.3
 00300\t 99.00\t 20000.0

Measuring cache-to-cache transfer latency (in ns)...
Local Socket L2->L2 HIT  latency\t47.2
"""


def test_everything_that_mlc_prints(tmp_path: Path) -> None:
    found = read(tmp_path, FULL_MLC)
    idle = [m.value for m in found if m.quantity == "latency" and not m.conditions.cores]
    peaks = [m.value for m in found if m.quantity == "bandwidth" and m.conditions.cores == 8]
    assert idle == [79.4]
    assert sorted(peaks) == pytest.approx([37, 38, 41.0001, 41.0005])
    assert len(found) == 1 + 1 + 3 + 3


def test_fio_json(tmp_path: Path) -> None:
    text = json.dumps(FIO)
    for prefix in ("", "fio: a warning\n"):
        both, small = read(tmp_path, prefix + text, name="fio.json")
        assert (both.conditions.drives, both.conditions.iodepth) == (2, 32)
        assert both.value == pytest.approx(6.7)
        assert (small.value, small.conditions.bs, small.conditions.rw) == (0.4096, 4096, "randwrite")
        assert small.conditions.drives == 1


def test_tables(tmp_path: Path) -> None:
    (stream,) = read(tmp_path, "# mine\ncores, MB/s\n2, 12000\n", "@kernel=triad")
    assert stream.value == pytest.approx(12 * 4 / 3)
    assert stream.conditions.reads == 0.75
    (fio,) = read(tmp_path, "rw;bs;iodepth;GiB/s\nread;8m;64;12\n")
    assert fio.value == pytest.approx(12 * 1.073741824)
    (general,) = read(tmp_path, "quantity,value,unit,sigma,cores,gap\nlfb_latency,0.09,us,2%,4,20 ns\n")
    assert (general.value, general.conditions.gap_ns) == (90, 20)
    assert general.sigma == pytest.approx(1.8)
    curve = read(tmp_path, "reads,gap_ns,latency_ns,latency_ci95,bandwidth_gb_per_s,cores\n0.67,42.5,99,3,11.1,3\n")
    assert {(m.quantity, m.value) for m in curve} == {("latency", 99), ("bandwidth", 11.1)}
    assert {(m.conditions.gap_ns, m.conditions.cores, m.conditions.reads) for m in curve} == {(42.5, 3, 0.67)}
    rows = read(tmp_path, "Inject Delay,Latency (ns),Bandwidth (MB/sec)\n0,140,39000\n500,90,15000\n")
    assert len(rows) == 3


@pytest.mark.parametrize("kernel", ["read", "copy", "triad", "write"])
def test_kernels_move_what_they_must(kernel: str) -> None:
    reads, moved = parse_kernel(kernel)
    assert 0.5 <= reads <= 1
    assert moved == pytest.approx({"read": 1, "copy": 1.5, "triad": 4 / 3, "write": 2}[kernel])


WRONG = [
    ("", "is empty"),
    ("  \n", "is empty"),
    ("hello world\nthis is a letter\n", "data.csv:1: neither a table"),
    ("GIF89a", "neither a table"),
    ("<html><body>404</body></html>", "neither a table"),
    ("a,b,c\n1,2,3\n", "neither a table"),
    ("cores,GB/s\n", ":1: the table has a heading and no rows"),
    ("cores,GB/s\n1,nan\n", ':2: bandwidth: "nan" must be a finite number'),
    ("cores,GB/s\n1,inf\n", ":2: bandwidth"),
    ("cores,GB/s\n1,-3\n", "above 0"),
    ("cores,GB/s\n1,x\n", '"x" is not a number'),
    ("cores,GB/s\n1,9.1\n2\n", ":3: has 1 cells, the heading 2; is the file truncated?"),
    ("cores,GB/s\n,9.1\n", ":2: cores: missing"),
    ("cores,GB/s\n9,9.1\n", ":2: cores: 9; cascade-lake-6234 has 8"),
    ("cores,bandwidth\n1,9.1\n", ':1: column "bandwidth" names no unit; write "bandwidth GB/s"'),
    ("cores,GB/s,colour\n1,9.1,red\n", 'column "colour" is not known'),
    ("cores,GB/s,raeds\n1,9.1,100\n", 'did you mean "reads"?'),
    ("cores,GB/s,cores\n1,9.1,2\n", "comes twice"),
    ("cores,GB/s\n4,31000\n", ":2: bandwidth 31000 GB/s is more than this memory can move, 46.93 GB/s; was it MB/s"),
    ("cores,MB/s\n4,31\n", ":2: bandwidth 0.031 GB/s is less than 4 cores of any server move"),
    ("cores,GB/s,reads\n4,31,30\n", "between 50 and 100 percent"),
    ("quantity,value\nlatency,80\n", ':1: column "unit" is missing'),
    ("quantity,value,unit\nlatency,80,\n", ":2: unit: missing; write ns or us"),
    ("quantity,value,unit\nlatency,80,GB/s\n", '"GB/s" is not a unit of latency'),
    ("quantity,value,unit\nlatncy,80,ns\n", 'did you mean "latency"?'),
    ("quantity,value,unit\nlatency,80,us\n", "is longer than any"),
    ("quantity,value,unit\nlatency,0.08,ns\n", "is shorter than any, 10 ns; was it us?"),
    ("quantity,value,unit,sigma\nlatency,80,ns,nan\n", "sigma"),
    ("quantity,value,unit,gap\nlatency,80,ns,20\n", 'gap: "20" has no unit'),
    ("rw,bs,iodepth,GB/s\nread,8m,64,13900\n", "more than all PCIe lanes can carry"),
    ("rw,bs,iodepth,MB/s\nread,8m,64,13.9\n", "is less than any drive moves"),
    ("rw,bs,iodepth,GB/s\nreed,8m,64,13\n", 'did you mean "read"?'),
    ("rw,bs,iodepth,GB/s\nread,0,64,13\n", "is not a size"),
    ("rw,bs,GB/s\nread,8m,13\n", "iodepth: missing"),
    (MLC.replace("135.30\t 39418.3", "135.30"), ":9: \"00002\t135.30\" is not a delay, a latency and a bandwidth"),
    (MLC.replace("135.30", "nan"), ":9: latency"),
    (MLC.replace("MB/sec", "GB/sec"), ":6: the bandwidths are in GB/sec; MLC prints MB/sec"),
    (MLC[: MLC.index(" 00000")], ":7: the output of MLC ends without a measurement; is it truncated?"),
    (MLC.replace("Read-only", "Stream-triad like"), ":4: the traffic"),
    ("{", "invalid JSON"),
    (json.dumps(FIO)[:-40], "is the file truncated?"),
    ("{}", 'it has no list "jobs"'),
    ('{"jobs": []}', 'it has no list "jobs"'),
    ('{"jobs": [{"job options": {"bs": "4k"}}]}', "jobs[0]: job options: rw is missing"),
    ('{"jobs": [{"job options": {"rw": "read"}, "read": {"bw_bytes": NaN}}]}', "read.bw_bytes is missing"),
    ('{"jobs": [{"job options": {"rw": "read"}, "read": {"bw_bytes": 0}}]}', "moved nothing"),
    ('{"jobs": [{"error": 5, "job options": {"rw": "read"}, "read": {"bw_bytes": 1}}]}', "fio reports error 5"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError) as error:
        read(tmp_path, text)
    assert message in str(error.value)
    assert str(tmp_path / "data.csv") in str(error.value)


def test_what_is_not_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "data.csv"
    for content, message in ((b"\xff\xfe\x00", "not UTF-8"), (b"cores,GB/s\n1,\0\n", "is not text")):
        file.write_bytes(content)
        with pytest.raises((ConfigError, DataError), match=message):
            read_data(str(file), SERVER)


def test_counters_become_measurements_by_littles_law() -> None:
    total = {
        "window_ns": 1e6,
        "lines_read": 200_000.0,
        "lines_written": 100_000.0,
        "lfb": {"occupancy": 24.0, "lines": 300_000.0},
        "iio_write": {"occupancy": 65.0, "lines": 200_000.0},
        "iio_read": {"occupancy": None, "lines": 5.0},
    }
    assert dict(quantities_of(total, Conditions(cores=2))) == pytest.approx({"bandwidth": 19.2, "lfb_latency": 80})
    assert dict(quantities_of(total, Conditions(rw="read"))) == pytest.approx({"iio_latency": 325})
    assert dict(quantities_of(total, Conditions(rw="write"))) == {}
    assert dict(quantities_of({**total, "lines_read": None, "lfb": None}, Conditions(cores=2))) == {}


@pytest.mark.parametrize(
    ("reads", "written", "notes"), [(1.0, 0.0, 0), (0.75, 50.0, 1), (0.67, 50.0, 0), (0.9, 5.0, 1), (1.0, None, 0)]
)
def test_reads_are_compared_with_the_lines_counted(reads: float, written: float | None, notes: int) -> None:
    assert len(compare_reads("perf.csv", reads, 100.0, written)) == notes


@pytest.mark.parametrize(("reads", "written"), [(1.0, 50.0), (0.5, 50.0), (0.8, 5.0), (0.67, 100.0)])
def test_reads_that_the_lines_counted_contradict_are_refused(reads: float, written: float) -> None:
    with raises_code("implausible-data | perf.csv", DataError):
        compare_reads("perf.csv", reads, 100.0, written)


def test_counters_contradict_the_reads_given(tmp_path: Path) -> None:
    row = "1.0,S0,8,{},,UNC_M_CAS_COUNT.{},1000000000,100.00,,\n"
    text = row.format(100_000_000, "RD") + row.format(50_000_000, "WR")
    (found,) = read(tmp_path, text, "@cores=4,reads=67")
    assert found.value == pytest.approx(9.6)
    with raises_code("implausible-data | 100 % | 66.7", DataError):
        read(tmp_path, text, "@cores=4")


def test_counters_need_conditions_or_a_reader(tmp_path: Path) -> None:
    with raises_code("missing-key", DataError):
        read(tmp_path, "1.0,S0,8,100,,UNC_M_CAS_COUNT.RD,1,100.00,,\n")


def test_conditions_for_a_whole_file(tmp_path: Path) -> None:
    text = "GB/s\n9.1\n"
    (found,) = read(tmp_path, text, "@cores=1,reads=67")
    assert (found.conditions.cores, found.conditions.reads) == (1, 0.67)
    for more, message in (
        ("@cores", "malformed-value | not name=value"),
        ("@cors=1", 'unknown-name | "cores"'),
        ("@cores=0", "malformed-file | missing"),
    ):
        with raises_code(message, DataError):
            read(tmp_path, text, more)


@given(st.text(max_size=300))
def test_no_text_is_too_odd(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "data.csv"
        file.write_text(text, encoding="utf-8", errors="replace")
        with suppress(DataError):
            check_plausible(read_data(str(file), SERVER).measurements, SERVER)


@given(st.integers(1, 10**9), st.sampled_from(["time", "bandwidth"]))
def test_quantities_are_written_exactly(value: int, kind: str) -> None:
    assert quantity_value(quantity_text(value, kind), kind) == pytest.approx(value, rel=1e-12)


def test_every_parameter_can_be_named() -> None:
    for path, schema in fittable():
        written = value_at_path(SERVER.effective, path)
        if written == "off":
            with raises_code('malformed-value | "off"'):
                parse_fit(path, SERVER)
            continue
        start = 0.0 if written is None else base_unit_value(written, kind_of(schema) or "")
        if start > 0:
            parameter = parse_fit(path, SERVER)
            assert parameter.low <= start <= parameter.high


@pytest.mark.parametrize(
    ("fit", "message"),
    [
        ("core.lfb.refil", 'did you mean "core.lfb.refill"?'),
        ("refill", 'did you mean "core.lfb.refill"?'),
        ("core.count", "cannot be fitted"),
        ("memory.device", "cannot be fitted"),
        ("xyzzy", "is not a parameter"),
        ("core.lfb.refill=5..9", '"5" is not a time'),
        ("core.lfb.refill=9 ns..5 ns", "below the second"),
        ("core.lfb.refill=9 ns", "are no bounds"),
        ("core.lfb.entries=0..9", "above 0"),
        ("core.lfb.entries=nan..9", "below the second"),
        ("core.lfb.entries=2..9000", "must lie within"),
        ("fio.dma_lines_per_page", "so the bounds must be given"),
    ],
)
def test_what_cannot_be_fitted_is_told(tmp_path: Path, fit: str, message: str) -> None:
    file = tmp_path / "stream.csv"
    file.write_text("cores,GB/s\n1,9\n")
    with pytest.raises(ConfigError) as error:
        calibrate(SERVER, [str(file)], [fit])
    assert message in str(error.value)
