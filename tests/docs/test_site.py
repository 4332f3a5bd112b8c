"""The documentation site: its made pages are complete, and it builds without a warning."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlparse

import pytest

import hostnet
from hostnet.cli.app import COMMANDS, load
from scripts.pages.examples import example_of, examples
from scripts.site import api, commands, pictures, stage
from scripts.site.__main__ import build
from tests.docs.reference import ROOT

EXAMPLES = [example for group in examples().values() for example in group]


def test_every_example_is_in_the_gallery_once_and_says_what_to_see() -> None:
    assert sorted(example.file for example in EXAMPLES) == sorted(
        file.relative_to(ROOT).as_posix() for file in ROOT.glob("examples/*.toml")
    )
    for example in EXAMPLES:
        sentences = re.findall(r"[.?]\s|[.?]$", re.sub(r"nic\.|\S+\.(md|toml)\b", "", example.text))
        assert 2 <= len(sentences) <= 5, example.name
        assert all(example.file in command for command in example.commands), example.name


@pytest.mark.parametrize(
    "head", ["# Title.\n\n[x]", "# Title\n#\n# Text.\n\n[x]", "# A\n# B\n#\n# Text.\n#\n# hostnet run\n\n"]
)
def test_an_example_without_a_part_of_its_head_is_refused(tmp_path: Path, head: str) -> None:
    (tmp_path / "x.toml").write_text(head)
    with pytest.raises(ValueError, match=r"x\.toml: its head must have"):
        example_of(tmp_path / "x.toml")


def test_crates_are_linked_where_their_documentation_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "RUST_DOCS", tmp_path)
    assert "../rust/" not in api.rust()
    (tmp_path / "hostnet_model").mkdir()
    (tmp_path / "hostnet_model/index.html").write_text("")
    assert re.findall(r'href="([^"]+)"', api.rust()) == ["../rust/hostnet_model/index.html"]
    assert api.rust().count("\n| hostnet-") == len(list(ROOT.glob("crates/*/Cargo.toml"))) - 1


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_of_a_command_has_all_its_options(name: str) -> None:
    command = load(name)
    inner = getattr(command, "commands", None) or {name: command}
    options = {option for found in inner.values() for param in found.params for option in param.opts}
    text = commands.page(name)
    assert sorted(option for option in options if option.startswith("-") and f"`{option}`" not in text) == []


def test_the_api_has_every_public_name_once() -> None:
    named = [name for names in api.groups().values() for name in names]
    assert sorted(named) == sorted(set(hostnet.__all__) - {"__version__"})
    text = "".join(api.files().values())
    assert all(re.search(rf"^\.\. auto\w+:: hostnet\.{name}$", text, re.MULTILINE) for name in named)


PAGE = """<section><h2>No picture</h2><svg viewBox="0 0 9 9"></svg></section>
<section><h2>What it is</h2><svg role="img" viewBox="0 0 380 40"><text>a</text></svg>
<svg role="img" viewBox="0 0 380 90"></svg><svg role="img" viewBox="0 0 380 90"></svg><button>Copy</button></section>"""


def test_the_picture_of_a_page_is_its_first_section_with_a_drawing() -> None:
    assert not pictures.has_picture("<section><svg></svg></section>")
    figure = pictures.figure(PAGE)
    assert figure.count("<svg") == 3
    assert "Copy" not in figure
    assert "What it is" not in figure


def test_a_thumbnail_has_the_drawings_in_rows_and_the_colours_of_its_mode() -> None:
    light, dark = (pictures.thumbnail(PAGE, dark=mode) for mode in (False, True))
    assert 'viewBox="0 0 776 146"' in light
    assert re.findall(r'<svg[^>]* x="(\d+)" y="(\d+)"', light.replace("\n", " ")) == [
        ("0", "0"),
        ("0", "56"),
        ("396", "56"),
    ]
    assert light != dark
    assert pictures.colours()[0] in light
    assert pictures.colours()[1] in dark


def test_links_of_pages_lead_to_pages_of_the_site(tmp_path: Path) -> None:
    made: dict[str, str] = {}
    page = ROOT / "docs/config.md"
    text = "[a](../examples/rdma.toml), [b](../specs/dram#x), [c](tables.md#d), `[e](f)`\n```\n[g](../specs)\n```\n"
    changed = stage.with_links(text, page, made)
    assert changed.startswith("[a](/gallery/rdma.md), [b](/specs/dram/index.md#x), [c](tables.md#d)")
    assert "[g](../specs)" in changed
    assert "[DDR4_2933.toml](/specs/dram/DDR4_2933.toml.md)" in made["specs/dram/index.md"]
    assert stage.files_linked(made)["specs/dram/DDR4_2933.toml"].is_file()
    stage.write(tmp_path / "old.md", b"old")
    stage.write(tmp_path / "new.md", b"new")
    stage.remove_others(tmp_path, {"new.md"})
    assert [file.name for file in tmp_path.iterdir()] == ["new.md"]


class Links(HTMLParser):
    """Collects links and anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            if name in ("id", "name") and value:
                self.anchors.add(value)


@pytest.mark.long
def test_the_site_builds_without_a_warning_and_no_link_is_dead(tmp_path: Path) -> None:
    assert build(tmp_path, strict=True) == 0
    html = tmp_path / "html"
    found = {file: Links(file.read_text(encoding="utf-8")) for file in html.rglob("*.html") if "rust" not in file.parts}
    dead = [
        f"{file.relative_to(html)}: {link}"
        for file, page in found.items()
        for link in page.links
        if not urlparse(link).scheme and not leads_somewhere(file, link, found)
    ]
    assert dead == []
    index = (html / "searchindex.js").read_text(encoding="utf-8")
    assert all(
        word in index for word in ("credit", "iio", "docs/tasks/slow-storage", "gallery/quadrant3", "commands/run")
    )


def leads_somewhere(file: Path, link: str, found: dict[Path, Links]) -> bool:
    """Returns true if a link from a page leads to a file and, if it names an anchor, to one that is there."""
    path, anchor = urldefrag(link)
    target = (file.parent / unquote(urlparse(path).path)).resolve() if path else file
    return target.is_file() and (not anchor or target not in found or unquote(anchor) in found[target].anchors)


def test_the_page_of_a_preset_has_its_error_card() -> None:
    calibrated = stage.card_of(ROOT / "specs/servers/xeon-gold-5218.toml")
    assert "**calibrated**: idle latency" in calibrated[0]
    assert next(row for row in calibrated if row.startswith("| 1")).startswith("| 100 % | ")
    nothing = stage.card_of(ROOT / "specs/servers/netdimm-host.toml")
    assert "**nothing measured**" in nothing[0]
    assert not any(row.startswith("|") for row in nothing)
    assert stage.card_of(ROOT / "specs/dram/DDR4_2666.toml") == []
