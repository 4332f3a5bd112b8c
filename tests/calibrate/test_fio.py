"""Results of fio: every field that describes the measurement is used, or refused by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostnet.calibration import DataError
from hostnet.calibration.measurement import Conditions
from hostnet.calibration.readers import read_data
from hostnet.calibration.readers.data_file import ParsedData
from hostnet.calibration.readers.fio_options import HARMLESS, REFUSED, USED
from hostnet.calibration.scenario import workloads_of
from hostnet.presets import load_server
from tests.support import raises_code

SERVER = load_server("cascade-lake-6234")
"""A server with four drives."""

BASIC = {"rw": "randread", "bs": "4k", "ioengine": "libaio", "direct": "1", "filename": "/dev/nvme0n1"}


def job(group: Any = 0, more: Any = None, **options: Any) -> dict[str, Any]:
    """Returns an entry of the results for a job that reads."""
    part = {"bw_bytes": 10**9}
    told = {**BASIC, **options}
    return {"jobname": "j", "groupid": group, "error": 0, "job options": told, "read": part, **(more or {})}


def text_of(*jobs: dict[str, Any], **more: Any) -> str:
    return json.dumps({"fio version": "fio-3.36", "jobs": jobs, **more}, indent=1)


def read(folder: Path, text: str, given: str = "") -> ParsedData:
    file = folder / "fio.json"
    file.write_text(text)
    return read_data(f"{file}{given}", SERVER)


def shape(folder: Path, *jobs: dict[str, Any], given: Any = "", **more: Any) -> tuple[int, int, int]:
    """Returns queue depth, jobs per drive, and drives of the only measurement."""
    (found,) = read(folder, text_of(*jobs, **more), given).measurements
    conditions = found.conditions
    return conditions.iodepth, conditions.numjobs, conditions.drives or SERVER.drives


def test_every_job_counts_however_it_is_reported(tmp_path: Path) -> None:
    grouped = {"numjobs": "8", "group_reporting": "1", "iodepth": "2"}
    assert shape(tmp_path, job(**grouped)) == (2, 8, 1)
    assert shape(tmp_path, *[job(numjobs="8", iodepth="2")] * 8) == (2, 8, 1)
    assert shape(tmp_path, job(iodepth="2"), **{"global options": {"numjobs": "8", "group_reporting": ""}}) == (2, 8, 1)
    assert shape(tmp_path, job(iodepth="2"), given="@numjobs=8") == (2, 8, 1)
    with raises_code("malformed-file", DataError):
        read(tmp_path, text_of(*[job(numjobs="8")] * 3))


def test_drives_share_the_commands_of_their_jobs(tmp_path: Path) -> None:
    two = "/dev/nvme0n1:/dev/nvme1n1p2"
    assert shape(tmp_path, job(iodepth="32", filename=two)) == (16, 1, 2)
    assert shape(tmp_path, job(iodepth="32"), job(iodepth="32", filename="/dev/nvme1n1")) == (32, 1, 2)
    assert shape(tmp_path, job(iodepth="8", filename="/dev/nvme0n1p1:/dev/nvme0n1p2")) == (8, 1, 1)
    assert shape(tmp_path, job(filename=two, numjobs="4", group_reporting="1")) == (1, 2, 2)
    assert shape(tmp_path, job(filename="/mnt/file", iodepth="32"), given="@drives=4") == (8, 1, 4)
    by_name: dict[str, Any] = {**job(iodepth="2"), "jobname": "/dev/nvme8n13"}
    del by_name["job options"]["filename"]
    assert shape(tmp_path, by_name) == (2, 1, 1)
    seen = [{"name": f"nvme{number}n1", "read_ios": 9} for number in range(2)]
    assert shape(tmp_path, job(filename="/mnt/file", iodepth="32"), disk_util=seen) == (16, 1, 2)
    with raises_code('malformed-file | "/mnt/file"', DataError):
        read(tmp_path, text_of(job(filename="/mnt/file")))
    with raises_code("malformed-file", DataError):
        read(tmp_path, text_of(job(iodepth="3", filename=two)))
    with raises_code("malformed-file | different loads", DataError):
        read(tmp_path, text_of(job(filename=two, iodepth="2"), job(iodepth="2")))


@given(
    jobs=st.integers(1, 6),
    depth=st.integers(1, 64),
    drives=st.integers(1, 4),
    grouped=st.booleans(),
    alone=st.booleans(),
)
def test_no_command_in_flight_is_lost(
    tmp_path_factory: pytest.TempPathFactory, jobs: int, depth: int, drives: int, grouped: bool, alone: bool
) -> None:
    names = [f"/dev/nvme{drive}n1" for drive in range(drives)]
    each = [[name] for name in names] if alone else [names]
    options = {"iodepth": str(depth), "numjobs": str(jobs)} | ({"group_reporting": "1"} if grouped else {})
    entries = [job(filename=":".join(one), **options) for one in each for _ in range(1 if grouped else jobs)]
    total = jobs * depth * len(each)
    if total % drives:
        with raises_code("malformed-file | not spread evenly", DataError):
            shape(tmp_path_factory.getbasetemp(), *entries)
        return
    got = shape(tmp_path_factory.getbasetemp(), *entries)
    assert got[0] * got[1] * got[2] == total


def test_groups_one_after_the_other_are_measurements_of_their_own(tmp_path: Path) -> None:
    after = {"stonewall": ""}
    found = read(tmp_path, text_of(job(0), job(1, **after), job(1, **after), job(2, bs="128k", **after)))
    assert [(one.value, one.conditions.numjobs, one.conditions.bs) for one in found.measurements] == [
        (1, 1, 4096),
        (2, 2, 4096),
        (1, 1, 131072),
    ]
    assert shape(tmp_path, job(0), job(1, new_group="1")) == (1, 2, 1)
    with raises_code("malformed-file | stonewall", DataError):
        read(tmp_path, text_of(job(0), job(1)))


def test_jobs_that_ran_together_must_be_alike(tmp_path: Path) -> None:
    with raises_code("malformed-file | 64 KiB", DataError):
        read(tmp_path, text_of(job(), job(bs="64k")))
    times = [{"read": {"bw_bytes": 10**9, "runtime": time}} for time in (5_000, 30_000)]
    with raises_code("malformed-file | 30 s", DataError):
        read(tmp_path, text_of(*(job(more=time) for time in times)))


@pytest.mark.parametrize(
    ("engine", "depth"), [("psync", 1), ("pvsync2", 1), ("sync", 1), ("libaio", 32), ("io_uring", 32)]
)
def test_the_engine_decides_whether_iodepth_holds(tmp_path: Path, engine: str, depth: int) -> None:
    assert shape(tmp_path, job(iodepth="32", ioengine=engine))[0] == depth
    at_one = {"iodepth_level": {"1": 100.0, "32": 0.0}}
    if depth == 1:
        assert shape(tmp_path, job(more=at_one, iodepth="32", ioengine=engine))[0] == 1
        return
    with raises_code("malformed-file | 32", DataError):
        read(tmp_path, text_of(job(more=at_one, iodepth="32", ioengine=engine)))
    assert shape(tmp_path, job(more=at_one, iodepth="32", ioengine=engine), given="@iodepth=4")[0] == 4


def test_without_an_engine_the_depths_that_fio_saw_hold(tmp_path: Path) -> None:
    asked: dict[str, Any] = job(iodepth="32")
    del asked["job options"]["ioengine"]
    assert shape(tmp_path, {**asked, "iodepth_level": {"1": 100.0}})[0] == 1
    assert shape(tmp_path, {**asked, "iodepth_level": {"16": 0.1, "32": 99.9}})[0] == 32
    assert any("no ioengine given" in note for note in read(tmp_path, text_of(asked)).notes)


OTHERS = {"ioengine": "null", "direct": "0", "buffered": "1", "kb_base": "1000", "zonemode": "zbd", "sync": "dsync"}


@pytest.mark.parametrize("name", [*REFUSED, *OTHERS, "ioengine mmap"])
def test_what_changes_what_was_measured_is_refused_by_name(tmp_path: Path, name: str) -> None:
    option, _, value = name.partition(" ")
    with raises_code(f"malformed-file | {option} | fio.json", DataError):
        read(tmp_path, text_of(job(**{option: value or OTHERS.get(option, "8")})))


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_values_that_change_nothing_are_taken(tmp_path: Path, name: str) -> None:
    assert shape(tmp_path, job(**{name: "0"})) == (1, 1, 1)


def test_every_option_is_in_one_class_and_others_are_named(tmp_path: Path) -> None:
    assert not USED & HARMLESS
    assert not (USED | HARMLESS) & REFUSED.keys()
    found = read(tmp_path, text_of(job(colour="red", runtime="30", norandommap="1")))
    (note,) = found.notes
    assert note.endswith("not taken into account: colour")


@pytest.mark.parametrize(
    ("part", "options", "message"),
    [
        ({"io_bytes": 40_960_000, "total_ios": 5_000}, {}, "bs=4 KiB, but a read moved 8192 B on average"),
        ({"iops": 100_000.0, "lat_ns": {"mean": 80_000.0}}, {"iodepth": "1"}, "iops x lat_ns.mean = 8 commands"),
        ({"iops": 100_000.0, "lat_ns": {"mean": 80_000.0}}, {"iodepth": "64"}, "iops x lat_ns.mean = 8 commands"),
        ({}, {"rw": "randwrite"}, "rw=randwrite, but read.bw_bytes is above 0"),
        ({"total_ios": 900}, {"rw": "randrw", "rwmixread": "50"}, "rwmixread=50, but 90 % of the commands were reads"),
    ],
)
def test_numbers_that_contradict_the_options_are_refused(
    tmp_path: Path, part: dict[str, Any], options: dict[str, str], message: str
) -> None:
    written = {"bw_bytes": 10**8, "total_ios": 100} if options.get("rw") else {"bw_bytes": 0}
    more = {"read": {"bw_bytes": 10**9, **part}, "write": written}
    with pytest.raises(DataError) as error:
        read(tmp_path, text_of(job(more=more, **options)))
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        ({"io_bytes": 10**9, "runtime": 1000}, None),
        ({"io_bytes": 1040 * 10**6, "runtime": 1000}, None),
        ({"io_bytes": 3 * 10**9, "runtime": 1000}, "io_bytes / runtime is 3000000000 B/s"),
        ({"io_bytes": 2 * 10**8, "runtime": 100}, "io_bytes / runtime is 2000000000 B/s"),
        ({"io_bytes": 2 * 10**8, "runtime": 99}, None),
        ({"io_bytes": 10**9, "runtime": 1000, "total_ios": 0}, "total_ios is 0"),
    ],
)
def test_bandwidths_are_those_of_bytes_and_runtime(tmp_path: Path, part: dict[str, int], wrong: str | None) -> None:
    text = text_of(job(more={"read": {"bw_bytes": 10**9, **part}}))
    if wrong is None:
        assert read(tmp_path, text).measurements[0].value == 1.0
        return
    with pytest.raises(DataError, match=wrong):
        read(tmp_path, text)


def test_mixes_of_reads_and_writes_are_those_of_the_file(tmp_path: Path) -> None:
    for options, reads in (({"rwmixread": "90"}, 90), ({"rwmixwrite": "10"}, 90), ({}, 50)):
        mixed = job(more={"write": {"bw_bytes": 10**8}}, rw="randrw", **options)
        (found,) = read(tmp_path, text_of(mixed)).measurements
        assert (found.conditions.rwmixread, found.value) == (reads, 1.1)
        assert workloads_of(found.conditions, SERVER)["disk"]["jobs"][0]["rwmixread"] == reads
    with raises_code("malformed-file | 90", DataError):
        read(tmp_path, text_of(job(rw="rw", rwmixread="90", rwmixwrite="90")))


def test_sizes_are_as_fio_has_them(tmp_path: Path) -> None:
    for text, size in (("4k", 4096), ("4kb", 4096), ("1m,4k", 1 << 20), ("4k,4k", 4096)):
        (found,) = read(tmp_path, text_of(job(bs=text))).measurements
        assert found.conditions == Conditions(rw="randread", bs=size, iodepth=1, drives=1)
    for text, message in (
        ("4kib", "malformed-file | is ambiguous"),
        ("4Ki", "malformed-file | is ambiguous"),
        ("4k,8k", "malformed-file | gives several sizes"),
    ):
        with raises_code(message, DataError):
            read(tmp_path, text_of(job(more={"write": {"bw_bytes": 1}}, bs=text, rw="rw")))


def test_text_around_the_result_and_results_of_clients(tmp_path: Path) -> None:
    text = text_of(job(iodepth="4"))
    whole = f"fio: {{a warning}}\nfio-3.36\n{text}\n\nj: (groupid=0, jobs=1): err= 0\n  read: IOPS=32.0k\n"
    assert read(tmp_path, whole).measurements[0].conditions.iodepth == 4
    with raises_code("malformed-file", DataError):
        read(tmp_path, text + "\n" + text)
    with raises_code("malformed-file", DataError):
        read(tmp_path, text[:-20])
    clients = [{**job(), "hostname": name, "port": 8765} for name in ("a", "b")]
    sum_of_all = {**job(), "jobname": "All clients"}
    one = json.dumps({"fio version": "fio-3.36", "client_stats": [clients[0], sum_of_all]})
    assert [found.place for found in read(tmp_path, one).measurements] == ["client_stats[0]"]
    with raises_code("wrong-count | 8765", DataError):
        read(tmp_path, json.dumps({"fio version": "fio-3.36", "client_stats": clients}))
    nameless = [{key: value for key, value in client.items() if key != "port"} for client in clients]
    with raises_code("wrong-count | 2 clients (a, b)", DataError):
        read(tmp_path, json.dumps({"fio version": "fio-3.36", "client_stats": nameless}))
