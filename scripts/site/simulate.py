"""Runs of the commands whose pictures the site shows, kept from build to build."""

from __future__ import annotations

import hashlib
import html
import shutil
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from hostnet import _core
from scripts.pages.blocks import ROOT
from scripts.pages.runner import HOSTNET
from scripts.site.pictures import figure, has_picture, thumbnail

PAGE = "page.html"
PLOT = "plot.svg"
OUTPUT = "output.txt"


@dataclass(frozen=True)
class Simulation:
    """A command that has run: its page or its plot, and what it printed."""

    name: str
    folder: Path

    @property
    def printed(self) -> str:
        """The lines on the screen."""
        return (self.folder / OUTPUT).read_text(encoding="utf-8")

    @cached_property
    def page(self) -> str | None:
        """The page that the command has written, if any."""
        file = self.folder / PAGE
        return file.read_text(encoding="utf-8") if file.exists() else None

    def figure(self, depth: int, caption: str) -> str:
        """Returns the main picture as Markdown, for a page so many folders deep, with a link to the whole page."""
        start = f"{'../' * depth}pages/{self.name}"
        words = html.escape(caption)
        link = "" if self.page is None else f' <a href="{start}.html">Open the whole page</a>'
        drawn = figure(self.page or "") if self.drawn else f'<img alt="{words}" src="{start}.svg">'
        shown = f'<figure class="run">{drawn}<figcaption>{words}{link}</figcaption></figure>'
        return f"```{{raw}} html\n{shown}\n```"

    @property
    def drawn(self) -> bool:
        """True if the page has a picture; otherwise a plot is shown."""
        return self.page is not None and has_picture(self.page)

    def thumbnail(self, *, dark: bool) -> str:
        """Returns the picture for the list of the gallery."""
        return thumbnail(self.page or "", dark=dark) if self.drawn else (self.folder / PLOT).read_text(encoding="utf-8")

    def files(self) -> dict[str, Path]:
        """Returns the files of the site, by name."""
        found = {f"pages/{self.name}.html": self.folder / PAGE, f"pages/{self.name}.svg": self.folder / PLOT}
        return {name: file for name, file in found.items() if file.exists()}


@dataclass
class Simulations:
    """Runs of commands, each made once for the same examples and the same hostnet."""

    cache: Path
    made: dict[str, Simulation] = field(default_factory=dict)

    @cached_property
    def state(self) -> str:
        """Digest of everything that a run depends on: the examples and hostnet itself."""
        digest = hashlib.sha256(Path(_core.__file__).read_bytes())
        for pattern in ("examples/**/*", "python/hostnet/**/*.py", "python/hostnet/report/*.*s"):
            for file in sorted(ROOT.glob(pattern)):
                if file.is_file():
                    digest.update(file.read_bytes())
        return digest.hexdigest()

    def run(self, words: Sequence[str], name: str | None = None) -> Simulation:
        """Returns a command's run, which is made now unless a former build has made it."""
        key = hashlib.sha256(repr((list(words), self.state)).encode()).hexdigest()[:16]
        if key not in self.made:
            folder = self.cache / key
            if not folder.exists():
                run_into(list(words), folder)
            self.made[key] = Simulation(name or key, folder)
        return self.made[key]

    def run_all(self, commands: dict[str, Sequence[str]]) -> dict[str, Simulation]:
        """Runs several commands, two at a time, and returns the runs by their names."""
        with ThreadPoolExecutor(2) as pool:
            runs = pool.map(lambda name: self.run(commands[name], name), commands)
            return dict(zip(commands, runs, strict=True))

    def files(self) -> dict[str, Path]:
        """Returns the pages of all runs, by their names on the site, and forgets the runs of former builds."""
        for folder in self.cache.iterdir():
            if folder.name not in self.made:
                shutil.rmtree(folder)
        return {name: file for run in self.made.values() for name, file in run.files().items()}


def run_into(words: list[str], folder: Path) -> None:
    """Runs a command of the root of the repository, and keeps its page and its output in a folder."""
    made = folder.with_suffix(".new")
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    page = ["--html", str(made / PAGE)] if words[1] == "noc" else ["--out", str(made / "run")]
    printed = hostnet(*words[1:], *page)
    (made / OUTPUT).write_text(printed.replace(str(made / "run"), "runs/1"), encoding="utf-8")
    if (written := made / "run/report.html").exists():
        shutil.move(written, made / PAGE)
    if not ((made / PAGE).exists() and has_picture((made / PAGE).read_text(encoding="utf-8"))):
        plots = [made / line for line in hostnet("plot", str(made / "run")).splitlines() if line.endswith(".svg")]
        shutil.move(plots[0], made / PLOT)
    shutil.rmtree(made / "run", ignore_errors=True)
    made.rename(folder)


def hostnet(*words: str) -> str:
    """Runs `hostnet` at the root of the repository, and returns what it prints.

    Raises:
        RuntimeError: The command fails.
    """
    done = subprocess.run([str(HOSTNET), *words], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"hostnet {' '.join(words)}: {done.stderr}")
    return done.stdout
