"""Operating points that a validation keeps, and when they are run again."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from hostnet.ledger import kept
from hostnet.ledger.kept import KeptPoints
from hostnet.ledger.validate import validate

STUDY = "dctcp"

Configs = list[dict[str, Any]]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own."""
    monkeypatch.setenv("HOSTNET_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def ran() -> Configs:
    """Configurations that were run."""
    return []


@pytest.fixture
def points(ran: Configs) -> Callable[..., list[dict[str, Any]]]:
    """Runs configurations by writing down that they were run."""

    def simulate(configs: Sequence[dict[str, Any]], *_: Any) -> list[dict[str, Any]]:
        ran.extend(configs)
        return [{"value": config["value"]} for config in configs]

    def run(configs: Configs, base_dir: Path, engine: str = "cluster") -> list[dict[str, Any]]:
        return KeptPoints(simulate, engine)(configs, base_dir, 1, None)

    return run


def test_a_study_that_has_not_changed_is_not_run_again() -> None:
    first, again = (validate(STUDY, selection="quick", keep=True) for _ in range(2))
    assert (first.batch.kept, again.batch.kept) == (0, len(first.batch.outcomes))
    assert again.batch.work == 0 < first.batch.work
    assert [row.as_dict() for row in again.rows] == [row.as_dict() for row in first.rows]
    assert validate(STUDY, selection="quick").batch.work == first.batch.work


def test_fresh_points_replace_those_that_are_kept(tmp_path: Path) -> None:
    values = iter([1, 2, 3])

    def simulate(configs: Sequence[dict[str, Any]], *_: Any) -> list[dict[str, Any]]:
        return [{"value": next(values)} for _ in configs]

    def run(*, fresh: bool) -> list[dict[str, Any]]:
        return KeptPoints(simulate, "cluster", fresh=fresh)([{"a": 1}], tmp_path, 1, None)

    assert [run(fresh=fresh)[0]["value"] for fresh in [False, True, False]] == [1, 2, 2]


def test_only_what_changes_is_run(points: Callable[..., Any], ran: Configs, tmp_path: Path) -> None:
    (tmp_path / "trace.csv").write_text("1\n", encoding="utf-8")
    configs: Configs = [{"value": 1}, {"value": 2, "job": {"file": "trace.csv"}}]
    assert points(configs, tmp_path) == [{"value": 1}, {"value": 2}]
    assert points([configs[1], {"value": 3}, configs[0]], tmp_path) == [{"value": 2}, {"value": 3}, {"value": 1}]
    assert ran == [*configs, {"value": 3}]
    (tmp_path / "trace.csv").write_text("2\n", encoding="utf-8")
    points(configs, tmp_path)
    assert ran[3:] == [configs[1]]


def test_another_version_or_engine_runs_all(
    points: Callable[..., Any], ran: Configs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    points([{"value": 1}], tmp_path)
    points([{"value": 1}], tmp_path, "chip")
    monkeypatch.setattr(kept, "version", lambda: "another")
    points([{"value": 1}], tmp_path)
    assert len(ran) == 3


def test_points_of_a_curve_are_kept_together(points: Callable[..., Any], ran: Configs, tmp_path: Path) -> None:
    points([{"value": 1}, {"value": 2}], tmp_path, "curves")
    points([{"value": 1}], tmp_path, "curves")
    points([{"value": 1}, {"value": 2}], tmp_path, "curves")
    assert ran == [{"value": 1}, {"value": 2}, {"value": 1}]


def test_what_measures_time_is_not_kept(points: Callable[..., Any], ran: Configs, tmp_path: Path) -> None:
    for _ in range(2):
        points([{"value": 1, "ledger": {"again": ["2 threads"]}}], tmp_path)
    assert len(ran) == 2


@pytest.mark.parametrize(
    "content", [b"", b"no zlib", *map(zlib.compress, (b"no JSON", b"[]", b'{"key": "another", "summary": 1}'))]
)
def test_a_damaged_file_is_made_again(
    points: Callable[..., Any], ran: Configs, tmp_path: Path, cache: Path, content: bytes
) -> None:
    points([{"value": 1}], tmp_path)
    (file,) = (cache / "points").iterdir()
    assert json.loads(zlib.decompress(file.read_bytes())) == {"key": file.name, "summary": {"value": 1}}
    file.write_bytes(content)
    assert points([{"value": 1}], tmp_path) == [{"value": 1}]
    assert len(ran) == 2


def test_without_a_cache_nothing_is_kept(
    points: Callable[..., Any], ran: Configs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOSTNET_CACHE_DIR", "")
    points([{"value": 1}], tmp_path)
    points([{"value": 1}], tmp_path)
    assert len(ran) == 2


def test_an_interrupted_study_keeps_the_groups_that_have_ended(tmp_path: Path) -> None:
    configs: Configs = [{"value": value} for value in range(2 * kept.GROUP + 1)]
    groups: list[int] = []

    def interrupted(configs: Sequence[dict[str, Any]], *_: Any) -> list[dict[str, Any]]:
        groups.append(len(configs))
        if len(groups) == 3:
            raise KeyboardInterrupt
        return [{"value": config["value"]} for config in configs]

    with pytest.raises(KeyboardInterrupt):
        KeptPoints(interrupted, "cluster")(configs, tmp_path, 1, None)
    again = KeptPoints(interrupted, "cluster")
    assert again(configs, tmp_path, 1, None) == configs
    assert groups == [kept.GROUP, kept.GROUP, 1, 1]
    assert again.known == [True] * (2 * kept.GROUP) + [False]


def test_the_progress_of_groups_is_that_of_one_run(tmp_path: Path) -> None:
    configs: Configs = [{"value": value} for value in range(kept.GROUP + 4)]
    seen: list[dict[str, Any]] = []

    def reporting(configs: Sequence[dict[str, Any]], _: Path, __: int, progress: Any) -> list[dict[str, Any]]:
        for done in range(len(configs) + 1):
            status = {"done": done, "total": len(configs), "events": 100 * done, "progress": done / len(configs)}
            assert progress(status)
        return [{"value": config["value"]} for config in configs]

    def progress(status: dict[str, Any]) -> bool:
        seen.append(status)
        return True

    KeptPoints(reporting, "cluster")(configs, tmp_path, 1, progress)
    total = len(configs)
    done = [*range(kept.GROUP + 1), *range(kept.GROUP, total + 1)]
    assert [status["done"] for status in seen] == done
    assert [status["events"] for status in seen] == [100 * count for count in done]
    assert [status["progress"] for status in seen] == pytest.approx([count / total for count in done])
    assert {status["total"] for status in seen} == {total}
