"""The command `hostnet explain-term`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hostnet.cli.declare import json_option
from hostnet.terminal.screen import echo, echo_json

if TYPE_CHECKING:
    from hostnet.headings import Definition


def register(app: typer.Typer) -> None:
    """Registers the command."""
    app.command(name="explain-term")(explain_term)


def explain_term(
    term: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TERM",
            help="Abbreviation, word, domain, limit, regime, column, heading or key.",
            show_default="the names of all terms",
        ),
    ] = None,
    json: Annotated[bool, json_option("Print the definitions as JSON.")] = False,
) -> int:
    """Define a term, a limit, a column, a heading or a key.

    Examples: hostnet explain-term P2M-Write, hostnet explain-term CHA TOR, hostnet explain-term iio.write_credits
    """
    from hostnet.headings import all_definitions, as_json, find_definitions

    found = find_definitions(" ".join(term)) if term else list(all_definitions())
    if json:
        echo_json(as_json(found))
    elif term:
        _print_definitions(found)
    else:
        _print_names(found)
    return 0


def _print_definitions(found: list[Definition]) -> None:
    """Prints the definitions of a name."""
    from hostnet.cli.listing import print_described

    echo(found[0].name)
    rows = ((f"  {one.kind}", f"{one.meaning}{_raised(one)}") for one in found)
    print_described(rows)
    pages = dict.fromkeys(f"docs/{one.page}" for one in found if one.page is not None)
    if pages:
        echo(f"See {', '.join(pages)}.")


def _raised(definition: Definition) -> str:
    """Names the keys that raise a limit."""
    return f" ({', '.join(definition.keys)})" if definition.keys else ""


def _print_names(found: list[Definition]) -> None:
    """Prints the names of terms and columns by kind. Headings have the definitions of columns."""
    from hostnet.cli.listing import wrap_description

    kinds: dict[str, dict[str, None]] = {}
    for one in found:
        if one.page is not None:
            kinds.setdefault(one.kind, {})[one.name] = None
    for kind, names in kinds.items():
        echo(f"{kind}:")
        echo(wrap_description(", ".join(names), "  "))
