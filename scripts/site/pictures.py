"""The main picture of a page that hostnet has written."""

from __future__ import annotations

import re
from functools import cache
from itertools import groupby

from bs4 import BeautifulSoup, Tag

from scripts.pages.blocks import ROOT

STYLE = ROOT / "python/hostnet/report/style.css"
COLUMNS = 2
GAP = 16


@cache
def colours() -> tuple[str, str]:
    """Returns the colours of pages in light and in dark mode, as declarations of CSS."""
    light, dark, *_ = re.findall(r":root \{\n(.*?)\}", STYLE.read_text(encoding="utf-8"), re.DOTALL)
    return light, dark


@cache
def rules() -> str:
    """Returns the style of pages without colours: what it says of the width of a screen holds for that of a picture."""
    text = STYLE.read_text(encoding="utf-8")
    text = re.sub(r"@media (\((?:max|min)-width[^{]*)", r"@container \1", text)
    text = re.sub(r"@media[^{]*\{(?:[^{}]|\{[^{}]*\})*\}", "", text)
    return re.sub(r":root \{.*?\}", "", text, flags=re.DOTALL)


def site_style() -> str:
    """Returns the rules that give pictures the colours of the mode of the site."""
    light, dark = colours()
    return f"figure.run {{\n{light}}}\nhtml[data-theme=dark] figure.run {{\n{dark}}}\n"


def drawings(section: Tag) -> list[Tag]:
    """Returns the drawings of a section that say what they show, in order."""
    return [svg for svg in section.find_all("svg") if svg.get("role") == "img"]


def has_picture(page: str) -> bool:
    """Returns true if a page has a drawing."""
    return 'role="img"' in page


def main_section(page: str) -> Tag:
    """Returns the first section of a page that has a drawing.

    Raises:
        ValueError: There is none.
    """
    for section in BeautifulSoup(page, "html.parser").find_all("section"):
        if drawings(section):
            return section
    raise ValueError("the page has no picture")


def figure(page: str) -> str:
    """Returns the main section of a page as HTML whose style does not meet that of the site."""
    section = main_section(page)
    for heading in section.find_all(["h2", "button"]):
        heading.decompose()
    style = (
        ".shown { color: var(--ink); font: 15px/1.5 var(--sans); container-type: inline-size } section { margin: 0 }"
    )
    inside = "".join(f"{part.strip()}\n" for part in str(section).splitlines() if part.strip())
    template = (
        f'<template shadowrootmode="open"><style>{rules()}{style}</style><div class="shown">{inside}</div></template>'
    )
    return f'<div class="drawing">{template}</div>'


def thumbnail(page: str, *, dark: bool) -> str:
    """Returns the drawings of the main section side by side, as a file of SVG in the colours of a mode."""
    rows = [list(row) for _, row in groupby(drawings(main_section(page)), lambda svg: size_of(svg)[1])]
    rows = [row[place : place + COLUMNS] for row in rows for place in range(0, len(row), COLUMNS)]
    parts, top, right = [], 0.0, 0.0
    for row in rows:
        left = 0.0
        for svg in row:
            width, height = size_of(svg)
            svg.attrs |= {"x": f"{left:g}", "y": f"{top:g}", "width": f"{width:g}", "height": f"{height:g}"}
            parts.append(str(svg))
            left += width + GAP
        top += max(size_of(svg)[1] for svg in row) + GAP
        right = max(right, left)
    # The parser writes names in small letters, and SVG knows this one with a capital alone.
    drawn = "".join(parts).replace("viewbox=", "viewBox=")
    style = f"<style>{rules()}:root {{ {colours()[dark]} }}</style>"
    size = f'viewBox="0 0 {right - GAP:g} {top - GAP:g}" width="{right - GAP:g}" height="{top - GAP:g}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{style}{drawn}</svg>\n'


def size_of(svg: Tag) -> tuple[float, float]:
    """Returns width and height of a drawing."""
    _, _, width, height = (float(value) for value in str(svg.get("viewbox")).split())
    return width, height
