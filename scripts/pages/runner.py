"""Runs the code blocks of a page, in an empty folder that has the examples."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.pages.blocks import ROOT, Block, Command, without_blank_end
from scripts.pages.excerpts import is_quoted

LINKED = ("examples", "specs", "studies", "tests")
"""Folders of the repository that commands of pages read."""

HOSTNET = Path(sys.executable).with_name("hostnet")
PROGRESS = "hostnet: "
"""Beginning of the lines about progress on stderr, which differ from run to run."""
SHELL_SIGNS = re.compile(r"[|<>;&$`*]")

Runner = Callable[[Sequence[str], Path], "subprocess.CompletedProcess[str]"]
"""Runs `hostnet` with arguments in a folder."""


class PageError(Exception):
    """A block of a page fails, or prints something else than the page says."""


def in_new_process(arguments: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs `hostnet` in a new process."""
    return subprocess.run([str(HOSTNET), *arguments], cwd=folder, capture_output=True, text=True, check=False)


@dataclass
class Session:
    """A folder in which the blocks of one page run one after the other."""

    folder: Path
    hostnet: Runner = in_new_process
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})
    """The names that Python blocks have defined."""
    printed: list[str] = field(default_factory=list)
    """Output of the last Python block."""

    def __post_init__(self) -> None:
        """Links the folders that commands read."""
        for name in LINKED:
            (self.folder / name).symlink_to(ROOT / name)

    def run(self, block: Block) -> Iterator[tuple[Command, list[str]]]:
        """Runs a block, and yields each command with its output.

        Raises:
            PageError: A command or a Python block fails.
        """
        for line in block.before:
            self.output_of(Command((line,)))
        if block.file is not None:
            (self.folder / block.file).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / block.file).write_text(block.text, encoding="utf-8")
        if block.language == "python":
            self.execute(block)
        for command in block.commands():
            yield command, self.output_of(command, fails=block.fails)

    def output_of(self, command: Command, *, fails: bool = False) -> list[str]:
        """Runs a command, which must succeed or fail, and returns the lines that it prints."""
        done = self.completed(command)
        said = [line for line in done.stderr.splitlines() if not line.startswith(PROGRESS)]
        lines = without_blank_end([line.rstrip() for line in done.stdout.splitlines() + said])
        if (done.returncode != 0) != fails:
            raise PageError(f"{command.line}: exit code {done.returncode}\n" + "\n".join(lines[-20:]))
        return lines

    def completed(self, command: Command) -> subprocess.CompletedProcess[str]:
        """Runs a command: `hostnet` itself, or anything else in a shell."""
        if command.line.startswith("hostnet ") and not SHELL_SIGNS.search(
            re.sub(r"'[^']*'|\"[^\"]*\"", "", command.line)
        ):
            return self.hostnet(command.words[1:], self.folder)
        path = f"{HOSTNET.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        shell = [shutil.which("bash") or "sh", "-c", command.line]
        return subprocess.run(
            shell, cwd=self.folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
        )

    def execute(self, block: Block) -> None:
        """Executes a Python block with the names of those before it."""
        printed = io.StringIO()
        with chdir(self.folder), redirect_stdout(printed):
            try:
                exec(compile(block.text, f"line {block.line}", "exec"), self.names)
            except Exception as error:
                raise PageError(f"line {block.line}: {type(error).__name__}: {error}") from error
        self.printed = without_blank_end(printed.getvalue().splitlines())


def check(session: Session, block: Block) -> int:
    """Runs a block, compares its outputs with those of the page, and returns the number of its commands.

    Raises:
        PageError: A command fails, or prints something else than the page says.
    """
    count = len(block.before)
    for command, printed in session.run(block):
        count += 1
        if command.output is not None and not is_quoted(command.output, printed):
            raise PageError(
                "\n".join([f"line {block.line}: {command.line}: the page says", *command.output, "but it is", *printed])
            )
    if block.is_output and not is_quoted(without_blank_end(block.text.splitlines()), session.printed):
        raise PageError("\n".join([f"line {block.line}: the page says", block.text, "but it is", *session.printed]))
    return count + (block.language == "python")
