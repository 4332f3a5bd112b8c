"""Frame of a report page: a single file that sends no requests."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

from hostnet.glossary import native
from hostnet.report.html import Child, Html, element, join


def asset(name: str) -> str:
    """Returns the text of a file of this package."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def policy(script: str) -> str:
    """Returns the content security policy, which allows only the page's own style and this script."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'"
    )


def with_definitions(markup: Html) -> Html:
    """Marks the first occurrence of each term in every section."""
    return Html(native().with_definitions(markup))


def page(title: str, *content: Child) -> str:
    """Returns a complete HTML document.

    Without its script, it lacks only the buttons and the values under the pointer.
    """
    script = asset("page.js")
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=policy(script)),
        element("title", title),
        element("style", Html(asset("style.css"))),
    )
    body = element("body", with_definitions(element("main", *content)), element("script", Html(script)))
    return "<!doctype html>\n" + element("html", join((head, body)), lang="en") + "\n"
