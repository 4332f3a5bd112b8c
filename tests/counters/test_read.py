"""Files of real machines: aggregation, sockets, spellings, clocks, and missing counters."""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path

import pytest

from hostnet import counters
from tests.counters.support import (
    BASIC,
    CHA_TICKS,
    CHANNEL_TICKS,
    IRP_TICKS,
    SERVER,
    file,
    perf,
    read,
)
from tests.support import raises_code


def test_two_channels(tmp_path: Path) -> None:
    found = read(tmp_path, "# started on Sat Nov 21 13:44:29 2026\n\n", perf(*BASIC))
    assert (found.format, found.uarch, len(found.windows)) == ("perf", "cascade-lake", 1)
    assert found.windows[0] == found.total
    assert found.total["window_ns"] == 1e9
    assert found.total["channels"] == 2
    assert found.total["lines_read"] == 220_000_000
    assert found.total["rpq_occupancy"] == 3
    assert found.total["lines_written"] is None
    assert found.total["iio_write"] == {"occupancy": None, "lines": None}


def test_an_event_under_two_names_counts_once(tmp_path: Path) -> None:
    both = perf(*BASIC, "cycles=2000", "CPU_CLK_UNHALTED.THREAD=2001")
    found = read(tmp_path, both, both.replace("1.000000000", "2.000000000"))
    assert found.warnings == ["CPU_CLK_UNHALTED.THREAD is the same event as cycles, whose counts are taken"]
    assert found.total["lines_read"] == 440_000_000


@pytest.mark.parametrize("why", ["<not counted>", "<not supported>"])
@pytest.mark.parametrize("second_first", [False, True])
def test_the_second_name_of_an_event_counts_where_the_first_has_no_count(
    tmp_path: Path, why: str, second_first: bool
) -> None:
    channel = "UNC_M_CAS_COUNT.RD [uncore_imc_0]"
    named = perf("uncore_imc_0/cas_count_read/=100000000")
    none = perf(*BASIC).replace(perf(f"{channel}=100000000"), perf(f"{channel}={why}"))
    later = [none, named][:: -1 if second_first else 1]
    found = read(tmp_path, none, named, *(part.replace("1.000000000", "2.000000000", 10) for part in later))
    assert found.total["lines_read"] == 440_000_000
    (warning,) = found.warnings
    assert warning.endswith(f"is the same event as {channel}, and its counts are taken where {channel} has none")


def test_a_missing_event_is_named_with_what_it_is_needed_for(tmp_path: Path) -> None:
    found = read(tmp_path, perf(*BASIC))
    by_quantity = {missing.quantity: missing for missing in found.missing}
    assert "lines_read" not in by_quantity
    assert str(by_quantity["wpq_full_share"]) == (
        "UNC_M_WPQ_OCCUPANCY >=34 is missing: the write admission delay (P_fill) cannot be computed"
    )
    assert by_quantity["read_activations"].events == ("UNC_M_ACT_COUNT.RD", "UNC_M_ACT_COUNT.BYP")
    assert "the P2M-Write latency" in str(by_quantity["iio_write.occupancy"])


def test_occupancies_need_the_clock_of_the_channels(tmp_path: Path) -> None:
    rows = [row for row in BASIC if "CLOCKTICKS" not in row]
    found = read(tmp_path, perf(*rows))
    (missing,) = (missing for missing in found.missing if missing.quantity == "rpq_occupancy")
    assert str(missing).startswith("UNC_M_CLOCKTICKS is missing: ")
    assert found.total["rpq_occupancy"] is None
    assert read(tmp_path, perf(*rows), server=SERVER).total["rpq_occupancy"] == pytest.approx(3)


@pytest.mark.parametrize("separator", [",", ";", "|", "\t"])
def test_any_separator(tmp_path: Path, separator: str) -> None:
    text = perf(*BASIC).replace(",", separator)
    assert read(tmp_path, text).total == read(tmp_path, perf(*BASIC)).total


def test_order_blank_lines_comments_and_line_ends_do_not_matter(tmp_path: Path) -> None:
    expected = read(tmp_path, perf(*BASIC)).total
    lines = perf(*BASIC).splitlines(keepends=True)
    random.Random(1).shuffle(lines)
    assert read(tmp_path, "# a\n\n", *lines[:3], "\n# b\n", *lines[3:]).total == expected
    assert read(tmp_path, "\ufeff", "".join(lines).replace("\n", "\r\n")).total == expected
    assert read(tmp_path, "".join(lines).replace("1.0", "     1.0")).total == expected
    assert read(tmp_path, "".join(lines).rstrip("\n")).total == expected


