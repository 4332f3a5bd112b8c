"""The code blocks of a page, and the markers in comments above them.

| marker | meaning |
|---|---|
| `<!-- not run: REASON -->` | the block needs hardware, a network or much time |
| `<!-- long -->` | only the long tests run the block |
| `<!-- file: NAME -->` | the block is the content of a file that later blocks read |
| `<!-- fails -->` | the commands of the block end with an error |
| `<!-- output -->` | the block is what the Python block above it prints |
| `<!-- before` COMMANDS `-->` | commands that run before the block and that readers need not see, a line each |
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).resolve().parents[2]

PATTERNS = ("*.md", "docs/**/*.md", "examples/*.md", "studies/**/*.md")
"""The pages, from the root of the repository."""

BLOCK = re.compile(
    r"(?P<comments>(?:^ *<!--(?:(?!-->).)*-->\n\s*)*)^(?P<indent> *)```(?P<language>\S*)(?P<more>[^\n]*)\n"
    r"(?P<text>.*?)^(?P=indent)```$",
    re.DOTALL | re.MULTILINE,
)
COMMENT = re.compile(r"<!--\s*(.*?)\s*-->", re.DOTALL)
PROMPT = "$ "
PICTURE = "{picture}"
"""Language of a block whose command makes a picture of the site."""

GAP = "..."
"""Line of an output that stands for any number of lines."""


@dataclass(frozen=True)
class Block:
    """A code block of a page."""

    language: str
    text: str
    start: int
    """Position of the text in the page."""
    line: int
    """Line of the text in the page, from 1."""
    indent: int = 0
    not_run: str | None = None
    """Reason why the block does not run, or None."""
    long: bool = False
    file: str | None = None
    fails: bool = False
    is_output: bool = False
    before: tuple[str, ...] = ()

    @property
    def runs(self) -> bool:
        """True if the block is executed, written to a file, or compared with an output."""
        executed = self.language in ("sh", "console", "python", PICTURE)
        return self.not_run is None and (executed or self.is_output or self.file is not None or bool(self.before))

    def commands(self) -> list[Command]:
        """Returns the commands of the block."""
        if self.language == "console":
            return with_outputs(self.text)
        return [Command((line,)) for line in joined(self.text)] if self.language in ("sh", PICTURE) else []


@dataclass(frozen=True)
class Command:
    """A command of a page, and the lines that it prints if the page shows them."""

    typed: tuple[str, ...]
    """Its lines on the page; all but the last end with a backslash."""
    output: list[str] | None = None

    @property
    def line(self) -> str:
        """The command on one line."""
        return " ".join(line.removesuffix("\\").strip() for line in self.typed)

    @property
    def words(self) -> list[str]:
        """The words of the command, without a comment behind them."""
        return shlex.split(self.line, comments=True)


def pages(root: Path = ROOT) -> list[Path]:
    """Returns all pages of the documentation."""
    return sorted(page for pattern in PATTERNS for page in root.glob(pattern))


def blocks_of(text: str) -> list[Block]:
    """Returns the code blocks of a page."""
    return [_block_of(found, text) for found in BLOCK.finditer(text)]


def _block_of(found: re.Match[str], text: str) -> Block:
    marked: dict[str, str] = {}
    for comment in COMMENT.findall(found["comments"]):
        name, _, value = re.sub(r"^before\n", "before: ", comment).partition(":")
        marked[name] = value.strip()
    start = found.start("text")
    return Block(
        language=found["language"],
        text=dedent(found["text"]),
        start=start,
        line=text.count("\n", 0, start) + 1,
        indent=len(found["indent"]),
        not_run=marked.get("not run"),
        long="long" in marked,
        file=marked.get("file"),
        fails="fails" in marked,
        is_output="output" in marked,
        before=tuple(joined(marked.get("before", ""))),
    )


def markers_above(text: str) -> set[str]:
    """Returns the names of all comments that stand directly above code blocks of a page."""
    comments = [comment for found in BLOCK.finditer(text) for comment in COMMENT.findall(found["comments"])]
    return {re.split(r"[:;\n]", comment)[0] for comment in comments}


def joined(text: str) -> list[str]:
    """Returns the lines of a text that are not empty or comments, joined where one ends with a backslash."""
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]


def with_outputs(text: str) -> list[Command]:
    """Returns the commands of a console, each with the lines below it."""
    typed: list[list[str]] = []
    outputs: list[list[str]] = []
    for line in text.splitlines():
        if line.startswith(PROMPT):
            typed.append([line.removeprefix(PROMPT)])
            outputs.append([])
        elif not typed:
            raise ValueError(f"a console begins with a prompt, not with {line!r}")
        elif typed[-1][-1].endswith("\\") and not outputs[-1]:
            typed[-1].append(line)
        else:
            outputs[-1].append(line.rstrip())
    return [Command(tuple(lines), without_blank_end(output)) for lines, output in zip(typed, outputs, strict=True)]


def without_blank_end(lines: list[str]) -> list[str]:
    """Returns lines without the blank ones at the end."""
    while lines and not lines[-1]:
        lines = lines[:-1]
    return lines
