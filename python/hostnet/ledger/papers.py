"""Published works that studies reproduce, from `studies/papers.toml`."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from hostnet.files import parse_toml, read_text
from hostnet.ledger.errors import LedgerError
from hostnet.ledger.study import studies_root


@dataclass(frozen=True)
class Paper:
    """A published work, and the studies that reproduce it."""

    name: str
    title: str
    authors: tuple[str, ...]
    venue: str
    year: int
    studies: tuple[str, ...]

    @property
    def source(self) -> str:
        """Title, venue and year."""
        return f"{self.title} ({self.venue}, {self.year})"


def papers() -> dict[str, Paper]:
    """Returns all works by the name that `hostnet paper` takes."""
    file = studies_root() / "papers.toml"
    return {
        name: Paper(
            name,
            title=entry["title"],
            authors=tuple(entry["authors"]),
            venue=entry["venue"],
            year=entry["year"],
            studies=tuple(entry["studies"]),
        )
        for name, entry in parse_toml(read_text(file), file).items()
    }


def paper_of(name: str) -> Paper:
    """Returns a work by name.

    Raises:
        LedgerError: There is none of that name; the message lists all names.
    """
    known = papers()
    if name not in known:
        near = get_close_matches(name, known, 1)
        hint = f'did you mean "{near[0]}"? ' if near else ""
        raise LedgerError("unknown-name", f"{name}: is no paper; {hint}choose one of {', '.join(known)}")
    return known[name]
