"""The documentation agrees with the sources, its links resolve, and its abbreviations are in the glossary."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import hostnet
from hostnet import _core
from hostnet.cli.app import COMMANDS
from scripts.pages.examples import examples
from tests.docs.reference import (
    ROOT,
    asked_keys,
    documented,
    documented_limits,
    domain_names,
    table_columns,
)
from tests.support import HOSTNET

PAGES = sorted(
    page for pattern in ("*.md", "docs/**/*.md", "examples/*.md", "studies/**/*.md") for page in ROOT.glob(pattern)
)
MODELS = sorted(ROOT.glob("docs/models/*.md"))

FORBIDDEN = re.compile(
    r"\b(?:TODO|FIXME|XXX|lorem|blazing\w*|seamless\w*|cutting[- ]edge|state[- ]of[- ]the[- ]art|world[- ]class|"
    r"revolutionary|powerful|leverag\w*|utili[sz]e\w*|simply|obviously|best[- ]in[- ]class)\b|(?<![\w/(])#\d+\b",
    re.IGNORECASE,
)
"""Advertising, reminders and ticket numbers."""

ABSOLUTE_PATH = re.compile(r"(?<![\w./*>-])/(?!dev/|sys/|api/|commands/|gallery/)\w[\w.-]*/\w")
"""A path of a developer's machine. Device names, paths of every Linux machine, and made pages are allowed."""

NAMES = {"README", "CONTRIBUTING", "CHANGELOG", "P5800X", "EPYC", "MIKU", "E5"}
"""Words in capitals that are not abbreviations."""


