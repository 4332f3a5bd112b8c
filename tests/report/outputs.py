"""Outputs of notebook cells, taken apart."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any


class Output(HTMLParser):
    """Collects tables, list items, text, classes and links; raises an error if elements are not closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tables: list[list[list[str]]] = []
        self.items: list[str] = []
        self.classes: list[str] = []
        self.links: list[str] = []
        self.images: list[str] = []
        self.roots = 0
        self.style = self.text = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        given = dict(attrs)
        assert tag != "script"
        assert not [name for name in given if name.startswith("on")], "no attribute is a script"
        self.roots += not self.open
        self.open.append(tag)
        self.classes += (given.get("class") or "").split()
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        elif tag == "li":
            self.items.append("")
        elif tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "img":
            self.images.append(given["src"])

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        data = data.replace("\xa0", " ")
        if "style" in self.open:
            self.style += data
            return
        self.text += data
        if {"td", "th"} & set(self.open):
            self.tables[-1][-1][-1] += data
        elif "li" in self.open:
            self.items[-1] += data


def shown(results: Any) -> Output:
    """Returns the output of a cell with the results, which is one element and needs nothing from elsewhere."""
    output = Output()
    output.feed(results._repr_html_())
    output.close()
    assert output.open == []
    assert all(image.startswith("data:image/png;base64,") for image in output.images)
    assert "url(" not in output.style
    assert "@import" not in output.style
    return output
