"""`hostnet.run`, `hostnet.run_many` and what they return."""

from __future__ import annotations

import builtins
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hostnet
from hostnet import Config, ConfigError, Fio, FioJob, Run, Server, Stream
from tests.support import QUADRANT, raises_code

CONFIG = Config(
    server=Server(preset="cascade-lake-6234"),
    run=Run(name="quadrant", seed=7, warmup="5 us", duration="20 us"),
    workload={
        "stream": Stream(cores="0-1"),
        "disk": Fio(jobs=[FioJob(rw="read", bs="64 KiB", iodepth=16, size="1 GiB", ssd=0)]),
    },
)


@pytest.fixture(scope="module")
def results() -> hostnet.Results:
    return hostnet.run(CONFIG, series="1 us")


def test_results_are_tables_and_a_summary(results: hostnet.Results) -> None:
    assert results.complete
    assert set(results.tables) == {"workloads", "domains", "channels", "series"}
    assert all(isinstance(table, pa.Table) for table in results.tables.values())
    assert results.summary["name"] == "quadrant"
    assert results.summary["seed"] == 7
    assert results.workloads["stream"]["throughput_gb_per_s"] > 1
    assert results.workloads["disk"]["kind"] == "fio"
    assert results.domains["C2M-Read"]["in_use_mean"] <= results.domains["C2M-Read"]["capacity"]
    assert -1 in results.channels


def test_results_do_not_depend_on_threads_or_on_company(results: hostnet.Results) -> None:
    alone = hostnet.run(CONFIG, threads=2)
    first, second = hostnet.run_many([CONFIG, CONFIG], threads=2)
    assert alone.native.summary_json == results.native.summary_json
    assert first.native.summary_json == second.native.summary_json == results.native.summary_json
    assert first.result_hash == second.result_hash == alone.result_hash


def test_the_seed_can_be_replaced(results: hostnet.Results) -> None:
    assert hostnet.run(CONFIG, seed=7).result_hash == alone_hash(7)
    assert hostnet.run(CONFIG, seed=8).summary["seed"] == 8
    assert alone_hash(8) != alone_hash(7)
    assert results.summary["seed"] == 7


def alone_hash(seed: int) -> str:
    return hostnet.run(replace(CONFIG, run=replace(CONFIG.run, seed=seed))).result_hash


def test_a_file_and_its_description_give_the_same(results: hostnet.Results, tmp_path: Path) -> None:
    file = tmp_path / "quadrant.toml"
    file.write_text(QUADRANT)
    for config in (file, str(file), Config.from_toml(file)):
        assert hostnet.run(config, series="1 us").result_hash == results.result_hash


def test_pandas_and_polars(results: hostnet.Results) -> None:
    assert list(results.to_pandas("workloads")["workload"]) == results.to_polars("workloads")["workload"].to_list()
    with pytest.raises(KeyError, match="no table"):
        results.to_pandas("nothing")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_missing_library_is_named(results: hostnet.Results, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real_import = builtins.__import__

    def without_library(name: str, *arguments: Any, **more: Any) -> Any:
        if name.partition(".")[0] == library:
            raise ModuleNotFoundError(name)
        return real_import(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", without_library)
    monkeypatch.delitem(sys.modules, library, raising=False)
    with raises_code(f"missing-package | to_{library} | pip install {library}") as found:
        getattr(results, f"to_{library}")()
    assert isinstance(found.value, ImportError)


def test_save_writes_a_run_directory(results: hostnet.Results, tmp_path: Path) -> None:
    path = results.save(tmp_path / "run")
    assert {"manifest.json", "summary.json", "config.json", "series.parquet", "report.html"} <= {
        file.name for file in path.iterdir()
    }
    assert hostnet.run(path / "config.json", series="1 us").result_hash == results.result_hash
    with pytest.raises(FileExistsError, match="not empty"):
        results.save(path)


def test_progress_can_stop_a_run() -> None:
    seen: list[dict[str, Any]] = []

    def stop(status: dict[str, Any]) -> bool:
        seen.append(status)
        return False

    long = replace(CONFIG, run=replace(CONFIG.run, duration="10 s"))
    assert not hostnet.run(long, progress=stop).complete
    assert {"simulated_ps", "target_ps", "events", "phase", "progress"} <= set(seen[0])
    assert 0 <= seen[0]["progress"] <= 1
    assert not any(results.complete for results in hostnet.run_many([long, long], progress=stop))


def test_errors_in_the_progress_function_come_through() -> None:
    def fail(status: dict[str, Any]) -> bool:
        raise LookupError(status.get("phase", "many"))

    long = replace(CONFIG, run=replace(CONFIG.run, duration="10 s"))
    with pytest.raises(LookupError):
        hostnet.run(long, progress=fail)
    with pytest.raises(LookupError, match="many"):
        hostnet.run_many([long, long], progress=fail)


@pytest.mark.parametrize("arguments", [{"threads": 0}, {"seed": -1}, {"seed": 2**64}, {"series": "10"}], ids=str)
def test_wrong_arguments(arguments: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        hostnet.run(CONFIG, **arguments)


def test_no_runs_are_no_results() -> None:
    assert hostnet.run_many([]) == []


def test_lines_of_a_channel_are_those_of_the_rows_that_it_opened(results: hostnet.Results) -> None:
    for channel in results.channels.values():
        moved = (channel["read_gb_per_s"] + channel["write_gb_per_s"]) * results.summary["window_ns"] / 64
        assert channel["lines_per_activation"] * channel["activations"] == pytest.approx(moved)