def test_intervals_are_windows_and_the_total_is_their_sum(tmp_path: Path) -> None:
    more = [row.replace("=100000000", "=50000000") for row in BASIC]
    found = read(tmp_path, perf(*BASIC, stamp="1.000000000"), perf(*more, stamp="2.000000000"))
    assert [window["lines_read"] for window in found.windows] == [220_000_000, 170_000_000]
    assert found.total["lines_read"] == 390_000_000
    assert found.total["window_ns"] == 2e9
    assert found.total["rpq_occupancy"] == 3
    assert found.ends_ns == [1e9, 2e9]


def test_the_last_interval_may_be_shorter(tmp_path: Path) -> None:
    half = [f"{name}={int(count) // 2}" for name, _, count in (row.rpartition("=") for row in BASIC)]
    found = read(tmp_path, perf(*BASIC), perf(*half, stamp="1.500000000"))
    assert found.windows[1]["window_ns"] == 5e8
    assert found.total["rpq_occupancy"] == pytest.approx(3)


def test_unused_channels_do_not_thin_the_means(tmp_path: Path) -> None:
    idle = [
        row
        for unit in range(2, 6)
        for row in (
            f"UNC_M_CLOCKTICKS [uncore_imc_{unit}]={CHANNEL_TICKS}",
            f"UNC_M_CAS_COUNT.RD [uncore_imc_{unit}]=0",
        )
    ]
    idle += [f"UNC_M_RPQ_OCCUPANCY [uncore_imc_{unit}]=0" for unit in range(2, 6)]
    found = read(tmp_path, perf(*BASIC, *idle))
    assert found.total["channels"] == 2
    assert found.total["rpq_occupancy"] == 3


def test_sums_over_channels(tmp_path: Path) -> None:
    rows = [f"unc_m_clockticks={2 * CHANNEL_TICKS}", "unc_m_cas_count.rd=220000000", "unc_m_rpq_occupancy=8799000000"]
    for server in (None, SERVER):
        found = read(tmp_path, perf(*rows), server=server)
        assert found.total["channels"] == 2
        assert found.total["rpq_occupancy"] == 3
        assert not any("channels" in warning for warning in found.warnings)


def test_sums_that_hold_unused_channels_need_the_server(tmp_path: Path) -> None:
    rows = [f"unc_m_clockticks={6 * CHANNEL_TICKS}", "unc_m_cas_count.rd=220000000", "unc_m_rpq_occupancy=8799000000"]
    found = read(tmp_path, perf(*rows), server=SERVER)
    assert found.total["channels"] == 2
    assert found.total["rpq_occupancy"] == pytest.approx(3)
    assert any("3 times the server's channels" in warning for warning in found.warnings)


def test_a_number_of_channels_that_nobody_knows_is_missing(tmp_path: Path) -> None:
    rows = [f"unc_m_clockticks={4 * 1_600_000_000}", "unc_m_cas_count.rd=220000000"]
    found = read(tmp_path, perf(*rows))
    assert found.total["channels"] is None
    assert any(missing.quantity == "channels" and "no server is given" in str(missing) for missing in found.missing)


def sockets(first: int, second: int) -> str:
    rows = []
    for socket, count in ((0, first), (1, second)):
        rows += [f"1.000000000,S{socket},1,{CHANNEL_TICKS},,UNC_M_CLOCKTICKS [uncore_imc_0],1000000000,100.00,,\n"]
        rows += [f"1.000000000,S{socket},1,{count},,UNC_M_CAS_COUNT.RD [uncore_imc_0],1000000000,100.00,,\n"]
    return "".join(rows)


def test_the_busiest_socket_is_shown(tmp_path: Path) -> None:
    found = read(tmp_path, sockets(1_000_000, 90_000_000))
    assert (found.socket, found.total["lines_read"]) == ("1", 90_000_000)
    assert found.warnings == ["socket 1 is shown, the busiest of 2; --socket chooses another"]
    other = read(tmp_path, sockets(1_000_000, 90_000_000), socket=0)
    assert (other.socket, other.total["lines_read"], other.warnings) == ("0", 1_000_000, [])


def test_two_busy_sockets_are_ambiguous(tmp_path: Path) -> None:
    with raises_code("malformed-file | --socket"):
        read(tmp_path, sockets(80_000_000, 90_000_000))
    assert read(tmp_path, sockets(80_000_000, 90_000_000), socket=1).total["lines_read"] == 90_000_000


