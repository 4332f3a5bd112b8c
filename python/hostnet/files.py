"""The user's files: read up to a limit, and written whole or not at all."""

from __future__ import annotations

import json
import os
import secrets
import select
import shutil
import tomllib
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError, presets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import IO

    import pyarrow as pa
    from matplotlib.figure import Figure

CONFIG_BYTES_MAX = 1 << 20
"""The longest configuration that the simulator reads."""

TEXT_BYTES_MAX = 256 << 20
"""The longest text of any other kind."""

PIPE_SECONDS = 10.0
"""Timeout for the first write to a pipe."""


def read_bytes(path: Path, most: int = TEXT_BYTES_MAX) -> bytes:
    """The content of a file of at most so many bytes; a pipe or a device is read no further either.

    Raises:
        ConfigError: It is longer, or a pipe without a writer.
        OSError: It cannot be read.
    """
    with opened(path) as file, errors_about(path):
        content = file.read(most + 1)
    if len(content) > most:
        raise ConfigError("malformed-file", f"{path}: is longer than {most >> 20} MiB")
    return content


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Opens a file. A pipe without a writer fails after a timeout.

    Raises:
        ConfigError: It is a pipe without a writer.
        OSError: It cannot be read.
    """
    if not path.is_fifo():
        with path.open("rb") as file:
            yield file
        return
    # Without this flag, opening it would block until it is opened for writing.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        if not select.select([descriptor], [], [], PIPE_SECONDS)[0]:
            raise ConfigError("file-access", f"{path}: is a pipe without a writer")
        os.set_blocking(descriptor, True)
        yield file


def read_text(path: Path, most: int = TEXT_BYTES_MAX) -> str:
    """The text of a file of at most so many bytes, with the ends of its lines as they are on this system.

    Raises:
        ConfigError: It is longer, or not UTF-8.
        OSError: It cannot be read.
    """
    try:
        text = read_bytes(path, most).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError("malformed-file", f"{path}: is not UTF-8 text (byte {error.start})") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_config(path: Path) -> str:
    """Reads the text of a configuration.

    Raises:
        ConfigError: The file is too long, not UTF-8, or a fio job file; or it is a folder, or the name of a preset.
        OSError: It cannot be read.
    """
    try:
        text = read_text(path, CONFIG_BYTES_MAX)
    except IsADirectoryError:
        raise ConfigError(
            "wrong-kind", f"{path}: is a folder; a configuration is wanted, a TOML or JSON file"
        ) from None
    except FileNotFoundError:
        if str(path) not in (name for name, _, _ in presets()):
            raise
        where = f'preset = "{path}" under [server], or under [host.NAME] for one on a network'
        writes = "`hostnet new` and `hostnet new --cluster ping` write one"
        raise ConfigError(
            "wrong-kind", f"{path}: is a preset; a configuration is wanted, with {where}; {writes}"
        ) from None
    # Both formats have tables in brackets, so that TOML's own message would speak of quotes.
    if path.suffix == ".fio":
        use = f'[workload.disk] with kind = "fio" and job = "{path.name}"'
        raise ConfigError("wrong-kind", f"{path}: is a fio job file; write a configuration that uses it: {use}")
    return text


def read_object(path: Path) -> dict[str, Any]:
    """The object in a JSON file that hostnet wrote.

    Raises:
        ConfigError: The file is damaged.
        OSError: It cannot be read.
    """
    text = read_text(path)
    try:
        content = parse_json(text)
    except ValueError as error:
        raise ConfigError("malformed-file", f"{path}: is damaged: {error}") from None
    if not isinstance(content, dict):
        raise ConfigError("malformed-file", f"{path}: is damaged: it holds no object")
    return content


def read_table(path: Path, columns: list[str] | None = None) -> pa.Table:
    """The table in a Parquet file that hostnet wrote, or some columns of it.

    Raises:
        ConfigError: The file is damaged.
        OSError: It cannot be read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with path.open("rb") as file, errors_about(path):
        try:
            # pq.read_table would load what reads folders of files and remote ones, which takes longer than all of this.
            # On this thread: others that still look at a damaged file would abort the process as it leaves.
            content = pa.BufferReader(file.read())
            table = pq.ParquetFile(content, pre_buffer=False).read(columns, use_threads=False)
            table.validate(full=True)
        except (pa.ArrowException, ValueError) as error:
            reason = str(error).partition("\n")[0]
        except OSError as error:
            if error.errno is not None:
                raise
            reason = str(error).partition("\n")[0]
        else:
            return table
    raise ConfigError("malformed-file", f"{path}: is damaged: {reason}")


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON text.

    Raises:
        ValueError: It is none, or nested so deeply that it cannot be read.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("is nested too deeply") from None


def parse_toml(text: str, file: str | Path) -> dict[str, Any]:
    """The tables of a TOML text; `file` is what the message of an error calls it.

    Raises:
        ConfigError: It is none, or nested so deeply that it cannot be read.
    """
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise ConfigError("syntax", f"{file}: not valid TOML: {error}") from None
    except RecursionError:
        raise ConfigError("syntax", f"{file}: is nested too deeply") from None


def write_file(path: Path, content: bytes) -> None:
    """Puts a file at `path`, replacing a regular file, so that it is never seen half written.

    A pipe or a device is written to directly.

    Raises:
        OSError: It cannot be written; a regular file that was there stays.
    """
    with scratch_file(path) as (scratch, keep):
        scratch.write_bytes(content)
        keep()


def write_figure(path: Path, figure: Figure, **options: Any) -> None:
    """Draws a figure into a file whose kind its name tells, as `Figure.savefig` does.

    Raises:
        OSError: It cannot be written; what was there stays.
    """
    drawn = BytesIO()
    # A layout makes room for the ticks that were there before it moved the axes; other ones may have wider labels.
    figure.draw_without_rendering()
    figure.savefig(drawn, format=path.suffix.removeprefix("."), **options)
    write_file(path, drawn.getvalue())


@contextmanager
def scratch_file(path: Path) -> Iterator[tuple[Path, Callable[[], None]]]:
    """A hidden name beside `path` to write to, and a function that gives it that name; without that call it vanishes.

    A pipe or a device is written to directly.

    Raises:
        OSError: `path` cannot be written; what was there stays.
    """
    if path.exists() and not path.is_file():
        with errors_about(path):
            yield path, lambda: None
        return
    target = path.resolve()
    scratch = hidden_sibling(target)

    def keep() -> None:
        if target.exists():
            shutil.copymode(target, scratch)
        sync(scratch)
        scratch.replace(target)
        sync(target.parent)

    with errors_about(path, scratch):
        try:
            scratch.touch()
            yield scratch, keep
        finally:
            scratch.unlink(missing_ok=True)


@contextmanager
def errors_about(path: Path, scratch: Path | None = None) -> Iterator[None]:
    """Lets an error that names no file, or one at or below `scratch`, name `path` instead."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        named = None if error.filename is None else Path(os.fsdecode(error.filename))
        if named is not None and (scratch is None or not named.is_relative_to(scratch)):
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from error


def hidden_sibling(path: Path) -> Path:
    """A name beside a path that nothing else has."""
    return path.resolve().with_name(f".hostnet-{os.getpid()}-{secrets.token_hex(8)}")


def sync(path: Path) -> None:
    """Sees to it that a file or folder is on the disk. Windows cannot do that for folders."""
    if os.name == "nt" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
