"""Words of the pages are in a dictionary, in the glossary, or in the list of words.

pyspellchecker has its dictionary in the package, needs nothing else, and knows what is right; codespell, which knows
common mistakes alone, would miss all others.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from spellchecker import SpellChecker

from scripts.pages.blocks import pages
from scripts.pages.examples import examples
from tests.docs.reference import ROOT

WORDS = ROOT / "docs/words.txt"
LETTERS_MIN = 3
WORD = re.compile(r"[A-Za-z][A-Za-z']*[a-z]")

TEXTS = {
    **{page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in pages()},
    **{example.file: f"{example.title}\n{example.text}" for group in examples().values() for example in group},
}


def words_of(text: str) -> set[str]:
    """Returns the words of a page in small letters, without code, links, paths and names in capitals."""
    text = re.sub(r"^ *```.*?^ *```", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^    .*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"`[^`]*`|<!--.*?-->|\]\([^)]*\)|\S*[/_.=]\w\S*|\b\w*\d\w*\b", " ", text, flags=re.DOTALL)
    return {word.removesuffix("'s").lower() for word in WORD.findall(text) if len(word) >= LETTERS_MIN}


@cache
def listed() -> set[str]:
    return set(WORDS.read_text(encoding="utf-8").split())


@cache
def glossary() -> set[str]:
    text = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
    return {word.lower() for word in re.findall(r"[A-Za-z]+", text)}


@cache
def unknown(words: frozenset[str]) -> set[str]:
    """Returns the words that are neither in the dictionary nor in the glossary."""
    return {word for word in dictionary().unknown(words) if word not in glossary()}


@cache
def dictionary() -> SpellChecker:
    return SpellChecker()


def unknown_in(name: str) -> set[str]:
    return unknown(frozenset(words_of(TEXTS[name])))


@pytest.mark.parametrize("name", TEXTS)
def test_words_are_spelled_right(name: str) -> None:
    wrong = sorted(unknown_in(name) - listed())
    assert wrong == [], f"correct them, or add them to {WORDS.relative_to(ROOT)}"


def test_a_wrong_word_is_found() -> None:
    text = "A througput of the bufer, `cde` and [a link](htps://x.yz), in examples/nme.toml.\n\n    idented cde\n"
    assert unknown(frozenset(words_of(text))) == {"througput", "bufer"}


def test_the_list_has_words_in_order_that_are_needed() -> None:
    words = WORDS.read_text(encoding="utf-8").split()
    assert words == sorted(set(words))
    used = set().union(*map(unknown_in, TEXTS))
    assert sorted(set(words) - used) == []


def test_paths_are_no_words() -> None:
    assert words_of("See docs/confg.md and memory.chanels.") == {"see", "and"}
    assert Path("docs/words.txt").suffix == ".txt"