def test_a_socket_that_is_not_there(tmp_path: Path) -> None:
    with raises_code("does-not-exist | --socket 2"):
        read(tmp_path, sockets(1, 2), socket=2)
    with raises_code("malformed-file"):
        read(tmp_path, perf(*BASIC), socket=1)


def test_cpus_of_several_sockets_cannot_be_told_apart(tmp_path: Path) -> None:
    text = "".join(perf("UNC_M_CAS_COUNT.RD [uncore_imc_0]=5", group=f"CPU{cpu},") for cpu in (0, 28))
    with raises_code("malformed-file | --per-socket"):
        read(tmp_path, text)


def test_counts_of_single_cpus(tmp_path: Path) -> None:
    text = "".join(
        perf("l1d_pend_miss.pending=3300000000", "l1d.replacement=50000000", group=f"CPU{cpu},") for cpu in range(4)
    )
    text += perf(*BASIC, group="CPU0,")
    found = read(tmp_path, text)
    assert found.total["lfb"] == {"occupancy": pytest.approx(4), "lines": 200_000_000}
    assert found.total["channels"] == 2
    assert found.total["rpq_occupancy"] == 3
    assert found.busy_cores == 4
    idle = perf("l1d_pend_miss.pending=3300000", "l1d.replacement=5", group="CPU4,")
    assert read(tmp_path, text, idle).busy_cores == 4
    assert read(tmp_path, perf(*BASIC)).busy_cores is None


def test_the_clock_of_the_cores_follows_the_file(tmp_path: Path) -> None:
    rows = ["l1d_pend_miss.pending=3300000000", "l1d.replacement=50000000"]
    assert read(tmp_path, perf(*rows)).total["lfb"]["occupancy"] == pytest.approx(1)
    assert read(tmp_path, perf(*rows), core_hz=1.65e9).total["lfb"]["occupancy"] == pytest.approx(2)
    clocks = ["cycles=1500000000", "ref-cycles=1000000000"]
    assert read(tmp_path, perf(*rows, *clocks)).total["lfb"]["occupancy"] == pytest.approx(1 / 1.5)


def test_reads_of_cores_are_loads_and_stores(tmp_path: Path) -> None:
    rows = [f"UNC_CHA_CLOCKTICKS [uncore_cha_{unit}]={CHA_TICKS}" for unit in range(2)]
    for kind, entries in (("DRD", 10), ("RFO", 5)):
        rows += [f"UNC_CHA_TOR_OCCUPANCY.IA_MISS_{kind} [uncore_cha_{unit}]={entries * CHA_TICKS}" for unit in range(2)]
        rows += [f"UNC_CHA_TOR_INSERTS.IA_MISS_{kind} [uncore_cha_{unit}]={entries * 1000}" for unit in range(2)]
    found = read(tmp_path, perf(*rows))
    assert found.total["core_read"] == {"occupancy": 30, "lines": 30_000}
    loads = read(tmp_path, perf(*(row for row in rows if "RFO" not in row)))
    assert loads.total["core_read"] == {"occupancy": 20, "lines": 20_000}
    assert any("RFO is missing and taken as 0 in core_read.lines" in warning for warning in loads.warnings)


def test_devices_count_on_one_stack(tmp_path: Path) -> None:
    rows = [f"UNC_I_CLOCKTICKS [uncore_irp_{unit}]={IRP_TICKS}" for unit in range(6)]
    rows += [f"UNC_I_CACHE_TOTAL_OCCUPANCY.MEM [uncore_irp_{unit}]={70 * IRP_TICKS * (unit == 2)}" for unit in range(6)]
    rows += [f"UNC_I_COHERENT_OPS.PCITOM [uncore_irp_{unit}]={200_000_000 * (unit == 2)}" for unit in range(6)]
    assert read(tmp_path, perf(*rows)).total["iio_write"] == {"occupancy": 70, "lines": 200_000_000}


def test_mib_and_bytes_are_lines(tmp_path: Path) -> None:
    text = "1.000000000,1024.00,MiB,uncore_imc/cas_count_read/,1000000000,100.00,,\n"
    text += "1.000000000,6400,Bytes,LLC_MISSES.MEM_WRITE,1000000000,100.00,,\n"
    found = read(tmp_path, text)
    assert found.total["lines_read"] == 1024 * 1024 * 1024 / 64
    assert found.total["lines_written"] == 100


