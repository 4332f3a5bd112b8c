"""Builds the documentation site into `site/html`; a second build reuses simulations and unchanged pages.

python -m scripts.site              build
python -m scripts.site --check      also fail for a warning of Sphinx, such as a link that leads nowhere
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from sphinx.cmd.build import build_main

from scripts.pages.blocks import ROOT
from scripts.site.api import RUST_DOCS
from scripts.site.stage import stage

SITE = ROOT / "site"


def build(site: Path = SITE, *, strict: bool = False) -> int:
    """Writes the sources and builds the site, and returns the exit code of Sphinx."""
    source, html = site / "source", site / "html"
    stage(source, site / "cache")
    arguments = ["-b", "html", "-q", "-j", "auto", "-c", str(Path(__file__).parent), "-d", str(site / "doctrees")]
    code = build_main([*arguments, *(["-W", "--keep-going"] if strict else []), str(source), str(html)])
    shutil.copytree(source / "pages", html / "pages", dirs_exist_ok=True)
    if RUST_DOCS.is_dir():
        shutil.copytree(RUST_DOCS, html / "rust", dirs_exist_ok=True)
    (html / "index.html").write_text('<meta http-equiv="refresh" content="0; url=docs/index.html">\n', encoding="utf-8")
    return code


def main(arguments: list[str]) -> int:
    """Builds the site, and says where it is."""
    code = build(strict="--check" in arguments)
    print(SITE / "html/index.html")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
