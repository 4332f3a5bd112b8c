"""A headless browser that renders pages in frames of given widths."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path
from typing import Any

from tests.support import HANG_S

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""Commands of browsers that can be controlled from the command line."""

OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--enable-logging=stderr",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)

WIDTHS = (1280, 400)

LOOK = """
function meet(a, b) {
  const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
  return across > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
}
function look(frame) {
  const page = frame.contentDocument, root = page.documentElement;
  const seen = { width: root.clientWidth, needed: root.scrollWidth, collisions: [], clipped: [], tiny: [] };
  for (const svg of page.querySelectorAll("svg[role=img]")) {
    const box = (svg.closest(".card") ?? svg).getBoundingClientRect();
    if (!box.width) continue;
    const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    const drawing = svg.viewBox.baseVal;
    for (const line of svg.querySelectorAll("polyline, path")) {
      const its = line.getBBox();
      const inside = its.y >= drawing.y - 1 && its.y + its.height <= drawing.y + drawing.height + 1;
      if (!inside) seen.clipped.push(`${line.getAttribute("class")} of ${svg.getAttribute("aria-label")}`);
    }
    const texts = Array.from(svg.querySelectorAll("text"), (text) => [text, text.getBoundingClientRect()]);
    texts.forEach(([text, place], index) => {
      const words = text.textContent;
      if (place.left < box.left - 1 || place.right > box.right + 1) seen.clipped.push(words);
      if (parseFloat(getComputedStyle(text).fontSize) * scale < 9) seen.tiny.push(words);
      const met = texts.slice(index + 1).filter(([, its]) => meet(place, its));
      seen.collisions.push(...met.map(([other]) => [words, other.textContent]));
    });
  }
  for (const drawn of page.querySelectorAll(".timeline, .shares")) {
    const card = drawn.closest(".card").getBoundingClientRect();
    // Names of steps are cut off at the end of their step.
    const labels = Array.from(drawn.querySelectorAll(".lanes > *, .ticks span, .shares > span"));
    const places = labels.map((label) => [label, label.getBoundingClientRect()]);
    places.forEach(([label, place], index) => {
      const words = label.textContent;
      if (place.left < card.left - 1 || place.right > card.right + 1) seen.clipped.push(words);
      if (parseFloat(getComputedStyle(label).fontSize) < 9) seen.tiny.push(words);
      const met = places.slice(index + 1).filter(([, its]) => meet(place, its));
      seen.collisions.push(...met.map(([other]) => [words, other.textContent]));
    });
  }
  const scrolls = Array.from(page.querySelectorAll(".scroll")).filter((box) => box.scrollWidth > box.clientWidth);
  seen.cut = scrolls.map((box) => box.querySelector("table").getAttribute("aria-label") ?? box.ariaLabel);
  return seen;
}
addEventListener("load", () => {
  const frames = Array.from(document.querySelectorAll("iframe"));
  document.getElementById("seen").textContent = JSON.stringify(frames.map((frame) => (%s)(frame)));
});
"""


def find_browser() -> str | None:
    """Returns the path of a browser, if there is one."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@dataclass(frozen=True)
class Seen:
    """Result of rendering a page in every frame, and the output of the browser's console."""

    frames: list[Any]
    console: list[str]


@dataclass(frozen=True)
class Browser:
    """Renders files; the browser writes its own files to `folder`."""

    path: str
    folder: Path

    def look(self, page: str, script: str = "look", widths: tuple[int, ...] = WIDTHS) -> Seen:
        """Renders a page in a frame of each width and returns the result of a function of the frame."""
        return self.look_at([page], script, widths)

    def look_at(self, pages: Sequence[str], script: str = "look", widths: tuple[int, ...] = WIDTHS) -> Seen:
        """Renders several pages, which takes hardly longer than one; the frames of a page follow each other."""
        frames = "".join(
            f'<iframe srcdoc="{escape(page, quote=True)}" style="width:{width}px;height:900px;border:0"></iframe>'
            for page in pages
            for width in widths
        )
        file = self.folder / "look.html"
        file.write_text(
            f'<!doctype html><meta charset="utf-8"><pre id="seen"></pre><script>{LOOK % script}</script>{frames}',
            encoding="utf-8",
        )
        done = self._run("--window-size=1400,1000", "--dump-dom", file.as_uri())
        found = re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, re.DOTALL)
        assert found is not None, done.stderr
        return Seen(json.loads(unescape(found[1])), re.findall(r"CONSOLE.*", done.stderr))

    def print_to_pdf(self, page: Path) -> bytes:
        """Prints the page to PDF."""
        file = self.folder / "page.pdf"
        self._run("--no-pdf-header-footer", f"--print-to-pdf={file}", page.as_uri())
        return file.read_bytes()

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        profile = f"--user-data-dir={self.folder / 'profile'}"
        return subprocess.run(
            [self.path, *OPTIONS, profile, *arguments], capture_output=True, text=True, timeout=HANG_S, check=True
        )
