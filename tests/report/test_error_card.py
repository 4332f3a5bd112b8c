"""The page of a run and the list of presets show error cards."""

from __future__ import annotations

from pathlib import Path

from hostnet.report.error_card import card_section, presets_of
from hostnet.report.load import RunFiles
from tests.support import Cli, assert_tells


def run_of(config: dict[str, object]) -> RunFiles:
    return RunFiles(Path(), {}, {"config": config})


def test_a_page_has_the_card_of_each_preset_of_a_run() -> None:
    config = {
        "host": {"a": {"server": {"preset": "xeon-gold-5218"}}, "b": {"preset": "netdimm-host"}},
        "server": {"preset": "xeon-gold-5218"},
    }
    assert presets_of(config) == ["xeon-gold-5218", "netdimm-host"]
    section = str(card_section(run_of(config)))
    assert section.count("<table>") == 1
    assert "<b>xeon-gold-5218</b>: calibrated" in section
    assert "<b>netdimm-host</b>: nothing measured" in section


def test_a_run_without_presets_has_no_card() -> None:
    assert card_section(run_of({})) is None
    assert card_section(run_of({"server": {"preset": "of-a-later-version"}})) is None


def test_presets_are_listed_with_their_errors(cli: Cli) -> None:
    lines = cli("list", "presets", "--errors").stdout.splitlines()
    assert any(line.startswith("cascade-lake-6234 ") and "calibrated: " in line for line in lines)
    assert sum(line.startswith("epyc-7742 ") and line.count("%") == 5 for line in lines) == 7
    assert_tells(cli.fails("list", "devices", "--errors"), "conflicting-keys | --errors | devices")
