"""Reads the comments of the docs that ask for a table of keys.

    <!-- keys: memory; else preset -->
    <!-- end -->

What begins with `keys:` are the paths of tables, `.` that of the whole configuration. What follows each `;`, and each
line that follows, is one of:

    else WORD       says WORD in the column "when absent" where the schema does not know: the file that has the value
    only KEY KEY    has these keys alone; other tables of the page leave them out
    flat KEY KEY    has a row for a table, and none for its keys
    more KEY LINK   ends the row of a key with a link to where more is said of it
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

MARKED = re.compile(r"^<!-- keys: (?P<said>.*?)\s*-->\n(?P<rows>.*?)^<!-- end -->$", re.DOTALL | re.MULTILINE)


@dataclass
class Comment:
    """What a comment asks for."""

    paths: list[str]
    """The tables."""
    otherwise: str = "none"
    """What a key is when it is absent and the schema does not know."""
    only: set[str] = field(default_factory=set)
    """The keys, if not all."""
    flat: set[str] = field(default_factory=set)
    """The tables with a row of their own."""
    links: dict[str, str] = field(default_factory=dict)
    """Where more is said of a key."""

    def covered(self) -> set[str]:
        """The paths that it has for itself."""
        return {below(path, key) for path in self.paths for key in self.only} or set(self.paths)


def below(path: str, key: str) -> str:
    """The path of a key of a table."""
    return f"{path}.{key}" if path else key


def comment_of(said: str) -> Comment:
    """Reads a comment.

    Raises:
        ValueError: It says something that has no meaning.
    """
    paths, *more = (part.strip() for part in re.split("[;\n]", said))
    comment = Comment([path.removeprefix(".") for path in paths.split(", ")])
    for word, *rest in (part.split() for part in more if part):
        match word:
            case "else":
                comment.otherwise = " ".join(rest)
            case "only":
                comment.only.update(rest)
            case "flat":
                comment.flat.update(rest)
            case "more":
                comment.links[rest[0]] = rest[1]
            case _:
                raise ValueError(f'a table of keys cannot have "{word}": else, only, flat and more are known')
    return comment


def comments_of(text: str) -> list[Comment]:
    """The comments of a page, in their order."""
    return [comment_of(found["said"]) for found in MARKED.finditer(text)]