def test_encodings_that_hold_the_separator(tmp_path: Path) -> None:
    rows = [f"uncore_imc_{unit}/event=0x4,umask=0x3/={100 + unit}" for unit in range(2)]
    rows += [f"uncore_imc_{unit}/event=0x4,umask=0xc/={200 + unit}" for unit in range(2)]
    rows += [f"uncore_imc_{unit}/clockticks/={CHANNEL_TICKS}" for unit in range(2)]
    found = read(tmp_path, perf(*rows))
    assert (found.total["lines_read"], found.total["lines_written"]) == (201, 401)


def test_a_counter_that_did_not_run_is_missing(tmp_path: Path) -> None:
    text = perf(*BASIC) + "1.000000000,<not counted>,,UNC_M_CAS_COUNT.WR,0,100.00,,\n"
    text += "1.000000000,<not supported>,,UNC_M_PRE_COUNT.RD,0,100.00,,\n"
    found = read(tmp_path, text)
    reasons = {missing.quantity: missing.reason for missing in found.missing}
    assert reasons["lines_written"] == "was not counted"
    assert reasons["read_conflicts"] == "is not supported there"
    assert found.total["lines_read"] == 220_000_000


def test_a_counter_that_missed_one_interval_is_missing_in_the_total(tmp_path: Path) -> None:
    text = perf(*BASIC, "UNC_M_CAS_COUNT.WR=5")
    text += perf(*BASIC, stamp="2.000000000") + "2.000000000,<not counted>,,UNC_M_CAS_COUNT.WR,0,100.00,,\n"
    found = read(tmp_path, text)
    assert [window["lines_written"] for window in found.windows] == [5, None]
    assert found.total["lines_written"] is None


def test_counters_that_took_turns_are_warned_of(tmp_path: Path) -> None:
    text = perf(*BASIC).replace("100.00", "33.25")
    found = read(tmp_path, text)
    assert "UNC_M_RPQ_OCCUPANCY was counted 33 % of the time at least once; perf scaled it up" in found.warnings
    assert found.total == read(tmp_path, perf(*BASIC)).total


def test_a_threshold_of_the_users_own(tmp_path: Path) -> None:
    rows = [*BASIC, *(f"uncore_imc_{unit}/event=0x81,thresh=20/={CHANNEL_TICKS // 4}" for unit in range(2))]
    found = read(tmp_path, perf(*rows), server=SERVER)
    assert found.total["wpq_full_share"] == pytest.approx(0.25)
    assert found.thresholds == {"wpq": 20}
    assert "UNC_M_WPQ_OCCUPANCY >=20 stands for a full queue; the model's threshold is 34" in found.warnings
    both = [*rows, *(f"uncore_imc_{unit}/event=0x81,thresh=34/={CHANNEL_TICKS // 8}" for unit in range(2))]
    assert read(tmp_path, perf(*both)).total["wpq_full_share"] == pytest.approx(0.125)


def test_a_full_queue_stands_in_for_the_threshold(tmp_path: Path) -> None:
    rows = [*BASIC, *(f"UNC_M_WPQ_CYCLES_FULL [uncore_imc_{unit}]={CHANNEL_TICKS // 10}" for unit in range(2))]
    found = read(tmp_path, perf(*rows))
    assert found.total["wpq_full_share"] == pytest.approx(0.1)
    assert any("wpq_full_share comes from UNC_M_WPQ_CYCLES_FULL" in warning for warning in found.warnings)


def test_a_recording_without_intervals_has_its_length_from_an_event(tmp_path: Path) -> None:
    text = "".join(line.partition(",")[2] for line in perf(*BASIC).splitlines(keepends=True))
    with raises_code("malformed-file"):
        read(tmp_path, text)
    found = read(tmp_path, text + "1000000000,ns,duration_time,1000000000,100.00,,\n")
    assert found.total == read(tmp_path, perf(*BASIC)).total


SCALED = """\
1024.25,MiB,uncore_imc/cas_count_read/,6004000000,100.00,,
20.5,MiB,uncore_imc/cas_count_write/,6004000000,100.00,,
1000000000,ns,duration_time,1000000000,100.00,,
"""


@pytest.mark.parametrize("stamp", ["", "1.000000000,"])
@pytest.mark.parametrize("commas", [False, True])
def test_counts_in_mib_are_counts_and_no_times(tmp_path: Path, stamp: str, commas: bool) -> None:
    text = "".join(stamp + line for line in SCALED.splitlines(keepends=True))
    if commas:
        text = re.sub(r"(?<!1)\.(\d)", r",\1", text.replace(",", ";"))
    found = read(tmp_path, text, server=SERVER)
    assert (found.total["lines_read"], found.total["lines_written"]) == (1024.25 * 2**14, 20.5 * 2**14)
    assert found.total["window_ns"] == 1e9


