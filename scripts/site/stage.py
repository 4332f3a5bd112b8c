"""Writes the sources of the site: a mirror of the repository's pages, and the pages that are made."""

from __future__ import annotations

import os
import re
from pathlib import Path

from hostnet.error_cards import HEADS, error_card
from scripts.pages.blocks import BLOCK, PICTURE, ROOT, blocks_of, pages
from scripts.site import api, commands, gallery
from scripts.site.simulate import Simulations

LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
LISTED_SUFFIXES = {".toml", ".csv", ".fio"}
ORPHAN = ["---", "orphan: true", "---", ""]
"""The head of a page that is in no table of contents."""
WIDE = "---\nhtml_theme.sidebar_secondary.remove: true\n---\n\n"
"""The head of a page without a list of its sections, which leaves room for wide outputs."""
WIDE_FOLDERS = ("docs/index", "docs/tasks/", "docs/tutorials/")
LEFT_OUT = ("README.md", "studies/*/panels/*")
"""Pages of the repository that the site does without."""


def stage(folder: Path, cache: Path) -> None:
    """Writes all sources into a folder, and removes those of a former build that there are no more."""
    simulations = Simulations(cache)
    wanted: dict[str, str] = {}
    for page in pages():
        name = page.relative_to(ROOT).as_posix()
        if not any(page.match(pattern) for pattern in LEFT_OUT[1:]) and name not in LEFT_OUT:
            text = with_pictures(page.read_text(encoding="utf-8"), page, simulations)
            head = WIDE if name.startswith(WIDE_FOLDERS) else ""
            wanted[name] = head + with_links(text, page, wanted)
    made = {**gallery.files(simulations), **commands.files(), **api.files()}
    wanted |= {name: WIDE + text if name.startswith("gallery/") else text for name, text in made.items()}
    files = simulations.files() | files_linked(wanted)
    remove_others(folder, {*wanted, *files})
    for name, content in wanted.items():
        write(folder / name, content.encode())
    for name, file in files.items():
        write(folder / name, file.read_bytes())


def write(file: Path, content: bytes) -> None:
    """Writes a file unless it has the content already, so that Sphinx sees which pages have changed."""
    if not file.exists() or file.read_bytes() != content:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def remove_others(folder: Path, names: set[str]) -> None:
    """Removes all files of a folder but some."""
    for file in folder.rglob("*"):
        if file.is_file() and file.relative_to(folder).as_posix() not in names:
            file.unlink()


def with_links(text: str, page: Path, wanted: dict[str, str]) -> str:
    """Returns a page whose links lead to pages of the site: an example to its gallery page, a folder to its list."""

    def changed(found: re.Match[str]) -> str:
        if "://" in found[2] or found[2].endswith(".md"):
            return found[0]
        target = (page.parent / found[2]).resolve()
        if target.parent == ROOT / "examples" and target.suffix == ".toml":
            return f"{found[1]}/gallery/{target.stem}.md)"
        if target.is_dir():
            return f"{found[1]}/{listed(target, wanted)}{found[3]}"
        return found[0]

    parts = re.split(r"(^ *```.*?^ *```$)", text, flags=re.DOTALL | re.MULTILINE)
    return "".join(part if place % 2 else LINK.sub(changed, part) for place, part in enumerate(parts))


def listed(folder: Path, wanted: dict[str, str]) -> str:
    """Adds a page that lists the files of a folder, and returns its name."""
    inside = folder.relative_to(ROOT).as_posix()
    if inside == "docs/models":
        return "docs/models.md"
    if inside == "studies":
        return "docs/validation.md"
    name = f"{inside}/index.md"
    if name not in wanted:
        wanted[name] = ""
        rows = [row for entry in sorted(folder.iterdir()) if (row := row_of(entry, wanted))]
        wanted[name] = "\n".join([*ORPHAN, f"# {inside}", "", *rows, ""])
    return name


def row_of(entry: Path, wanted: dict[str, str]) -> str | None:
    """Returns the line of a file or a folder in a list, or None if it is of no interest to readers."""
    if entry.is_dir():
        return f"- [{entry.name}](/{listed(entry, wanted)})"
    if entry.suffix not in LISTED_SUFFIXES:
        return None
    name = entry.relative_to(ROOT).as_posix()
    language = "toml" if entry.suffix == ".toml" else "text"
    include = [f"```{{literalinclude}} /{name}", f":language: {language}", "```"]
    wanted[f"{name}.md"] = "\n".join([*ORPHAN, f"# {name}", "", *card_of(entry), *include, ""])
    return f"- [{entry.name}](/{name}.md)"


def card_of(entry: Path) -> list[str]:
    """Returns the error card of a preset as lines of Markdown; none for another file."""
    card = error_card(entry.stem) if entry.parent == ROOT / "specs" / "servers" else None
    if card is None:
        return []
    rows = [[head.replace("\n", " ") for head in HEADS], ["---:"] * len(HEADS), *card.rows()]
    table = [f"| {' | '.join(cells)} |" for cells in rows] if card.curves else []
    errors = card.headline.removeprefix(card.label)
    return [
        f"How wrong it may be ([labels](/docs/validation.md#error-cards)): **{card.label}**{errors}.",
        "",
        *table,
        "",
    ]


def files_linked(wanted: dict[str, str]) -> dict[str, Path]:
    """Returns the files, images among them, that pages link or include, by their names."""
    found: dict[str, Path] = {}
    for name, text in wanted.items():
        names = [link[1] for link in LINK.findall(text)] + re.findall(r"\{literalinclude\} (\S+)", text)
        for target in names:
            if "://" not in target and not target.endswith(".md"):
                path = os.path.normpath(target[1:] if target.startswith("/") else f"{Path(name).parent}/{target}")
                if (ROOT / path).is_file():
                    found[path] = ROOT / path
    return found


def with_pictures(text: str, page: Path, simulations: Simulations) -> str:
    """Returns a page with pictures in place of the commands that make them."""
    depth = len(page.relative_to(ROOT).parts) - 1
    for found, block in reversed(list(zip(BLOCK.finditer(text), blocks_of(text), strict=True))):
        if block.language == PICTURE:
            caption = found["more"].strip()
            picture = simulations.run(block.commands()[-1].words).figure(depth, caption)
            text = text[: found.start("indent")] + picture + text[found.end() :]
    return text
