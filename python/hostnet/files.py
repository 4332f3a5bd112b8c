"""Files of the user: read up to a size limit, and written atomically."""

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

CONFIGURATIONS = (".toml", ".json")
"""Suffixes of configuration files."""

CONFIG_BYTES_MAX = 1 << 20
"""Largest configuration that the simulator reads, in bytes."""

TEXT_BYTES_MAX = 256 << 20
"""Largest text of any other kind, in bytes."""

PIPE_SECONDS = 10.0
"""Timeout for the first write to a pipe, in s."""


def read_bytes(path: Path, limit: int = TEXT_BYTES_MAX) -> bytes:
    """Reads a file of at most `limit` bytes. A pipe or a device is not read beyond that limit either.

    Raises:
        ConfigError: The file is longer than `limit`, or is a pipe without a writer.
        OSError: The file cannot be read.
    """
    with open_input(path) as file, errors_naming(path):
        content = file.read(limit + 1)
    if len(content) > limit:
        raise ConfigError("malformed-file", f"{path}: is longer than {limit >> 20} MiB")
    return content


@contextmanager
def open_input(path: Path) -> Iterator[IO[bytes]]:
    """Opens a file for reading. A pipe without a writer fails after a timeout.

    Raises:
        ConfigError: The file is a pipe without a writer.
        OSError: The file cannot be read.
    """
    if not path.is_fifo():
        with path.open("rb") as file:
            yield file
        return
    # Without O_NONBLOCK, opening a pipe blocks until a writer opens it.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        if not select.select([descriptor], [], [], PIPE_SECONDS)[0]:
            raise ConfigError("file-access", f"{path}: is a pipe without a writer")
        os.set_blocking(descriptor, True)
        yield file


def read_text(path: Path, limit: int = TEXT_BYTES_MAX) -> str:
    """Reads a UTF-8 text of at most `limit` bytes and converts its line ends to LF.

    Raises:
        ConfigError: The file is longer than `limit`, or not UTF-8.
        OSError: The file cannot be read.
    """
    try:
        text = read_bytes(path, limit).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError("malformed-file", f"{path}: is not UTF-8 text (byte {error.start})") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_config(path: Path) -> str:
    """Reads the text of a configuration.

    Raises:
        ConfigError: The file is too long, not UTF-8, or a fio job file, or `path` is a folder or the name of a preset.
        OSError: The file cannot be read.
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
    # fio job files have sections in brackets as TOML does, so TOML's own message would complain about quotes.
    if path.suffix == ".fio":
        use = f'[workload.disk] with kind = "fio" and job = "{path.name}"'
        raise ConfigError("wrong-kind", f"{path}: is a fio job file; write a configuration that uses it: {use}")
    return text


def read_object(path: Path) -> dict[str, Any]:
    """Reads a JSON file that hostnet wrote and that holds an object.

    Raises:
        ConfigError: The file is damaged.
        OSError: The file cannot be read.
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
    """Reads a Parquet file that hostnet wrote, or only some of its columns.

    Raises:
        ConfigError: The file is damaged.
        OSError: The file cannot be read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with path.open("rb") as file, errors_naming(path):
        try:
            # pq.read_table would import pyarrow's dataset support, which takes longer than reading the file.
            # Worker threads that still read a damaged file would abort the process at exit, so this thread reads alone.
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
    """Parses a JSON text.

    Raises:
        ValueError: The text is not JSON, or too deeply nested to be read.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("is nested too deeply") from None


def parse_toml(text: str, file: str | Path) -> dict[str, Any]:
    """Parses a TOML text; error messages call it `file`.

    Raises:
        ConfigError: The text is not TOML, or too deeply nested to be read.
    """
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise ConfigError("syntax", f"{file}: not valid TOML: {error}") from None
    except RecursionError:
        raise ConfigError("syntax", f"{file}: is nested too deeply") from None


def write_file(path: Path, content: bytes) -> None:
    """Writes a file at `path` atomically and replaces a regular file.

    A pipe or a device is written to directly.

    Raises:
        OSError: The file cannot be written; an existing regular file is unchanged.
    """
    with scratch_file(path) as (scratch, keep):
        scratch.write_bytes(content)
        keep()


def write_figure(path: Path, figure: Figure, **options: Any) -> None:
    """Draws a figure into a file. The suffix of its name selects the format, as in `Figure.savefig`.

    Raises:
        OSError: The file cannot be written; an existing file is unchanged.
    """
    drawn = BytesIO()
    # The layout reserves room for the current ticks. After it has moved the axes, new ticks may have wider labels.
    figure.draw_without_rendering()
    figure.savefig(drawn, format=path.suffix.removeprefix("."), **options)
    write_file(path, drawn.getvalue())


@contextmanager
def scratch_file(path: Path) -> Iterator[tuple[Path, Callable[[], None]]]:
    """Yields a hidden file beside `path` to write to, and a function that renames it to `path`.

    The hidden file is removed unless that function is called. A pipe or a device is written to directly.

    Raises:
        OSError: `path` cannot be written; an existing file is unchanged.
    """
    if path.exists() and not path.is_file():
        with errors_naming(path):
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

    with errors_naming(path, scratch):
        try:
            scratch.touch()
            yield scratch, keep
        finally:
            scratch.unlink(missing_ok=True)


@contextmanager
def errors_naming(path: Path, scratch: Path | None = None) -> Iterator[None]:
    """Rewrites an `OSError` that names no file, or a file at or below `scratch`, to name `path` instead."""
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
    """Returns an unused hidden path in the folder of `path`."""
    return path.resolve().with_name(f".hostnet-{os.getpid()}-{secrets.token_hex(8)}")


def sync(path: Path) -> None:
    """Flushes a file or a folder to disk. Windows cannot flush folders."""
    if os.name == "nt" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
