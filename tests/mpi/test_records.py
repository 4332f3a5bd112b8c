"""Folders of checkpoints: the last whole one counts, and nothing else is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from hostnet import CheckpointError, ConfigError
from hostnet.running.records import INDEX, RecordsFolder, read_records


def test_what_was_not_finished_does_not_count(tmp_path: Path) -> None:
    folder = RecordsFolder(tmp_path / "kept")
    folder.check()
    for at_ps in (50, 100):
        folder.write("partition-00000", at_ps, b"part")
        folder.write(INDEX, at_ps, f"index {at_ps}".encode())
    assert [entry.name for entry in folder.path.iterdir()] == ["100ps"]
    killed = folder.path / ".150ps-unfinished"
    killed.mkdir()
    (killed / INDEX).write_bytes(b"index 150")
    (folder.path / "200ps").mkdir()
    assert read_records(folder.path) == (b"index 100", [b"part"])
    folder.check()
    assert not killed.exists()


def test_a_folder_without_a_whole_checkpoint_or_with_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="holds no whole checkpoint"):
        read_records(tmp_path)
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(ConfigError, match=r"holds thesis\.tex, which is no checkpoint; name another folder"):
        RecordsFolder(tmp_path).check()
    assert (tmp_path / "thesis.tex").exists()
    with pytest.raises(ConfigError, match="is a file"):
        RecordsFolder(tmp_path / "thesis.tex").check()
