"""Settings of Sphinx for the documentation site; `make docs` builds it."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

from pygments.lexers.special import TextLexer
from sphinx.ext.napoleon import Config, GoogleDocstring

import hostnet
from scripts.site.pictures import site_style

project = "hostnet"
version = release = hostnet.__version__
copyright = "the authors of hostnet"

root_doc = "docs/index"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
smartquotes = False  # would join the two dashes of options
exclude_patterns = ["pages"]

myst_heading_anchors = 4
myst_enable_extensions = ["attrs_block", "attrs_inline"]

autodoc_member_order = "bysource"
autodoc_typehints = "description"
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(?!hostnet\.\w+$).*")]
suppress_warnings = ["ref.python"]  # the built-in `bytes` is also the name of a key

html_theme = "pydata_sphinx_theme"
html_title = "hostnet"
html_show_sourcelink = False
html_copy_source = False
html_static_path = ["static"]
html_css_files = ["site.css", "pictures.css"]
html_theme_options = {
    "show_prev_next": False,
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}


def without_fields(_app: Any, what: str, _name: str, value: Any, _options: Any, *_given: Any) -> tuple[str, str] | None:
    """Leaves out the parameters of a dataclass, which are listed below it with their meanings."""
    return ("(...)", "") if what == "class" and dataclasses.is_dataclass(value) else None


def with_sections(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Rewrites a docstring: sections of Google's style, and code in the notation of Sphinx."""
    # An at sign outside of code would make an address of the words beside it.
    lines[:] = [line if "`" in line else line.replace("@", "\\@") for line in lines]
    lines[:] = [re.sub(r"(?<!`)`([^`]+)`(?!`)", r"``\1``", line) for line in lines]
    if what != "attribute":  # whose first colon would end its type
        lines[:] = GoogleDocstring(lines, Config(), app, what, name, value, options).lines()


def write_colours(app: Any) -> None:
    """Writes the style with the colours of pictures."""
    file = Path(app.outdir) / "_static/pictures.css"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(site_style(), encoding="utf-8")


def setup(app: Any) -> None:
    """Connects the functions above."""
    app.connect("autodoc-process-signature", without_fields)
    app.connect("autodoc-process-docstring", with_sections)
    app.add_lexer("csv", TextLexer)
    app.connect("builder-inited", write_colours)
