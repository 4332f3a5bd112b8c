"""Output of MLC and STREAM as printed: its cores, sockets and bytes are used, or refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from hostnet.calibration import DataError
from hostnet.calibration.plausible import check_plausible
from hostnet.calibration.readers import read_data
from hostnet.calibration.readers.data_file import ParsedData
from hostnet.presets import load_server
from tests.support import raises_code

SERVER = load_server("cascade-lake-6234")
"""Eight cores, 46.9 GB/s."""

BANNER = "Intel(R) Memory Latency Checker - v3.11b\n"
LOADED = """\
Measuring Loaded Latencies for the system
Using Read-only traffic type
Inject\tLatency\tBandwidth
Delay\t(ns)\tMB/sec
==========================
 00000\t 92.00\t25000.0
"""
TWO_NODES = """\
Measuring idle latencies for {} access (in ns)...
\t\tNuma node
Numa node\t     0\t     1
       0\t  82.2\t 129.6
       1\t 131.1\t  81.6

"""
PEAKS = """\
Measuring Peak Injection Memory Bandwidths for the system
Using traffic with the following read-write ratios
ALL Reads        :\t{}
3:1 Reads-Writes :\t38000.0

"""


def read(folder: Path, text: str, given: str = "") -> ParsedData:
    file = folder / "out.txt"
    file.write_text(text)
    found = read_data(f"{file}{given}", SERVER)
    check_plausible(found.measurements, SERVER)
    return found


def command(options: str) -> str:
    return f"$ sudo ./mlc {options}\n{BANNER}Command line parameters: {options}\n\n"


@pytest.mark.parametrize(
    ("options", "cores"), [("-k1-3", 3), ("-k1,3,5-6", 4), ("-k2", 1), ("-k0-0,1", 2), ("-R -d0", 7), ("-k1-3 -X", 3)]
)
def test_the_cores_of_the_command_make_the_load(tmp_path: Path, options: str, cores: int) -> None:
    found = read(tmp_path, command(f"--loaded_latency {options}") + LOADED)
    assert {one.conditions.cores for one in found.measurements} == {cores}
    peaks = read(tmp_path, command(f"--peak_injection_bandwidth {options}") + PEAKS.format("40000.0"))
    assert {one.conditions.cores for one in peaks.measurements} == {cores if "-k" in options else 8}


def test_each_command_has_options_of_its_own(tmp_path: Path) -> None:
    found = read(tmp_path, command("--loaded_latency -k1-3 -r") + LOADED + command("--loaded_latency -U") + LOADED)
    assert [one.conditions.cores for one in found.measurements] == [3, 3, 7, 7]
    assert ["@probe=random" in note for note in found.notes] == [True, False]
    assert ["@pattern=random" in note for note in found.notes] == [False, True]


@pytest.mark.parametrize("options", ["-k1-", "-kall", "-k3-1", "-k1-99999", "-ofile.txt", "-j3"])
def test_commands_that_do_not_tell_the_load_are_refused(tmp_path: Path, options: str) -> None:
    with raises_code(f"malformed-file | {options.partition('f')[0]} | out.txt:3", DataError):
        read(tmp_path, command(f"--loaded_latency {options}") + LOADED)


def test_numbers_of_all_sockets_are_not_those_of_one(tmp_path: Path) -> None:
    whole = BANNER + TWO_NODES.format("sequential") + PEAKS.format("69143.9") + LOADED.replace("25000", "69057")
    found = read(tmp_path, whole)
    assert [(one.quantity, one.value) for one in found.measurements] == [("latency", 82.2)]
    (note,) = found.notes
    assert "3 rows are left out: they cover the cores of all 2 nodes" in note
    assert "-k1-7" in note
    assert len(read(tmp_path, BANNER + TWO_NODES.format("random") + command("-k1-3") + LOADED).measurements) == 3
    assert len(read(tmp_path, BANNER + TWO_NODES.format("random") + LOADED, "@cores=4").measurements) == 3
    between = TWO_NODES.format("x").replace("Measuring idle latencies", "Measuring Memory Bandwidths between nodes")
    between = between.replace("82.2", "41000")
    (own,) = read(tmp_path, BANNER + between + PEAKS.format("82000.0")).measurements
    assert (own.quantity, own.value, own.conditions.cores) == ("bandwidth", 41.0, 8)


def test_one_socket_with_memory_behind_a_link_is_one_socket(tmp_path: Path) -> None:
    one = "".join(line for line in TWO_NODES.splitlines(keepends=True) if "131.1" not in line)
    found = read(tmp_path, BANNER + one.format("random") + PEAKS.format("40000.0"))
    assert [value.value for value in found.measurements] == [82.2, 40, 38]


def test_prefetchers_that_were_on_are_said(tmp_path: Path) -> None:
    lines = "* Unable to modify prefetchers (try executing 'modprobe msr')\n"
    lines += "* So, enabling random access for latency measurements\n"
    found = read(tmp_path, command("--loaded_latency") + lines + LOADED)
    assert "the prefetchers were on" in found.notes[0]
    assert "-e leaves the prefetchers on" in read(tmp_path, command("--loaded_latency -e") + LOADED).notes[0]


def test_a_bandwidth_of_several_sockets_is_no_mistaken_unit(tmp_path: Path) -> None:
    with raises_code("implausible-data", DataError):
        read(tmp_path, LOADED.replace("25000", "69057"))


STREAM = """\
-------------------------------------------------------------
STREAM version $Revision: 5.10 $
-------------------------------------------------------------
This system uses 8 bytes per array element.
Array size = 100000000 (elements), Offset = 0 (elements)
Number of Threads requested = 4
Number of Threads counted = 4
-------------------------------------------------------------
Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:           25600.0     0.062566     0.062475     0.062653
Scale:          24600.0     0.064910     0.064803     0.065015
Add:            27300.0     0.088012     0.087911     0.088120
Triad:          27330.0     0.087930     0.087813     0.088046
-------------------------------------------------------------
Solution Validates: avg error less than 1.000000e-13 on all three arrays
"""


def test_stream_moves_more_than_it_counts(tmp_path: Path) -> None:
    found = read(tmp_path, STREAM).measurements
    assert [one.value for one in found] == pytest.approx([38.4, 36.9, 36.4, 36.44])
    assert [round(one.conditions.reads, 3) for one in found] == [0.667, 0.667, 0.75, 0.75]
    assert {one.conditions.cores for one in found} == {4}
    table = "cores,kernel,MB/s\n4,copy,25600\n4,scale,24600\n4,add,27300\n4,triad,27330\n"
    same = read(tmp_path, table).measurements
    assert [(one.value, one.conditions) for one in same] == [(one.value, one.conditions) for one in found]


def test_each_run_of_stream_has_its_threads(tmp_path: Path) -> None:
    slow = STREAM.replace("= 4\n", "= 1\n").replace(" 27330.0", "  7330.0")
    without = "\n".join(line for line in slow.splitlines() if "Threads" not in line)
    for alone in (slow, without):
        found = read(tmp_path, f"{alone}\n{STREAM}", "@kernel=triad").measurements
        assert [(one.conditions.cores, round(one.value, 2)) for one in found] == [(1, 9.77), (4, 36.44)]
    with raises_code("too-many-cores | 16", DataError):
        read(tmp_path, STREAM.replace("= 4\n", "= 16\n"))
    assert {
        one.conditions.cores for one in read(tmp_path, STREAM.replace("= 4\n", "= 16\n"), "@cores=8").measurements
    } == {8}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Solution Validates", "Failed Validation on array a[]", "malformed-file | 15"),
        ("25600.0", "inf", "malformed-file | 10"),
        ("25600.0", "fast", "malformed-file | 10"),
        (STREAM[STREAM.index("Copy:") :], "", "malformed-file"),
    ],
)
def test_damaged_output_of_stream_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    with raises_code(message, DataError):
        read(tmp_path, STREAM.replace(old, new))


def test_what_stream_says_of_its_stores_and_arrays_is_noted(tmp_path: Path) -> None:
    found = read(tmp_path, STREAM.replace("25600.0", "37000.0").replace("= 100000000", "= 1000000"))
    assert len(found.measurements) == 3
    assert "arrays of 7.629 MiB may partly fit in the caches" in found.notes[0]
    assert "Copy is left out: it is 1.50 times as fast as Scale" in found.notes[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3;fio-3.36;job;0;0;1;2;3\n", "fio's terse output"),
        ("a: (g=0): rw=read, bs=4k\nfio-3.36\n", "is fio's normal output"),
        ("BabelStream\nVersion: 5.0\n", "output of BabelStream"),
        ("2021-09-27,00:07:40.507,UNC_M_CAS_COUNT.RD,1000,21,37,33\n", "pcm-raw -tr, whose rows lack"),
        ("Date,Time,Socket,Name,Part,IB write,IB read\n2026-11-21,13:44:29,Socket0,IIO\n", "written by pcm-iio"),
        ("|-- Mem Ch  0: Reads (MB/s): 12.1 --|\n", "table of pcm-memory"),
    ],
)
def test_other_output_of_the_tools_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(Exception, match=message):
        read(tmp_path, text)
