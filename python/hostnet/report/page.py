"""The frame of a report page: one file, no request to anywhere."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

from hostnet.report.html import Child, Html, element, join


def asset(name: str) -> str:
    """The text of a file of this package."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def policy(script: str) -> str:
    """What the page may load and run: nothing but its own style and this script."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'"
    )


def page(title: str, *content: Child) -> str:
    """A complete HTML document. Without its script it lacks the buttons and the values under the pointer, no more."""
    script = asset("page.js")
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=policy(script)),
        element("title", title),
        element("style", Html(asset("style.css"))),
    )
    body = element("body", element("main", *content), element("script", Html(script)))
    return "<!doctype html>\n" + element("html", join((head, body)), lang="en") + "\n"
