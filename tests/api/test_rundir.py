"""Run directories are created completely or not at all."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa
import pytest

from hostnet.rundir import fresh_path, publish, publish_fresh
from hostnet.tables import write_csv


def fill(place: Path) -> None:
    (place / "file").write_text("content")


def test_published_is_what_was_filled(tmp_path: Path) -> None:
    path = publish(tmp_path / "a" / "b", fill)
    assert (path / "file").read_text() == "content"
    assert [entry.name for entry in tmp_path.rglob("*")] == ["a", "b", "file"]


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt(), RuntimeError("defect")], ids=repr)
def test_a_failure_leaves_nothing(tmp_path: Path, error: BaseException) -> None:
    def fail(place: Path) -> None:
        fill(place)
        raise error

    with pytest.raises(type(error)):
        publish(tmp_path / "a" / "b", fail)
    assert list(tmp_path.iterdir()) == []


def test_two_writers_get_two_directories(tmp_path: Path) -> None:
    def fill_late(place: Path) -> None:
        fill(place)
        if not (tmp_path / "x-1").exists():
            publish(tmp_path / "x-1", fill)

    assert publish_fresh(tmp_path, "x", fill_late) == tmp_path / "x-2"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["x-1", "x-2"]


@pytest.mark.parametrize(
    ("name", "expected"), [("q3/4", "q3-4-1"), ("../up", "up-1"), ("", "run-1"), ("a b", "a-b-1"), ("ä", "ä-1")]
)
def test_names_become_file_names(tmp_path: Path, name: str, expected: str) -> None:
    assert fresh_path(tmp_path, name) == tmp_path / expected


def test_numbers_go_on_after_the_largest(tmp_path: Path) -> None:
    for name in ("x-2", "x-10", "x-y", "x-3-old", "xx-40"):
        (tmp_path / name).mkdir()
    assert fresh_path(tmp_path, "x") == tmp_path / "x-11"


def test_spreadsheets_calculate_nothing_of_what_a_table_says(tmp_path: Path) -> None:
    names = ["=cmd|'/C calc'!A0", "+1", "-1", "@SUM(1+1)", "\tx", "-", "plain", "a=b", None]
    table = pa.table({"class": names, "gbps": [-1.0] * len(names)})
    write_csv(table, str(tmp_path / "x.csv"))
    with (tmp_path / "x.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    said = [row[0] for row in rows[1:]]
    assert said == [*(f"'{name}" for name in names[:5]), "-", "plain", "a=b", ""]
    assert {row[1] for row in rows[1:]} == {"-1"}
