"""`hostnet explain-term` defines what screens and pages name."""

from __future__ import annotations

import json

import pytest

from tests.support import Cli, assert_tells


@pytest.mark.parametrize(
    ("term", "kind", "words"),
    [
        ("LFB", "abbreviation", "line fill buffer"),
        ("lfb", "pool", "LFB entries"),
        ("CHA TOR", "limit", "cha.tor.entries"),
        ("red", "regime", "out of credits"),
        ("fast-forward", "word", "run.forward"),
        ("forward", "word", "fast-forward"),
        ("fidelity", "word", "level of detail"),
        ("burst", "word", "back to back; a fidelity"),
        ("fluid", "word", "rates"),
        ("I_S", "abbreviation", "hostCC"),
        ("row_miss_ratio", "column of channels", "activations for reads"),
        ("iio.write_credits", "key of a server", "P2M-Write"),
        ("host.a.iio.write_credits", "key of a cluster", "P2M-Write"),
        ("sent again", 'heading of "Traffic"', "retransmissions"),
    ],
)
def test_terms_columns_and_headings_are_defined(cli: Cli, term: str, kind: str, words: str) -> None:
    found = json.loads(cli("explain-term", *term.split(), "--json").stdout)
    (one, *_) = [one for one in found if one["kind"] == kind]
    assert words in f"{one['meaning']} {' '.join(one['keys'])}"
    shown = cli("explain-term", term).stdout
    assert shown.splitlines()[0] == found[0]["name"]
    assert kind in shown


def test_without_a_term_all_are_listed(cli: Cli) -> None:
    lines = cli("explain-term").stdout.splitlines()
    assert max(map(len, lines)) <= 100
    text = " ".join(" ".join(lines).split())
    assert all(name in text for name in ("LFB, LLC", "CHA->UPI", "column of channels:", "row_miss_ratio", "red"))


def test_an_unknown_term_is_an_error_with_the_nearest_names(cli: Cli) -> None:
    assert_tells(cli.fails("explain-term", "LFX"), 'unknown-name | "LFX" | "LFB"')
    assert_tells(cli.fails("explain-term", "?"), 'unknown-name | "?" | explain-term')
