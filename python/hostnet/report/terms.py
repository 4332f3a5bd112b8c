"""Adds the definitions of terms to a finished page: the first time that a section names one."""

from __future__ import annotations

import re
from functools import cache
from html import escape as escape_html

from hostnet import glossary
from hostnet.report.html import Html, defined

TAG = re.compile(r"(<[^>]*>)")
NAME = re.compile(r"</?([a-z][\w-]*)")

QUOTED = frozenset({"pre", "code", "svg", "dfn", "h1", "title", "summary", "button", "a", "script", "style"})
"""Elements whose text is quoted, drawn, or answers to the keyboard already."""

SECTIONS = frozenset({"section", "header", "main"})
"""Elements in which a term is defined once."""

WHOLE = frozenset({"b", "dt"})
"""Elements whose text may be a word of the glossary, or a limit of one word."""

IN_TEXT = ("abbreviation", "domain", "pool")
"""Kinds of terms that stand out in a sentence. Words such as "line" do not, and users name workloads by them."""

UNITS = frozenset({"GB", "GiB", "GT", "MT"})
"""Abbreviations that every reader of the pages knows as units."""


def with_definitions(markup: Html) -> Html:
    """Marks the first occurrence of each term in every section."""
    open_names: list[str] = []
    seen: set[str] = set()
    parts = []
    for part in TAG.split(markup):
        if part.startswith("<"):
            if (name := NAME.match(part)) and not part.endswith("/>"):
                _follow(open_names, name[1], closes=part.startswith("</"))
                seen = set() if name[1] in SECTIONS else seen
            parts.append(part)
        elif part.strip() and not QUOTED & set(open_names):
            parts.append(_marked(part, open_names[-1] if open_names else "", seen))
        else:
            parts.append(part)
    return Html("".join(parts))


def _follow(open_names: list[str], name: str, *, closes: bool) -> None:
    """Updates the names of the open elements."""
    if not closes:
        open_names.append(name)
    elif name in open_names:
        del open_names[len(open_names) - 1 - open_names[::-1].index(name) :]


def _marked(text: str, element: str, seen: set[str]) -> str:
    """Marks the terms in a text of an element that are not in `seen`."""
    whole = glossary.definition(text.strip()) if element in WHOLE else None
    if whole is not None:
        seen.add(text)
        return str(defined(Html(text), whole))

    def mark(found: re.Match[str]) -> str:
        if found[0] in seen:
            return found[0]
        seen.add(found[0])
        return str(defined(Html(found[0]), _definitions()[found[0]]))

    return _pattern().sub(mark, text)


@cache
def _definitions() -> dict[str, str]:
    """Returns the definitions of the terms that are marked in sentences, by their name in markup."""
    return {
        escape_html(name): meanings[0].definition
        for name, meanings in glossary.terms().items()
        if name not in UNITS and any(term.kind in IN_TEXT for term in meanings)
    }


@cache
def _pattern() -> re.Pattern[str]:
    """Returns the pattern of these terms, longest first."""
    names = sorted(_definitions(), key=len, reverse=True)
    return re.compile(rf"(?<![\w/.&-])(?:{'|'.join(map(re.escape, names))})(?![\w/-]|\.\w)")
