"""Writes the man pages of the commands from their declarations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hostnet.cli.app import COMMANDS, app, load
from hostnet.cli.main import EXIT_FAILED, EXIT_INTERNAL, EXIT_INTERRUPTED, EXIT_USAGE

FOLDER = Path("packaging/wheel/data/share/man/man1")
"""Folder of the pages; wheels install it as `share/man/man1`."""

EXIT_CODES = {
    0: "Success.",
    EXIT_FAILED: "The simulation failed, or a strict validation has failing rows.",
    EXIT_USAGE: "Invalid input, or a file that cannot be read or written.",
    EXIT_INTERNAL: "A defect of hostnet; please report it.",
    EXIT_INTERRUPTED: "Interrupted by Ctrl-C.",
}

DEFAULT = re.compile(r"\[default: \((.*)\)\]")
"""Default that is described in words, which the help shows in parentheses."""

ENVIRONMENT = {
    "COLUMNS": "Width of the output without a terminal.",
    "HOSTNET_CACHE_DIR": "Folder of measured tables; an empty value keeps none. By default ~/.cache/hostnet.",
    "HOSTNET_DEBUG": "1 shows where an error arose.",
}


def files(root: Path) -> dict[Path, str]:
    """Returns the page of each command and the page that lists them, by path."""
    pages = {f"hostnet-{name}.1": "\n".join(command_page(name)) for name in COMMANDS}
    return {root / FOLDER / name: f"{text}\n" for name, text in {"hostnet.1": "\n".join(overview()), **pages}.items()}


def overview() -> Iterator[str]:
    """Yields the lines of hostnet.1."""
    yield from head("hostnet", app.info.help or "")
    yield from (".SH SYNOPSIS", r"\fBhostnet\fR \fICOMMAND\fR [\fIOPTIONS\fR] [\fIARGUMENTS\fR]")
    yield from (".SH DESCRIPTION", roff(app.info.help or ""), ".SH COMMANDS")
    for name, (_, summary) in COMMANDS.items():
        yield from entry(rf"\fBhostnet\-{roff(name)}\fR(1)", summary)
    yield ".SH EXIT STATUS"
    for code, meaning in EXIT_CODES.items():
        yield from entry(rf"\fB{code}\fR", meaning)
    yield ".SH ENVIRONMENT"
    for variable, meaning in ENVIRONMENT.items():
        yield from entry(rf"\fB{variable}\fR", meaning)


def command_page(name: str) -> Iterator[str]:
    """Yields the lines of the page of a command and its subcommands."""
    command = load(name)
    yield from head(f"hostnet-{name}", COMMANDS[name][1])
    below = getattr(command, "commands", {})
    for words, found in {name: command, **{f"{name} {inner}": found for inner, found in below.items()}}.items():
        context = found.context_class(found, info_name=f"hostnet {words}")
        yield from (f".SH {roff(words.upper())}" if " " in words else ".SH SYNOPSIS", usage(found, context))
        yield from (".PP" if " " in words else ".SH DESCRIPTION", description(found.help))
        yield from options(found, context, ".SS" if " " in words else ".SH")
    yield from (".SH SEE ALSO", r"\fBhostnet\fR(1)")


def head(page: str, summary: str) -> Iterator[str]:
    """Yields the title line and the name of a page."""
    yield f'.TH {roff(page.upper())} 1 "" "hostnet" "User Commands"'
    yield from (".SH NAME", rf"{roff(page)} \- {roff(summary.rstrip('.'))}")


def usage(command: Any, context: Any) -> str:
    """Returns the synopsis of a command."""
    text = " ".join(command.get_usage(context).removeprefix("Usage: ").split())
    words, rest = context.info_name, text.removeprefix(context.info_name).strip()
    return rf"\fB{roff(words)}\fR {roff(rest)}"


def description(text: str) -> str:
    """Returns the paragraphs of a description."""
    return "\n.PP\n".join(roff(paragraph) for paragraph in text.split("\n\n"))


def options(command: Any, context: Any, heading: str) -> Iterator[str]:
    """Yields the arguments and options of a command, by panel."""
    panels: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(context):
        default = "Arguments" if parameter.param_type_name == "argument" else "Options"
        panel = getattr(parameter, "rich_help_panel", None) or default
        panels.setdefault(panel, []).append(parameter.get_help_record(context))
    for panel, records in panels.items():
        yield f"{heading} {roff(panel.upper() if heading == '.SH' else panel)}"
        for names, text in records:
            yield from entry(declaration(names), DEFAULT.sub(r"[default: \1]", " ".join(text.split())))


def declaration(names: str) -> str:
    """Returns the names of an option in bold and what they take in italics."""
    written = ((rf"\fB{roff(word)}\fR" if word.startswith("-") else rf"\fI{roff(word)}\fR") for word in names.split())
    return re.sub(r",\\fR", r"\\fR,", " ".join(written))


def entry(term: str, text: str) -> Iterator[str]:
    """Yields an entry of a list of terms."""
    yield from (".TP", term, roff(text))


def roff(text: str) -> str:
    """Escapes text: backslashes, hyphens that can be typed, and lines that would be requests."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return re.sub(r"^(?=[.'])", r"\&", escaped, flags=re.MULTILINE)
