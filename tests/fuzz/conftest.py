"""Fixtures of the fuzzers. `pytest tests/fuzz --hypothesis-profile many` runs many more examples."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from tests.fuzz.support import Hostile

settings.register_profile("many")


@pytest.fixture
def hostile(tmp_path: Path) -> Hostile:
    """Returns a folder for hostile input."""
    return Hostile(tmp_path)