def test_commas_of_both_kinds_are_refused(tmp_path: Path) -> None:
    for stamp in ("", "1.000000000,"):
        text = "".join(stamp + line for line in SCALED.replace(".", ",").splitlines(keepends=True))
        with raises_code("malformed-file"):
            read(tmp_path, text)


def test_ice_lake_has_events_of_its_own(tmp_path: Path) -> None:
    rows = ["UNC_M_CLOCKTICKS [uncore_imc_0]=1600000000", "UNC_M_CAS_COUNT.RD [uncore_imc_0]=1000"]
    rows += [f"UNC_M_RPQ_OCCUPANCY_PCH{half} [uncore_imc_0]={half * 1600000000}" for half in range(2)]
    found = read(tmp_path, perf(*rows))
    assert (found.uarch, found.total["rpq_occupancy"]) == ("ice-lake", 1)
    assert read(tmp_path, perf(*rows[:2]), uarch="ice-lake").uarch == "ice-lake"
    assert read(tmp_path, perf(*rows[:2]), server="ice-lake-8362").uarch == "ice-lake"


PCM = (
    ",,,SKT0CORE0,SKT0CORE0,SKT0CHAN0,SKT0CHAN1,SKT0CHAN0,SKT0CHAN1,\n"
    "Date,Time,ms,L1D_PEND_MISS.PENDING,L1D.REPLACEMENT,UNC_M_CAS_COUNT.RD,UNC_M_CAS_COUNT.RD,DRAMClocks,DRAMClocks,\n"
    f"2026-11-21,13:44:29.123,1000,3300000000,50000000,1000,2000,{CHANNEL_TICKS},{CHANNEL_TICKS},\n"
    f"2026-11-21,13:44:30.123,1000,3300000000,50000000,3000,4000,{CHANNEL_TICKS},{CHANNEL_TICKS},\n"
)


def test_pcm_raw(tmp_path: Path) -> None:
    found = read(tmp_path, PCM)
    assert (found.format, found.socket, len(found.windows)) == ("pcm", "0", 2)
    assert [window["lines_read"] for window in found.windows] == [3000, 7000]
    assert found.total["lfb"] == {"occupancy": pytest.approx(1), "lines": 100_000_000}
    assert (found.total["channels"], found.total["window_ns"]) == (2, 2e9)
    lines = PCM.splitlines(keepends=True)
    assert read(tmp_path, *lines[:3], *lines[:2], *lines[3:]).total == found.total, "pcm repeats its headers"


def test_a_configuration_says_what_the_server_is(tmp_path: Path) -> None:
    config = tmp_path / "server.toml"
    config.write_text(
        f'[server]\npreset = "{SERVER}"\n[memory]\nchannels = 3\n[workload.stream]\nkind = "stream"\ncores = "0"\n'
    )
    rows = [f"unc_m_clockticks={3 * CHANNEL_TICKS}", "unc_m_cas_count.rd=3"]
    assert read(tmp_path, perf(*rows), server=config).total["channels"] == 3
    with raises_code("unknown-name | cascade-lake-6235"):
        read(tmp_path, perf(*rows), server="cascade-lake-6235")


def calls_to_read(path: Path, windows: int) -> int:
    """Returns the number of function calls that reading a file with this many windows of 40 units takes."""
    units = 40
    names = [f"UNC_M_CAS_COUNT.RD [uncore_imc_{unit}]" for unit in range(units)]
    tails = [f",1000,,{name},1000000000,100.00,,\n" for name in names]
    with path.open("w") as out:
        for second in range(1, windows + 1):
            out.writelines(f"{second}.000000000{tail}" for tail in tails)
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    found = counters.read(path)
    sys.setprofile(None)
    assert len(found.windows) == windows
    assert found.total["lines_read"] == 1000 * units * windows
    return calls


def test_twice_as_many_lines_are_twice_the_work(tmp_path: Path) -> None:
    few, many = (calls_to_read(tmp_path / "counters.csv", windows) for windows in (500, 1000))
    assert many < 2.05 * few
    assert many < 100 * 40 * 1000, "calls for a line"


def test_the_file_is_named(tmp_path: Path) -> None:
    path = file(tmp_path, perf(*BASIC))
    assert counters.read(str(path)).path == str(path)
