"""Files that are damaged, endless or nested too deep: one line that names the file, and exit code 2."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hostnet import files
from hostnet.counters import read as read_counters
from hostnet.files import CONFIG_BYTES_MAX
from tests.support import QUADRANT, Cli, assert_tells, raises_code, read_json

NESTED = 100_000


def flipped(path: Path) -> None:
    """Flips a bit in every tenth of the file."""
    content = bytearray(path.read_bytes())
    for place in range(0, len(content), max(len(content) // 10, 1)):
        content[place] ^= 4
    path.write_bytes(content)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def without_rows(path: Path) -> None:
    """Replaces rows by another object."""
    path.write_text('{"format": 1, "config_hash": "0"}')


def not_an_object(path: Path) -> None:
    path.write_text("[1, 2]")


def nested(path: Path) -> None:
    path.write_text("[" * NESTED)


def of_another_type(path: Path) -> None:
    """Replaces objects by rows of text."""
    content = read_json(path)
    path.write_text(
        json.dumps({key: [str(value)] if isinstance(value, list) else value for key, value in content.items()})
    )


def of_other_numbers(path: Path) -> None:
    """Replaces numbers by text and infinities."""
    path.write_text(path.read_text().replace(": 1", ': "x1').replace(": 2", ": 1e999"))


def of_other_columns(path: Path) -> None:
    pq.write_table(pa.table({"a": [1]}), path)


def no_text(path: Path) -> None:
    path.write_bytes(b"\xff\xfe" + path.read_bytes())


JSON_DAMAGES = (flipped, cut, emptied, without_rows, not_an_object, nested, of_another_type, of_other_numbers, no_text)
TABLE_DAMAGES = (flipped, cut, emptied, of_other_columns)
SHARED = {
    "summary.json": JSON_DAMAGES,
    "manifest.json": (cut, emptied, not_an_object, nested, no_text),
}
PLOTTED = {
    **SHARED,
    "series.parquet": TABLE_DAMAGES,
    "domains.parquet": (flipped, cut, emptied),
    "config.toml": (no_text,),
}
COMPARED = {**SHARED, "epochs.parquet": TABLE_DAMAGES}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a complete run directory."""
    return Cli(tmp_path_factory.mktemp("whole")).run("--series", "1us", "--out", "run")


@pytest.mark.parametrize(("name", "damage"), [(name, damage) for name in PLOTTED for damage in PLOTTED[name]])
def test_plots_of_a_damaged_run_directory(cli: Cli, whole: Path, name: str, damage: Callable[[Path], None]) -> None:
    shutil.copytree(whole, cli.folder / "run")
    damage(cli.folder / "run" / name)
    assert_tells(cli.fails("plot", "run"), f"malformed-file | {name}")


@pytest.mark.parametrize(("name", "damage"), [(name, damage) for name in COMPARED for damage in COMPARED[name]])
def test_comparisons_of_a_damaged_run_directory(
    cli: Cli, whole: Path, name: str, damage: Callable[[Path], None]
) -> None:
    shutil.copytree(whole, cli.folder / "run")
    damage(cli.folder / "run" / name)
    message = cli.fails("compare", "run", whole, "--no-rerun")
    assert_tells(message, "malformed-file | run")
    assert name in message


@pytest.mark.parametrize(("name", "damage"), [(name, damage) for name in SHARED for damage in SHARED[name]])
def test_explanations_of_a_damaged_run_directory(
    cli: Cli, whole: Path, name: str, damage: Callable[[Path], None]
) -> None:
    shutil.copytree(whole, cli.folder / "run")
    damage(cli.folder / "run" / name)
    assert cli.fails("explain", "run").startswith(f"run/{name}: ")


@pytest.mark.parametrize("text", ["x = " + "[" * NESTED, "x = " + "{a = " * NESTED, "a." * NESTED + "b = 1"])
@pytest.mark.parametrize(
    "command",
    [("run",), ("curve",), ("explain",), ("predict",), ("calibrate", "--data", "nested.toml"), ("memory",)],
    ids=" ".join,
)
def test_tables_without_end(cli: Cli, command: tuple[str, ...], text: str) -> None:
    (cli.folder / "nested.toml").write_text(text)
    before = ("run", "--config") if command == ("memory",) else ()
    first, *others = command
    assert_tells(cli.fails(first, *before, "nested.toml", *others), "syntax | nested.toml")


@pytest.mark.parametrize(
    "command",
    [("run", "x.json"), ("curve", "x.json"), ("calibrate", "cascade-lake-6234", "--data", "x.json")],
    ids=" ".join,
)
def test_objects_without_end(cli: Cli, command: tuple[str, ...]) -> None:
    (cli.folder / "x.json").write_text('{"jobs": ' * NESTED)
    assert cli.fails(*command).startswith("x.json")


def test_a_configuration_has_a_longest_length(cli: Cli) -> None:
    room = CONFIG_BYTES_MAX - len(QUADRANT) - 2
    cli.file.write_text(f"{QUADRANT}#{'x' * room}\n")
    assert cli("run", cli.file, "--quiet").returncode == 0
    cli.file.write_text(f"{QUADRANT}#{'x' * (room + 1)}\n")
    for command in (
        ("run", "quadrant.toml"),
        ("memory", "run", "--config", "quadrant.toml"),
        ("curve", "quadrant.toml"),
    ):
        assert_tells(cli.fails(*command), "malformed-file | quadrant.toml")


ENDLESS = {
    ("run", "ENDLESS"): "is longer than 1 MiB",
    ("run", "quadrant.toml", "--from", "ENDLESS"): "not a hostnet checkpoint",
    ("import", "ENDLESS"): "is longer than 128 MiB",
    ("calibrate", "cascade-lake-6234", "--data", "ENDLESS"): "is longer than 64 MiB",
    ("curve", "./ENDLESS"): "is longer than 1 MiB",
    ("memory", "run", "--config", "ENDLESS"): "is longer than 1 MiB",
}


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
@pytest.mark.parametrize(("command", "message"), ENDLESS.items(), ids=[" ".join(command) for command in ENDLESS])
def test_a_device_without_end(cli: Cli, command: tuple[str, ...], message: str) -> None:
    arguments = tuple(word.replace("./", "").replace("ENDLESS", "/dev/zero") for word in command)
    assert cli.fails(*arguments) == f"/dev/zero: {message}"


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes with names")
@pytest.mark.parametrize(("command", "message"), ENDLESS.items(), ids=[" ".join(command) for command in ENDLESS])
def test_a_pipe_without_end(cli: Cli, command: tuple[str, ...], message: str) -> None:
    pipe = cli.folder / "ENDLESS"
    os.mkfifo(pipe)
    with subprocess.Popen(["sh", "-c", "exec yes '# endless' > ENDLESS"], cwd=cli.folder) as writer:
        assert cli.fails(*command).endswith(f"ENDLESS: {message}")
        writer.kill()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_configuration_comes_by_a_pipe(cli: Cli) -> None:
    reader, writer = os.pipe()
    os.write(writer, QUADRANT.encode())
    os.close(writer)
    with os.fdopen(reader):
        done = cli("run", f"/dev/fd/{reader}", "--quiet", pass_fds=(reader,))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes with names")
def test_a_pipe_that_nobody_writes_to_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    monkeypatch.setattr(files, "PIPE_SECONDS", 0.0)
    with raises_code("file-access"):
        files.read_config(pipe)
    with raises_code("file-access"):
        read_counters(pipe)
