"""Any file is read, or refused with its name, a line and a reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hostnet import ConfigError, counters
from tests.counters.support import BASIC, CHANNEL_TICKS, SERVER, file, perf, read
from tests.counters.test_read import PCM
from tests.support import raises_code

LINES = perf(*BASIC).splitlines(keepends=True)
ROW = "1.000000000,{},,UNC_M_CAS_COUNT.WR,1000000000,100.00,,\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n \r\n\t\n", "is empty"),
        (b"# started on Sat Nov 21 13:44:29 2026\n\n", "is no file of counters"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "no file of counters but a PNG image"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", "a JPEG image"),
        (b"%PDF-1.7\n", "a PDF document"),
        (b"PK\x03\x04\x14\x00", "a zip archive"),
        (b"\x1f\x8b\x08\x00", "compressed with gzip"),
        (b"PAR1\x15\x04", "a Parquet file"),
        (b"PERFILE2h\x00", "recorded with perf record"),
        (b"\xff\xfe1\x00.\x00", "UTF-16"),
        (b"1.0,\x00\x00\x01", "is no text"),
        (b"1.000000000,5,,cycles,5,100.00,,\n\xc3\x28", "is not UTF-8 text"),
        (b"<!DOCTYPE html><html></html>", "HTML or XML"),
        (b"  <html>\n", "HTML or XML"),
        (b'{"interval" : 1.0, "counter-value" : "5"}\n', "but JSON"),
        (b"[\n  {}\n]", "but JSON"),
        (b"hello world\n", ":1: is no file of counters"),
        (b"# a comment\nhello\n", ":2: is no file of counters"),
        (b"1.000123456      12,345,678      cycles\n", "expected is what"),
        (b"name,value\na,1\n", "is no file of counters"),
        (b"time,value\n1.0,5\n", "is no file of counters"),
        (b"1.000000000,5,,cycles:u\n", "has no counter|1"),
        (b"1.000000000,5,,instructions,5,100.00,,\n", "has no counter that tells about the host network"),
    ],
)
def test_foreign_files(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "counters.csv"
    path.write_bytes(content)
    if message.endswith("|1"):
        assert counters.read(path).total["lines_read"] is None
        return
    with pytest.raises(ConfigError, match=message) as caught:
        counters.read(path)
    assert str(caught.value).startswith(f"{path}:")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (perf(*BASIC, "UNC_M_CAS_COUNT.WRR=5"), 7, "malformed-file | UNC_M_CAS_COUNT.WR"),
        (perf(*BASIC) + ROW.format("nan"), 7, 'malformed-file | "nan" | UNC_M_CAS_COUNT.WR'),
        (perf(*BASIC) + ROW.format("inf"), 7, 'malformed-file | "inf"'),
        (perf(*BASIC) + ROW.format("-5"), 7, 'malformed-file | "-5"'),
        (perf(*BASIC) + ROW.format("abc"), 7, 'malformed-file | "abc"'),
        (perf(*BASIC) + ROW.format(""), 7, "malformed-file | is missing"),
        (perf(*BASIC) + ROW.format("12.5"), 7, "malformed-file"),
        (perf(*BASIC) + ROW.format("9" * 30), 7, "malformed-file"),
        (perf(*BASIC) + ROW.format("9" * 6000), 7, "malformed-file"),
        (
            perf(*BASIC) + ROW.format("5").replace(",,UNC", ",MiB,UNC").replace("WR", "RDD"),
            7,
            "malformed-file | no event",
        ),
        (perf(*BASIC) + "1.000000000,5,MiB,UNC_M_ACT_COUNT.RD,5,100.00,,\n", 7, 'malformed-file | "MiB"'),
        (perf(*BASIC) + "1.000000000,5,furlongs,UNC_M_CAS_COUNT.WR,5,100.00,,\n", 7, 'malformed-file | "furlongs"'),
        (perf(*BASIC) + LINES[2], 7, "malformed-file | UNC_M_CAS_COUNT.RD | 1.000000000"),
        (perf(*BASIC, "cycles:u=5", "cycles:k=6"), 8, "malformed-file"),
        (perf(*BASIC, "cycles=5", "cpu/cycles/k=6"), 8, "malformed-file"),
        (perf(*BASIC, *["CPU_CLK_UNHALTED.THREAD=6"] * 2, "cycles=5"), 8, "malformed-file | stands twice at"),
        (perf(*BASIC, "cycles=5", *["CPU_CLK_UNHALTED.THREAD=6"] * 2), 9, "malformed-file | stands twice at"),
        (perf(*BASIC, stamp="2.0") + perf(*BASIC, stamp="1.5"), 7, "malformed-file | 2.0 | 1.5"),
        (perf(*BASIC) + perf(*BASIC[:-1], stamp="2.0"), 7, "malformed-file"),
        (perf(*BASIC[:-1]) + perf(*BASIC, stamp="2.0"), 6, "malformed-file"),
        (
            perf(*BASIC) + perf(*BASIC, stamp="2.0") + perf(*BASIC, stamp="4.0") + perf(*BASIC, stamp="5.0"),
            13,
            "malformed-file",
        ),
        (perf(*BASIC) + "2.000000000,5,,UNC", 7, "malformed-file"),
        (perf(*BASIC) + "2.000000000,5", 7, "malformed-file"),
        (perf(*BASIC) + "2.000000000,5\n" + perf(*BASIC, stamp="3.0"), 7, "malformed-file"),
        (perf(*BASIC) + "x.000000000,5,,UNC_M_CAS_COUNT.WR,5,100.00,,\n", 7, "malformed-file | is no time"),
        (perf(*BASIC) + ROW.format("5").replace("100.00", "120"), 7, "malformed-file | 120"),
        (perf(*BASIC) + ROW.format("5").replace("100.00", "much"), 7, 'malformed-file | "much"'),
        (perf(*BASIC, stamp="0.000000000"), 1, "malformed-file"),
        (perf(*BASIC, stamp="1000.000000000"), 1, "implausible-data"),
        (perf(*BASIC, "UNC_M_CAS_COUNT.WR [uncore_imc_0]=64000000000"), 1, "implausible-data | 46.93"),
        (perf("UNC_M_CAS_COUNT.WR=64000000000"), 1, "implausible-data | 819.2"),
        (perf("UNC_M_CLOCKTICKS=2933000", "UNC_M_CAS_COUNT.WR=5"), 1, "implausible-data | 2.933"),
        (perf("UNC_M_CLOCKTICKS=2933000000000000", "UNC_M_CAS_COUNT.WR=5"), 1, "implausible-data"),
        (perf(*BASIC, f"UNC_M_WPQ_OCCUPANCY={2000 * CHANNEL_TICKS}"), 1, "implausible-data | 1000"),
        (perf(*BASIC, f"UNC_M_WPQ_OCCUPANCY.T34={3 * CHANNEL_TICKS}"), 1, "implausible-data | 1.5"),
    ],
)
def test_wrong_lines(tmp_path: Path, text: str, line: int, message: str) -> None:
    path = file(tmp_path, text)
    with raises_code(message) as caught:
        counters.read(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")


def test_a_bandwidth_that_the_server_cannot_have(tmp_path: Path) -> None:
    rows = [row for row in BASIC if "CLOCKTICKS" not in row]
    text = perf(*rows, "UNC_M_CAS_COUNT.WR=1000000000")
    assert read(tmp_path, text).total["lines_written"] == 1e9, "without clocks and server nobody can tell"
    with raises_code("implausible-data | 46.93"):
        read(tmp_path, text, server=SERVER)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "\n Performance counter stats for 'system wide':\n\n 3,300 cycles\n",
            "malformed-file",
        ),
        ("2021-09-27,00:07:40.507,UNC_M_CAS_COUNT.RD,1000,2102,37,33\n", "malformed-file"),
        (
            "Date,Time,Socket,Name,Part,IB write,IB read\n2026-11-21,13:44:29,Socket0,IIO\n",
            "malformed-file | written by pcm-iio",
        ),
    ],
)
def test_tables_without_counts_say_how_to_get_them(tmp_path: Path, text: str, message: str) -> None:
    with raises_code(message):
        counters.read(file(tmp_path, text))


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("UNC_M_CAS_COUNT.RD,UNC", "UNC_M_CAS_COUNT.RDD,UNC", 2, "malformed-file | UNC_M_CAS_COUNT.RD"),
        ("SKT0CHAN1,SKT0CHAN0", "SKT0CHAN0,SKT0CHAN0", 2, "malformed-file | UNC_M_CAS_COUNT.RD | 0"),
        ("SKT0CORE0,SKT0CORE0,SKT0CHAN0", "SKT0CORE0,what,SKT0CHAN0", 2, 'malformed-file | "what" | "L1D.REPLACEMENT"'),
        ("SKT0CORE0,SKT0CHAN0", "SKT0C0,SKT0CHAN0", 2, "malformed-file | L1D.REPLACEMENT"),
        (",SKT0CHAN1,\n", ",\n", 2, "malformed-file | 10"),
        ("Date,Time,ms,L1D", "Date,Time,sec,L1D", 2, "malformed-file"),
        ("13:44:30.123", "13:44:29.123", 4, "malformed-file | the time stands twice"),
        ("13:44:30.123", "13:44:28.123", 4, "malformed-file | the time goes back"),
        ("13:44:30.123", "25:44:28.123", 4, "malformed-file"),
        ("2026-11-21,13:44:30", "yesterday,13:44:30", 4, "malformed-file"),
        (",1000,3300000000,50000000,3000,", ",5000,3300000000,50000000,3000,", 4, "malformed-file | mixed intervals"),
        (",1000,3300000000,50000000,3000,", ",soon,3300000000,50000000,3000,", 4, "malformed-file"),
        (",50000000,3000,", ",50000000,-3000,", 4, "malformed-file | is negative"),
        (",50000000,3000,", ",50000000,nan,", 4, "malformed-file | is no number"),
        (",50000000,3000,", ",50000000,0.5,", 4, "malformed-file | no whole number"),
        (",50000000,3000,4000,", ",50000000,3000,", 4, "malformed-file | 10"),
        (",,,SKT0CORE0", "Date,Time,ms\n,,,SKT0CORE0", 1, "malformed-file | must come before"),
        ("UNC_M_CAS_COUNT.RD,UNC_M_CAS_COUNT.RD", "Ch0Read,Ch1Read", 2, "malformed-file | written by pcm-memory"),
    ],
)
def test_wrong_lines_of_pcm(tmp_path: Path, old: str, new: str, line: int, message: str) -> None:
    assert old in PCM
    path = file(tmp_path, PCM.replace(old, new, 1))
    with raises_code(message) as caught:
        counters.read(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")


def test_pcm_that_is_cut_off(tmp_path: Path) -> None:
    whole = PCM.rstrip("\n")
    with raises_code("malformed-file"):
        read(tmp_path, whole[: whole.rindex(",50000000")])
    with raises_code("malformed-file"):
        read(tmp_path, "".join(PCM.splitlines(keepends=True)[:2]))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        counters.read(tmp_path / "none.csv")
    with pytest.raises(IsADirectoryError):
        counters.read(tmp_path)


def test_a_list_of_events_that_is_not_there(tmp_path: Path) -> None:
    with raises_code('unknown-name | "ice-lake"'):
        read(tmp_path, perf(*BASIC), uarch="icelake")


def survives(folder: Path, content: bytes) -> None:
    path = folder / "fuzz.csv"
    path.write_bytes(content)
    for server in (None, SERVER):
        message = ""
        try:
            found = counters.read(path, server)
            json.dumps([found.total, found.windows], allow_nan=False)
        except ConfigError as error:
            message = str(error)
        assert not message or message.startswith(str(path)), "the message says in which file"
        assert "\n" not in message


VALID = [
    perf(*BASIC) + perf(*BASIC, stamp="2.000000000"),
    "".join(perf(*BASIC, stamp=f"{second}.5", group="S0,2,") for second in range(1, 4)),
    perf(*BASIC, group="CPU0,") + perf("l1d_pend_miss.pending=5", "cycles=4", "ref-cycles=4", group="CPU3,"),
    PCM,
]

fuzzed = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@given(content=st.binary(max_size=200))
@fuzzed
def test_any_bytes(tmp_path: Path, content: bytes) -> None:
    survives(tmp_path, content)


@given(content=st.text(st.sampled_from('0123456789.,;S-CPU/=[]_ \n<>#nadte\t"ABCMR'), max_size=200))
@fuzzed
def test_any_text_of_the_right_characters(tmp_path: Path, content: str) -> None:
    survives(tmp_path, content.encode())


@given(data=st.data(), valid=st.sampled_from(VALID))
@fuzzed
def test_files_with_a_few_changes(tmp_path: Path, data: st.DataObject, valid: str) -> None:
    content = valid
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(content)))
        end = min(len(content), start + data.draw(st.sampled_from([0, 1, 2, 7, 40])))
        new = data.draw(
            st.sampled_from(["", ",", "0", "-", "e9", "\n", "nan", "S1,", "/", "1e308", "9" * 25, "é", "."])
        )
        content = content[:start] + new + content[end:]
    survives(tmp_path, content.encode())


@given(data=st.data(), valid=st.sampled_from(VALID))
@fuzzed
def test_lines_in_disorder(tmp_path: Path, data: st.DataObject, valid: str) -> None:
    lines = valid.splitlines(keepends=True)
    survives(tmp_path, "".join(data.draw(st.lists(st.sampled_from(lines), max_size=30))).encode())


@pytest.mark.parametrize("valid", VALID)
def test_every_beginning_of_a_file(tmp_path: Path, valid: str) -> None:
    for end in range(1, len(valid), 3):
        survives(tmp_path, valid[:end].encode())
