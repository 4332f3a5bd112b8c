"""A counter file that a run writes is read back as the values that the run measured."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hostnet
from hostnet import counters
from tests.counters.support import quantities, summary_of
from tests.support import raises_code


def text_of(preset: str, workloads: str, duration: str = "40 us", more: str = "") -> str:
    length = f'[run]\nname = "trip"\nwarmup = "10 us"\nduration = "{duration}"\n'
    return f'[server]\npreset = "{preset}"\n{length}{more}{workloads}'


def stream(cores: str, reads: float, name: str = "stream") -> str:
    return f'[workload.{name}]\nkind = "stream"\ncores = "{cores}"\nreads = {reads}\nworking_set = "16 MiB"\n'


def disk(rw: str) -> str:
    job = f'{{ rw = "{rw}", bs = "64 KiB", iodepth = 16, size = "64 MiB", ssd = 0 }}'
    return f'[workload.disk]\nkind = "fio"\ncores = "7"\njobs = [{job}]\n'


def run(text: str, interval: str) -> hostnet.Results:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trip.toml"
        path.write_text(text)
        return hostnet.run(path, counters=interval)


def there_and_back(results: hostnet.Results, form: str, per_socket: bool, **options: Any) -> counters.CounterFile:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "counters.csv"
        counters.write(results, path, form=form, per_socket=per_socket)
        return counters.read(path, **options)


def assert_same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    """Asserts that counts are equal; times were rounded to clocks."""
    found, expected = quantities(found), quantities(expected)
    for name, value in expected.items():
        exact = "occupancy" not in name and "share" not in name and name != "window_ns"
        close = value if exact else pytest.approx(value, rel=1e-3, abs=2e-3)
        assert found[name] == close, name


FORMS = [("perf", False), ("perf", True), ("pcm", False)]


@pytest.mark.parametrize(("form", "per_socket"), FORMS)
@pytest.mark.parametrize("preset", ["cascade-lake-6234", "ice-lake-8362"])
@pytest.mark.parametrize("rw", ["read", "write"])
def test_a_run_is_read_back(preset: str, rw: str, form: str, per_socket: bool) -> None:
    results = run(text_of(preset, stream("0-2", 0.5) + disk(rw)), "7 us")
    found = there_and_back(results, form, per_socket, server=preset)
    assert_same(found.total, summary_of(results))
    assert found.missing == []
    assert found.thresholds == {"rpq": 42, "wpq": 34}
    assert found.busy_cores == (None if per_socket else 3)
    units = json.loads(results.native.units_json or "")[-1]
    full_ps = sum(core["lfb"]["full_ps"] for core in units["cores"])
    assert found.lfb_full_cores == pytest.approx(full_ps / units["at_ps"], rel=1e-3)
    assert len(found.windows) == 6
    assert found.ends_ns == pytest.approx([7000, 14000, 21000, 28000, 35000, 40000])


@pytest.mark.parametrize(("form", "per_socket"), FORMS)
def test_every_interval_is_read_back(form: str, per_socket: bool) -> None:
    results = run(text_of("cascade-lake-6234", stream("0-1", 0.0) + disk("read")), "9 us")
    found = there_and_back(results, form, per_socket, server="cascade-lake-6234")
    before: dict[str, Any] = {}
    for window, sample in zip(found.windows, json.loads(results.native.units_json or ""), strict=True):
        length_ps = sample["at_ps"] - before.get("at_ps", 0)
        for flow in ("core_read", "core_write", "io_write", "iio_write"):
            old = before.get(flow, {"area_ps": 0, "lines": 0})
            assert window[flow]["lines"] == sample[flow]["lines"] - old["lines"], flow
            area_ps = sample[flow]["area_ps"] - old["area_ps"]
            assert window[flow]["occupancy"] == pytest.approx(area_ps / length_ps, rel=1e-3, abs=5e-3), flow
        reads = sum(channel["reads"] for channel in sample["channels"])
        assert window["lines_read"] == reads - sum(channel["reads"] for channel in before.get("channels", []))
        before = sample


def test_rounding_does_not_add_up() -> None:
    results = run(text_of("cascade-lake-6234", stream("0", 0.5), "300 us"), "1 us")
    found = there_and_back(results, "perf", False)
    assert len(found.windows) == 300
    assert_same(found.total, summary_of(results))


def test_a_server_of_the_users_own_is_read_back_with_its_configuration() -> None:
    more = "[memory]\nchannels = 3\n[memory.controller.wpq]\nfull_threshold = 20\n[cha]\nslices = 5\n"
    results = run(text_of("cascade-lake-6234", stream("0-5", 0.0), more=more), "10 us")
    config = json.loads(results.plan.effective_json())
    for form, per_socket in FORMS:
        found = there_and_back(results, form, per_socket, server=config)
        assert_same(found.total, summary_of(results))
        assert found.thresholds["wpq"] == 20


@given(
    preset=st.sampled_from(["cascade-lake-6234", "ice-lake-8362"]),
    cores=st.integers(0, 5),
    reads=st.sampled_from([0.0, 0.3, 1.0]),
    rw=st.sampled_from(["", "read", "write"]),
    channels=st.integers(1, 6),
    slices=st.integers(1, 30),
    device=st.sampled_from(["DDR3_1600", "DDR4_2400", "DDR4_2933", "DDR4_3200", "DDR5_4800", "DDR5_6400", "HBM2E"]),
    step_us=st.sampled_from([3, 10, 25, 100]),
    form=st.sampled_from(FORMS),
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_run_is_read_back(
    preset: str,
    cores: int,
    reads: float,
    rw: str,
    channels: int,
    slices: int,
    device: str,
    step_us: int,
    form: tuple[str, bool],
) -> None:
    more = f'[memory]\nchannels = {channels}\ndevice = "{device}"\n[cha]\nslices = {slices}\n'
    text = text_of(preset, stream(f"0-{cores}", reads) + (disk(rw) if rw else ""), "30 us", more)
    results = run(text, f"{step_us} us")
    found = there_and_back(results, *form, server=json.loads(results.plan.effective_json()))
    assert_same(found.total, summary_of(results))


def test_counters_do_not_change_the_results() -> None:
    text = text_of("cascade-lake-6234", stream("0-1", 0.5) + disk("read"))
    hashes = {run(text, interval).result_hash for interval in ("1 us", "13 us", "1 s")}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trip.toml"
        path.write_text(text)
        plain = hostnet.run(path)
        assert hashes == {plain.result_hash}
        with raises_code("nothing-to-do"):
            counters.write(plain, Path(folder) / "counters.csv")


def test_writing_is_the_same_every_time() -> None:
    results = run(text_of("cascade-lake-6234", stream("0", 0.5)), "20 us")
    with tempfile.TemporaryDirectory() as folder:
        for form, per_socket in FORMS:
            first, second = Path(folder) / "a", Path(folder) / "b"
            counters.write(results, first, form=form, per_socket=per_socket)
            counters.write(results, second, form=form, per_socket=per_socket)
            assert first.read_bytes() == second.read_bytes()


def test_a_form_is_no_path() -> None:
    results = run(text_of("cascade-lake-6234", stream("0", 0.5)), "20 us")
    with tempfile.TemporaryDirectory() as folder, pytest.raises(TypeError):
        counters.write(results, Path(folder) / "counters.csv", "pcm")  # type: ignore[call-arg]


def test_counts_in_files_are_whole_numbers() -> None:
    results = run(text_of("cascade-lake-6234", stream("0-1", 0.5)), "20 us")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "counters.csv"
        counters.write(results, path, form="perf")
        rows = [line.split(",") for line in path.read_text().splitlines() if line and line[0] != "#"]
        assert all(row[2].isdigit() for row in rows)
        assert {row[0] for row in rows} == {"0.000020000", "0.000040000"}
        names = {row[4] for row in rows}
        assert {f"UNC_CHA_CLOCKTICKS [uncore_cha_{number}]" for number in range(18)} <= names
        assert {"UNC_M_WPQ_OCCUPANCY.T34 [uncore_imc_1]", "L1D_PEND_MISS.PENDING"} <= names
        assert {row[1] for row in rows if row[4] == "L1D_PEND_MISS.PENDING"} == {f"CPU{core}" for core in range(8)}
