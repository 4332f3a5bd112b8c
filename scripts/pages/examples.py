"""The examples, with the title, the text and the commands in the comment at the head of each file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from scripts.pages.blocks import ROOT

GROUPS = {
    "Servers": ("stream", "quadrant1", "quadrant3", "expander", "cxl-unfair", "tiering", "die"),
    "Applications and caches": ("redis", "pagerank", "trace", "ddio"),
    "Several sockets": ("nudma", "nudma-file", "nudma-drives"),
    "Hosts on a network": ("rdma", "dctcp", "hostcc", "datagrams", "forward", "dimm", "pool", "leaf-spine"),
    "Services and power": ("service", "power"),
    "Jobs": ("allreduce", "allreduce-congested", "allreduce-one-of-many", "rails", "transformer", "npb_servers"),
    "Chips": ("noc", "chip"),
}
"""The order of the gallery."""


@dataclass(frozen=True)
class Example:
    """A configuration in the folder of examples."""

    name: str
    title: str
    text: str
    """Two to five sentences on what to see."""
    commands: tuple[str, ...]
    content: str
    """The configuration without its head."""

    @property
    def file(self) -> str:
        """The path of the file from the root of the repository."""
        return f"examples/{self.name}.toml"


def examples(root: Path = ROOT) -> dict[str, list[Example]]:
    """Returns the examples by group, in the order of the gallery.

    Raises:
        ValueError: A file is in no group, or its head lacks a part.
    """
    found = {name: [example_of(root / f"examples/{name}.toml") for name in names] for name, names in GROUPS.items()}
    listed = {example.name for group in found.values() for example in group}
    if missing := sorted({file.stem for file in root.glob("examples/*.toml")} - listed):
        raise ValueError(f"examples without a group in {__name__}: {', '.join(missing)}")
    return found


def example_of(file: Path) -> Example:
    """Reads an example.

    Raises:
        ValueError: Its head lacks the title, the text or the commands.
    """
    head, _, content = file.read_text(encoding="utf-8").partition("\n\n")
    paragraphs = list(paragraphs_of(head))
    if (
        len(paragraphs) != 3
        or len(paragraphs[0]) != 1
        or not all(line.startswith("hostnet ") for line in paragraphs[2])
    ):
        raise ValueError(f"{file.name}: its head must have a title, a paragraph of text, and commands")
    (title,), text, commands = paragraphs
    return Example(file.stem, title, " ".join(text), tuple(commands), content)


def paragraphs_of(head: str) -> Iterator[list[str]]:
    """Yields the paragraphs of a comment, as lists of their lines."""
    text = re.sub(r"^# ?", "", head, flags=re.MULTILINE)
    yield from (paragraph.splitlines() for paragraph in text.split("\n\n"))