MADE = {
    "gallery/index.md",
    *(f"gallery/{example.name}.md" for group in examples().values() for example in group),
    "commands/index.md",
    *(f"commands/{name}.md" for name in COMMANDS),
    "api/index.md",
}
"""Pages that the build of the site makes, to which links begin with a slash."""


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def prose_of(page: Path) -> str:
    """Returns a page without code and without the targets of links."""
    text = re.sub(r"^```.*?^```", "", text_of(page), flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"`[^`]*`|<!--.*?-->", "", text, flags=re.DOTALL)
    return re.sub(r"\]\([^)]*\)", "]", text)


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def anchors_of(page: Path) -> set[str]:
    """Returns the anchors of a page's headings, numbered from the second heading with the same words on."""
    headings = re.findall(r"^#+ (.+)$", text_of(page), re.MULTILINE)
    found: Counter[str] = Counter()
    for heading in headings:
        found[re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-")] += 1
    return {f"{name}-{number}" if number else name for name, count in found.items() for number in range(count)}


def links_of(page: Path) -> Iterator[str]:
    text = re.sub(r"^```.*?^```", "", text_of(page), flags=re.DOTALL | re.MULTILINE)
    yield from re.findall(r"\]\(([^)\s]+)\)", text)


def test_every_result_of_the_memory_alone_is_documented() -> None:
    text = text_of(ROOT / "docs/memory.md")
    results = text[text.index("\n## Results\n") : text.index("\n## DRAM commands\n")]
    said = set(re.findall(r"`(\w+)`", results))
    summary = hostnet.memory(requests=10).to_dict()
    summary.pop("config")
    assert sorted(keys_of(summary) - said - SAID_ELSEWHERE) == []


def test_every_result_of_the_network_alone_is_documented() -> None:
    text = text_of(ROOT / "docs/noc.md")
    said = set(re.findall(r"`(\w+)`", text[text.index("\n## Results\n") : text.index("\n## Python\n")]))
    summary = hostnet.noc(cycles=10, warmup=0).to_dict()
    summary.pop("config")
    assert sorted(keys_of(summary) - said) == []


def test_every_option_of_the_network_alone_is_documented() -> None:
    shown = subprocess.run([HOSTNET, "noc", "--help"], capture_output=True, text=True, check=True).stdout
    options = set(re.findall(r"(--[a-z][\w-]+)", shown)) - {"--help"}
    assert len(options) >= 17
    assert sorted(option for option in options if f"`{option}" not in text_of(ROOT / "docs/noc.md")) == []


def test_every_result_of_a_chip_is_documented() -> None:
    text = text_of(ROOT / "docs/chip.md")
    said = set(re.findall(r"`(\w+)`", text[text.index("\n## Results\n") : text.index("\n## Python\n")]))
    run = {"warmup": "1 us", "window": "1 us", "max": 2}
    for rack in ({}, {"kind": "torus", "size": [2]}):
        summary = hostnet.chip({"chip": {"preset": "scale-out-64"}, "run": run, "rack": rack}).summary
        assert sorted(keys_of({**summary, "config": None}) - said) == []


SAID_ELSEWHERE = {"rpq_full_share", "wpq_full_share"}
"""Keys of channels with the same names as those of domains."""


def keys_of(content: Any) -> set[str]:
    """Yields every key in nested tables and lists."""
    if isinstance(content, list):
        return set().union(*map(keys_of, content))
    if not isinstance(content, dict):
        return set()
    return set(content).union(*map(keys_of, content.values()))


def test_every_option_of_the_memory_is_documented() -> None:
    text = text_of(ROOT / "docs/memory.md")
    for name in ("run", "check"):
        shown = subprocess.run([HOSTNET, "memory", name, "--help"], capture_output=True, text=True, check=True).stdout
        options = set(re.findall(r"(--[a-z][\w-]+)", shown)) - {"--help"}
        assert options
        assert sorted(option for option in options if f"`{option}" not in text) == []


def test_every_option_of_the_counters_is_documented() -> None:
    text = text_of(ROOT / "docs/counters.md")
    shown = [
        subprocess.run([HOSTNET, *command, "--help"], capture_output=True, text=True, check=True).stdout
        for command in (("run",), ("counters", "events"), ("counters", "read"))
    ]
    options = {option for option in re.findall(r"(--[a-z][\w-]+)", shown[0]) if "counters" in option}
    options |= set(re.findall(r"(--[a-z][\w-]+)", shown[1] + shown[2])) - {"--help", "--json"}
    assert len(options) >= 9
    assert sorted(option for option in options if option not in text) == []


def test_every_field_of_the_counters_is_documented() -> None:
    text = text_of(ROOT / "docs/counters.md")
    fields = {"window_ns", "channels", *hostnet.counters.SCALARS, *hostnet.counters.FLOWS}
    assert sorted(field for field in fields if f"`{field}`" not in text) == []


@pytest.mark.parametrize("table", table_columns())
def test_every_column_is_documented_in_its_order(table: str) -> None:
    columns = documented("tables.md", f"## {table}")
    assert list(columns) == table_columns()[table]
    assert all(len(cells) == 2 and all(cells) for cells in columns.values())


def test_every_domain_is_documented() -> None:
    text = text_of(ROOT / "docs/domains.md")
    missing = [name for name in domain_names() if f"| `{name}` |" not in text and f"| {name} |" not in text]
    assert domain_names()
    assert missing == []


def test_every_limit_is_documented_with_its_keys() -> None:
    rows = documented_limits()
    ways = json.loads(_core.limits())
    assert sorted(key for _, keys in rows for key in keys) == sorted([*(way["path"] for way in ways), *asked_keys()])
    for way in ways:
        assert any(way["limit"] in names and way["path"] in keys for names, keys in rows), way["limit"]


def test_every_preset_and_device_has_its_file() -> None:
    names = [f"servers/{name}" for name, _, _ in _core.presets()]
    names += [f"dram/{name}" for name in _core.devices()] + [f"controllers/{name}" for name in _core.profiles()]
    names += [f"apps/{name}" for name, _ in _core.apps()]
    names += [f"counters/{name}" for name, _ in _core.counters()]
    names += [f"chips/{name}" for name in _core.chips()]
    names += [f"transports/{name}" for name in _core.transports()]
    names += [f"energy/{name}" for name in _core.energy_profiles()]
    names += [f"power/{name}" for name in _core.power_profiles()]
    names += [f"flow-sizes/{name}" for name in _core.flow_sizes()]
    names += [f"jobs/{name}" for name in _core.job_profiles()]
    names += [f"packet-sizes/{name}" for name in _core.packet_sizes()]
    assert {f"{name}.toml" for name in names} == {
        str(file.relative_to(ROOT / "specs")) for file in ROOT.glob("specs/*/*.toml")
    }


def test_every_part_of_the_model_has_its_page() -> None:
    without = {"lfb", "line", "link", "params", "part", "world"}
    parts = {folder.name for folder in ROOT.glob("crates/model/src/*/")} - without
    assert parts <= {page.stem for page in MODELS}


@pytest.mark.parametrize("page", MODELS, ids=name_of)
def test_a_model_page_says_what_is_and_what_is_not(page: Path) -> None:
    headings = re.findall(r"^## (.+)$", text_of(page), re.MULTILINE)
    assert headings == ["Modelled", "Not modelled", "Parameters", "Sources"]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for link in links_of(page):
        if "://" in link:
            continue
        if link.startswith("/"):
            assert link[1:] in MADE, f"{name_of(page)}: the site has no {link}"
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{name_of(page)}: {link} does not exist"
        assert target.is_relative_to(ROOT), f"{name_of(page)}: {link} leads out of the repository"
        assert not anchor or anchor in anchors_of(target), f"{name_of(page)}: {link} has no such heading"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_forbidden_words(page: Path) -> None:
    text = text_of(page)
    assert FORBIDDEN.findall(text) == []
    assert ABSOLUTE_PATH.findall(text) == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_paragraph_stands_twice(page: Path) -> None:
    paragraphs = Counter(part.strip() for part in prose_of(page).split("\n\n") if len(part) > 150)
    assert [part for part, count in paragraphs.items() if count > 1] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_abbreviations_are_in_the_glossary(page: Path) -> None:
    known = set(re.findall(r"\w+", text_of(ROOT / "docs/glossary.md").upper())) | NAMES
    used = set(re.findall(r"\b[A-Z][A-Z0-9]+\b", prose_of(page)))
    assert sorted(word for word in used if not {word, word.rstrip("0123456789")} & known) == []


def test_abbreviations_are_in_order_and_spelled_once() -> None:
    text = text_of(ROOT / "docs/glossary.md").partition("## Words")[0]
    rows = re.findall(r"^\| (\S[^|]*?) \|", text, re.MULTILINE)[1:]
    short = [name for row in rows for name in row.split(", ")]
    assert len(set(short)) == len(short)
    assert all(first.lower() <= second.lower() for first, second in pairwise(rows)), rows


def contents_of(page: Path) -> Iterator[Path]:
    """Yields the pages in the tables of contents of a page that are not made by the build."""
    for body in re.findall(r"^```{toctree}\n(.*?)^```", text_of(page), re.DOTALL | re.MULTILINE):
        for entry in body.splitlines():
            if entry and not entry.startswith((":", "/")):
                yield (page.parent / f"{entry}.md").resolve()


def reached(page: Path) -> set[Path]:
    """Returns the pages that tables of contents lead to from a page."""
    return {page}.union(*map(reached, contents_of(page)))


def test_tables_of_contents_lead_to_every_page() -> None:
    panels = set(ROOT.glob("studies/*/panels/*.md"))
    assert sorted(set(PAGES) - panels - {ROOT / "README.md"} - reached(ROOT / "docs/index.md")) == []


def test_every_example_is_listed() -> None:
    listed = set(links_of(ROOT / "examples/README.md"))
    files = {*ROOT.glob("examples/*.*"), *ROOT.glob("examples/notebooks/*.py")}
    assert listed == {str(file.relative_to(ROOT / "examples")) for file in files} - {"README.md"}


def test_the_configurations_in_the_pages_are_right() -> None:
    pages = ("README.md", "docs/config.md")
    found = [block for page in pages for block in re.findall(r"```toml\n(.*?)```", text_of(ROOT / page), re.DOTALL)]
    assert len(found) >= len(pages)
    for text in found:
        _core.resolve(text)
