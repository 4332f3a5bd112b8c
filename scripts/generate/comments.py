"""Reads the comments of the docs that request a table of keys.

    <!-- keys: memory; else preset -->
    <!-- end -->

`keys:` is followed by the paths of tables; `.` is that of the whole configuration. The text after each `;`, and each
further line, is one of:

    else WORD       puts WORD in the column "when absent" where the schema has no default: the file with the value
    only KEY KEY    lists only these keys; other tables of the page leave them out
    flat KEY KEY    lists a table in one row, without rows for its keys
    more KEY LINK   ends the row of a key with a link to more about it
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

MARKED = re.compile(r"^<!-- keys: (?P<said>.*?)\s*-->\n(?P<rows>.*?)^<!-- end -->$", re.DOTALL | re.MULTILINE)


@dataclass
class Comment:
    """Request of a comment."""

    paths: list[str]
    """Paths of the tables."""
    otherwise: str = "none"
    """Word for the default of a key where the schema has none."""
    only: set[str] = field(default_factory=set)
    """Keys to list, if not all."""
    flat: set[str] = field(default_factory=set)
    """Tables that are listed in one row."""
    links: dict[str, str] = field(default_factory=dict)
    """Links to more about a key."""

    def covered(self) -> set[str]:
        """Returns the paths that only this comment lists."""
        return {below(path, key) for path in self.paths for key in self.only} or set(self.paths)


def below(path: str, key: str) -> str:
    """Returns the path of a key of a table."""
    return f"{path}.{key}" if path else key


def comment_of(said: str) -> Comment:
    """Reads a comment.

    Raises:
        ValueError: The comment has a part that is not understood.
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
    """Returns the comments of a page, in order."""
    return [comment_of(found["said"]) for found in MARKED.finditer(text)]
