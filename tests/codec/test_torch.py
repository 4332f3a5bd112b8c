"""The hook for torch, if torch and scikit-learn are installed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hostnet.codec.torch_hook import HookState
from tests.support import HANG_S, raises_code

ROOT = Path(__file__).parents[2]

HOOKS: list[dict[str, Any]] = [
    {"bound": 10, "mode": "thesis", "feedback": True},
    {"bound": 10, "mode": "bounded"},
    {"bound": 8, "mode": "nearest"},
]


def learn(folder: Path, settings: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Returns the output of two ranks."""
    folder.mkdir()
    words = [sys.executable, "-m", "tests.codec.digits"]
    ranks = [
        subprocess.Popen(
            [*words, str(rank), "2", str(folder), json.dumps(settings)], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        for rank in range(2)
    ]
    try:
        return [json.loads(rank.communicate(timeout=HANG_S)[0]) for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
            rank.wait()
            assert rank.stdout is not None
            rank.stdout.close()


@pytest.mark.long
def test_two_ranks_learn_digits_as_well_as_without_and_stay_alike(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("sklearn")
    plain = learn(tmp_path / "plain", None)
    for number, settings in enumerate(HOOKS):
        first, second = learn(tmp_path / str(number), settings)
        print(settings, plain[0]["right"], first["right"], first["sent"][0] / first["sent"][1])
        assert first["digests"] == second["digests"]
        assert len(set(first["digests"])) == len(first["digests"]) > 200
        assert first["right"] > plain[0]["right"] - 0.01
        assert first["sent"][0] > 2 * first["sent"][1]


@pytest.mark.parametrize(
    ("settings", "rule"),
    [({"bound": 0}, "out-of-range | 1 to 15"), ({"mode": "exact"}, "unknown-name | exact")],
)
def test_a_hook_that_no_codec_has_is_refused(settings: dict[str, Any], rule: str) -> None:
    with raises_code(rule):
        HookState(**settings)
