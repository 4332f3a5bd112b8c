"""A sweep can be killed at any time and continued."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hostnet
from hostnet import ConfigError
from hostnet.sweeps.journal import MAGIC, Journal
from tests.support import HOSTNET, raises_code
from tests.sweeps.conftest import SHORT, tables_of

OVER: dict[str, list[Any]] = {"workload.stream.cores": ["0-0", "0-1"], "iio.write_credits": [2, 8, 46]}

KILLS = 4


@pytest.fixture
def no_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disables plots, which take longer than everything else."""
    monkeypatch.setattr("hostnet.sweeps.plots.draw_sweep", lambda *_: None)


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder with the file short.toml, its sweep in `whole`, and the same sweep stopped in `part`."""
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "short.toml").write_text(SHORT)
    hostnet.sweep(folder / "short.toml", OVER, out=folder / "whole")
    with pytest.raises(KeyboardInterrupt):
        stop_at(3, folder / "short.toml", folder / "part")
    return folder


def stop_at(done: int, file: Path, out: Path) -> None:
    def progress(status: dict[str, Any]) -> bool:
        return bool(status["what"] != "points" or status["done"] < done)

    hostnet.sweep(file, OVER, out=out, jobs=1, progress=progress)


def size_of(file: Path) -> int:
    """Returns the size in bytes, 0 for a missing file."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def test_a_sweep_killed_at_random_moments_gives_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "short.toml").write_text(SHORT.replace("2 us", "20 us"))
    over = ("--over", "workload.stream.cores=0-0,0-1", "--over", "iio.write_credits=1..12")
    command = [str(HOSTNET), "sweep", "short.toml", "-q", "-j", "2", *over, "--resume", "--out"]
    subprocess.run([*command, "whole"], cwd=tmp_path, check=True, capture_output=True)
    journal = tmp_path / "killed/points.journal"
    moments = random.Random(6)
    sizes = [0]
    for _ in range(KILLS):
        with subprocess.Popen([*command, "killed"], cwd=tmp_path, stdout=subprocess.PIPE) as process:
            while process.poll() is None and size_of(journal) <= sizes[-1]:
                time.sleep(0.001)
            time.sleep(moments.uniform(0, 0.02))
            process.send_signal(signal.SIGKILL)
        sizes.append(size_of(journal))
        for table in (tmp_path / "killed").glob("*.parquet"):  # existing files are complete
            assert table.read_bytes() == (tmp_path / "whole" / table.name).read_bytes()
    done = subprocess.run([*command, "killed"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("killed\n", "")
    assert any(sizes), "a kill met the sweep at work"
    assert tables_of(tmp_path / "killed") == tables_of(tmp_path / "whole")
    names = [sorted(path.name for path in (tmp_path / name).rglob("*")) for name in ("killed", "whole")]
    assert names[0] == names[1], "nothing is left behind"


@pytest.mark.usefixtures("no_plots")
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_journal_cut_or_damaged_anywhere_is_continued(stopped: Path, data: st.DataObject) -> None:
    content = (stopped / "part/points.journal").read_bytes()
    at = data.draw(st.integers(0, len(content) - 1))
    if at < len(MAGIC) or data.draw(st.booleans()):
        content = content[:at]
    else:
        content = content[:at] + bytes([content[at] ^ 255]) + content[at + 1 :]
    out = stopped / "damaged"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    (out / "points.journal").write_bytes(content)
    hostnet.sweep(stopped / "short.toml", OVER, out=out, resume=True)
    assert tables_of(out) == tables_of(stopped / "whole")


def test_what_is_done_is_not_computed_again(stopped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(stopped / "part", tmp_path / "part")
    with Journal(tmp_path / "part/points.journal") as journal:
        missing = list(journal.missing())
    assert 0 < len(missing) < 6
    original = hostnet.running.simulate.run_plan
    computed = []

    def count(plan: Any, source: Any, **more: Any) -> Any:
        computed.append(plan.hash)
        return original(plan, source, **more)

    monkeypatch.setattr("hostnet.running.simulate.run_plan", count)
    results = hostnet.sweep(stopped / "short.toml", OVER, out=tmp_path / "part", resume=True)
    hashes = results.table["config_hash"].to_pylist()[::2]
    assert sorted(computed) == sorted(hashes[point] for point in missing)


@pytest.mark.usefixtures("no_plots")
def test_a_complete_sweep_is_left_as_it_is(stopped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {path: path.stat().st_mtime_ns for path in (stopped / "whole").rglob("*")}
    monkeypatch.setattr("hostnet.running.simulate.run_plan", lambda *_, **__: pytest.fail("a point was computed"))
    results = hostnet.sweep(stopped / "short.toml", OVER, out=stopped / "whole", resume=True)
    assert results.table.num_rows == 12
    assert {path: path.stat().st_mtime_ns for path in (stopped / "whole").rglob("*")} == before


@pytest.mark.parametrize("name", ["part", "whole"])
@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"over": {**OVER, "iio.write_credits": [2, 8]}}, "--over iio.write_credits=2,8,46, now 2,8"),
        ({"over": {"iio.write_credits": [2, 8, 46]}}, "--over workload.stream.cores is gone"),
        ({"over": {**OVER, "memory.channels": [1, 2]}}, "--over memory.channels is new"),
        ({"over": dict(reversed(OVER.items()))}, "the order of --over"),
        ({"overrides": ["memory.channels=1"]}, "--set none, now memory.channels=1"),
        ({"seeds": 2}, "seeds none, now 7,8"),
    ],
)
def test_another_sweep_is_not_continued(stopped: Path, name: str, more: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        hostnet.sweep(stopped / "short.toml", out=stopped / name, resume=True, **{"over": OVER, **more})
    assert f"{name}: belongs to another sweep: {message}" in str(caught.value)


def test_another_version_or_configuration_is_not_continued(
    stopped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "short.toml"
    other.write_text(f"# changed\n{SHORT}")
    with raises_code("other-configuration"):
        hostnet.sweep(other, OVER, out=stopped / "part", resume=True)
    monkeypatch.setattr("hostnet._core.version", lambda: "9.9.9")
    with raises_code("other-configuration | 9.9.9"):
        hostnet.sweep(stopped / "short.toml", OVER, out=stopped / "part", resume=True)


def test_a_changed_job_file_is_not_continued(tmp_path: Path) -> None:
    job = tmp_path / "a.fio"
    job.write_text("[job]\nrw=read\nbs=64k\niodepth=16\nioengine=libaio\n")
    file = tmp_path / "short.toml"
    file.write_text(SHORT.partition("jobs =")[0] + 'job = "a.fio"\n')
    with pytest.raises(KeyboardInterrupt):
        stop_at(3, file, tmp_path / "part")
    job.write_text(job.read_text().replace("16", "32"))
    with raises_code("other-configuration"):
        hostnet.sweep(file, OVER, out=tmp_path / "part", resume=True)


def test_only_directories_of_sweeps_are_continued(file: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other/thesis.txt").write_text("mine")
    with raises_code("wrong-kind"):
        hostnet.sweep(file, OVER, out=tmp_path / "other", resume=True)
    (tmp_path / "other/points.journal").write_text("mine too")
    with pytest.raises(OSError, match="is not the journal of a sweep"):
        hostnet.sweep(file, OVER, out=tmp_path / "other", resume=True)
    assert (tmp_path / "other/points.journal").read_text() == "mine too"


@pytest.mark.usefixtures("no_plots")
@pytest.mark.parametrize("exists", [False, True])
def test_a_sweep_killed_before_it_began_is_continued(stopped: Path, tmp_path: Path, exists: bool) -> None:
    if exists:
        (tmp_path / "out").mkdir()
    hostnet.sweep(stopped / "short.toml", OVER, out=tmp_path / "out", resume=True)
    assert tables_of(tmp_path / "out") == tables_of(stopped / "whole")


@pytest.mark.parametrize("name", ["sweep.parquet", "domains.parquet", "sweep.json"])
def test_damaged_tables_are_noticed(stopped: Path, tmp_path: Path, name: str) -> None:
    shutil.copytree(stopped / "whole", tmp_path / "out")
    (tmp_path / "out" / name).write_bytes(b"{}")
    with raises_code(f"malformed-file | {name}"):
        hostnet.sweep(stopped / "short.toml", OVER, out=tmp_path / "out", resume=True)


def test_an_existing_directory_is_refused(stopped: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for out in (stopped / "whole", stopped / "part", tmp_path / "empty", stopped / "short.toml"):
        with pytest.raises(FileExistsError, match="exists; continue with --resume or name another folder"):
            hostnet.sweep(stopped / "short.toml", OVER, out=out)


def test_two_sweeps_never_work_in_one_directory(stopped: Path, tmp_path: Path) -> None:
    shutil.copytree(stopped / "part", tmp_path / "part")
    before = (tmp_path / "part/points.journal").read_bytes()
    with (
        Journal(tmp_path / "part/points.journal"),
        pytest.raises(OSError, match="part: another sweep is running there"),
    ):
        hostnet.sweep(stopped / "short.toml", OVER, out=tmp_path / "part", resume=True)
    assert (tmp_path / "part/points.journal").read_bytes() == before


def test_a_journal_keeps_every_point_once(tmp_path: Path) -> None:
    types = {"workloads": {"a": "int64"}}
    with Journal(tmp_path / "points.journal") as journal:
        journal.begin({"name": "x"}, 3)
        assert journal.add([{"point": 2, "value": 1}], types) == 1
        assert journal.add([{"point": 2, "value": 2}, {"point": 0, "value": 3}], types) == 1
        assert journal.add([{"point": 0, "value": 4}], types) == 0
    with Journal(tmp_path / "points.journal") as journal:
        assert journal.header == {"name": "x"}
        assert journal.types == types
        assert list(journal.missing()) == [1]
        assert [journal.outcome(point)["value"] for point in (0, 2)] == [3, 1]
