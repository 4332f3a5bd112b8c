"""Fixtures of all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support import Cli

# Off, so that tests neither use nor change the cache of the developer.
os.environ["HOSTNET_CACHE_DIR"] = ""


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Returns the command in an empty folder with the file quadrant.toml."""
    return Cli(tmp_path)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives the tests the same environment, whatever the developer has set."""
    for name in list(os.environ):
        if name.startswith("HOSTNET_") or name in ("COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOSTNET_CACHE_DIR", "")


@pytest.fixture
def rate_tables(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keeps what runs of servers with fluid memory measure before they begin for later tests of the process."""
    monkeypatch.setenv("HOSTNET_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "rate-tables"))
