"""The pages of the gallery: one for each example."""

from __future__ import annotations

import re
import shlex

from scripts.pages.examples import Example, examples
from scripts.site.simulate import Simulation, Simulations

LINK = re.compile(r"\b(docs/[\w/-]+\.md)\b")

INTRODUCTION = """\
# Gallery

A page for each [example](/examples/README.md): its picture, the command, what to see, and what it prints. Each picture
is the head of a page that hostnet writes for every run.
"""


def files(simulations: Simulations) -> dict[str, str]:
    """Returns the pages and the pictures of the gallery by their names."""
    groups = examples()
    all_of_them = [example for group in groups.values() for example in group]
    runs = simulations.run_all({example.name: shown_command(example) for example in all_of_them})
    found = {"gallery/index.md": index(groups)}
    for example in all_of_them:
        found[f"gallery/{example.name}.md"] = page(example, runs[example.name])
        for mode in ("light", "dark"):
            found[f"pages/{example.name}-{mode}.svg"] = runs[example.name].thumbnail(dark=mode == "dark")
    return found


def shown_command(example: Example) -> list[str]:
    """Returns the command that makes the picture: the first of the example, or a run where that one explains."""
    words = shlex.split(example.commands[0])
    return words if words[1] == "noc" else ["hostnet", "run", example.file, "--brief"]


def index(groups: dict[str, list[Example]]) -> str:
    """Returns the list of all examples."""
    lines = [INTRODUCTION]
    for title, group in groups.items():
        lines += [f"## {title}", "", "{.cards}"]
        lines += [f"- {images(example)} [{example.title}]({example.name}.md)" for example in group]
        lines += [""]
    names = "\n".join(example.name for group in groups.values() for example in group)
    return "\n".join([*lines, "```{toctree}", ":hidden:", "", names, "```", ""])


def images(example: Example) -> str:
    """Returns the picture of an example in both modes."""
    return " ".join(f"![](/pages/{example.name}-{mode}.svg){{.only-{mode}}}" for mode in ("light", "dark"))


def page(example: Example, run: Simulation) -> str:
    """Returns the page of an example."""
    return "\n".join(
        [
            f"# {example.title}",
            "",
            LINK.sub(r"[\1](/\1)", example.text),
            "",
            "```sh",
            *example.commands,
            "```",
            "",
            run.figure(1, f"The run of {example.file}."),
            "",
            "## What it prints",
            "",
            "```text",
            run.printed.rstrip(),
            "```",
            "",
            "## The configuration",
            "",
            "```toml",
            example.content.rstrip(),
            "```",
            "",
        ]
    )
