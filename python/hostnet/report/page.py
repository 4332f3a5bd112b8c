"""The frame of a report page: one file, no request to anywhere."""

from __future__ import annotations

from importlib.resources import files

from hostnet.report.html import Child, Html, element, join

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""What the page may load: nothing but its own style."""


def page(title: str, *content: Child) -> str:
    """A complete HTML document."""
    style = Html(files(__package__).joinpath("style.css").read_text(encoding="utf-8"))
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("title", title),
        element("style", style),
    )
    body = element("body", element("main", *content))
    return "<!doctype html>\n" + element("html", join((head, body)), lang="en") + "\n"
