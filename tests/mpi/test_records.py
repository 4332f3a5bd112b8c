"""Folders of checkpoints: the last complete checkpoint counts, and other files are left alone."""

from __future__ import annotations

import os
import re
from contextlib import nullcontext
from pathlib import Path
from socket import gethostname

import pytest

from hostnet import CheckpointError, ConfigError
from hostnet.running.records import INDEX, LOCK, RecordsFolder, read_records
from tests.support import raises_code


def test_what_was_not_finished_does_not_count(tmp_path: Path) -> None:
    folder = RecordsFolder(tmp_path / "kept")
    for at_ps in (50, 100):
        folder.write("partition-00000", at_ps, b"part")
        folder.write(INDEX, at_ps, f"index {at_ps}".encode())
    assert [entry.name for entry in folder.path.iterdir()] == ["100ps"]
    killed = folder.path / ".150ps-unfinished"
    killed.mkdir()
    (killed / INDEX).write_bytes(b"index 150")
    (folder.path / "200ps").mkdir()
    assert read_records(folder.path) == (b"index 100", [b"part"])
    with folder.locked(folder.path):
        assert not killed.exists()


def test_a_folder_without_a_whole_checkpoint_or_with_something_else_is_refused(tmp_path: Path) -> None:
    with raises_code("bad-checkpoint", CheckpointError):
        read_records(tmp_path)
    (tmp_path / "thesis.tex").write_text("mine")
    with raises_code("file-access | thesis.tex"):
        RecordsFolder(tmp_path).check()
    assert (tmp_path / "thesis.tex").exists()
    with raises_code("file-access | thesis.tex"), RecordsFolder(tmp_path / "thesis.tex").locked():
        pass


def keep(folder: RecordsFolder, at_ps: int) -> None:
    folder.write(INDEX, at_ps, b"index")


def names(folder: RecordsFolder) -> set[str]:
    return {entry.name for entry in folder.path.iterdir()}


def test_a_run_removes_no_checkpoint_later_than_its_own(tmp_path: Path) -> None:
    folder = RecordsFolder(tmp_path)
    for at_ps in (50, 400, 100):
        keep(folder, at_ps)
    assert names(folder) == {"400ps", "100ps"}


@pytest.mark.parametrize(("continued", "begins"), [(None, False), (".", True), ("400ps", True), ("100ps", False)])
def test_a_run_begins_only_after_the_last_checkpoint(tmp_path: Path, continued: str | None, *, begins: bool) -> None:
    folder = RecordsFolder(tmp_path)
    for at_ps in (400, 100):
        keep(folder, at_ps)
    ends = nullcontext() if begins else raises_code("file-access | 400 ps")
    with ends, folder.locked(None if continued is None else tmp_path / continued):
        keep(folder, 500)
    assert names(folder) == ({"500ps"} if begins else {"400ps", "100ps"})


def test_a_folder_has_one_owner_and_nothing_is_left_where_nothing_was_kept(tmp_path: Path) -> None:
    folder = RecordsFolder(tmp_path / "a" / "kept")
    with folder.locked():
        with pytest.raises(ConfigError, match=rf"process {os.getpid()} on {re.escape(gethostname())}"), folder.locked():
            pass
        assert names(folder) == {LOCK}
    assert not folder.path.exists()
