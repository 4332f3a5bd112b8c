"""`hostnet validate` with several studies, and what it writes into a checkout."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from hostnet.ledger import LedgerError, every, pages
from hostnet.ledger.every import cli_validate_every
from tests.support import Cli, assert_tells

ROOT = Path(__file__).resolve().parents[2]

PAGES = ("README.md", "docs/validation.md")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the files that are written."""
    for name in (*PAGES, "studies/counts.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for module in (pages, every):
        monkeypatch.setattr(module, "checkout", lambda: tmp_path)
    monkeypatch.setattr(pages, "read_counts", lambda: json.loads((tmp_path / "studies/counts.json").read_text()))
    return tmp_path


def test_what_is_written_is_what_was_counted(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = checkout / "studies/counts.json"
    committed = json.loads(file.read_text())
    file.write_text(json.dumps({**committed, "netsdm": {**committed["netsdm"], "holding": 0, "seconds": 77}}))
    code = cli_validate_every(["netsdm"], quick=False, threads=1, strict=True, fresh=False, write=True)
    assert code == 1, "rows of it fail"
    written = json.loads(file.read_text())
    assert written["netsdm"]["seconds"] != 77, "all of its points were run"
    assert {**written, "netsdm": {**written["netsdm"], "seconds": 0}} == {
        **committed,
        "netsdm": {**committed["netsdm"], "seconds": 0},
    }
    for name in PAGES:
        page = (checkout / name).read_text()
        assert pages.with_table(page, pages.tables(written)[name]) == page
    assert capsys.readouterr().out.splitlines()[-1].split()[0] == "netsdm"


def test_several_studies_have_a_row_each(cli: Cli) -> None:
    told = cli("validate", "netsdm", "noc", "netsdm", "--quick").stdout.splitlines()
    assert [line.split()[0] for line in told[-2:]] == ["netsdm", "noc"]
    assert sum("targets hold" in line for line in told) == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "missing-key | STUDY | --all | netsdm"),
        (("--all", "noc"), "conflicting-keys | --all | noc"),
        (("noc", "netdim"), "unknown-name | netdim | netdimm"),
        (("noc", "netsdm", "--json", "x.json"), "conflicting-keys | --json"),
        (("noc", "--write", "--quick"), "conflicting-keys | --quick"),
        (("noc", "--write", "--figure", "latency"), "conflicting-keys | --figure"),
    ],
)
def test_what_does_not_go_together_is_refused(cli: Cli, arguments: tuple[str, ...], says: str) -> None:
    assert_tells(cli.fails("validate", *arguments), says)
    assert not (cli.folder / "x.json").exists()


def test_without_a_checkout_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "studies_root", lambda: tmp_path / "studies")
    with pytest.raises(LedgerError):
        pages.checkout()
