"""The names that `import hostnet` offers, and the cost of importing them."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import hostnet

SLOW = ("hostnet.report", "hostnet.sweeps", "hostnet.system", "matplotlib", "pyarrow", "rich")


def loaded(code: str) -> set[str]:
    """Returns the modules that a fresh interpreter has loaded after running some code."""
    tell = "import json, sys; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", f"{code}\n{tell}"], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_every_name_is_there() -> None:
    assert [name for name in hostnet.__all__ if not hasattr(hostnet, name)] == []
    assert set(hostnet.__all__) <= set(dir(hostnet))


def test_all_names_can_be_imported_at_once() -> None:
    assert {"hostnet.system.config", "hostnet.sweeps"} <= loaded("from hostnet import *\nrun, Config, counters")


def test_an_unknown_name_is_told() -> None:
    with pytest.raises(AttributeError, match="'hostnet' has no attribute 'simulate_all'"):
        _ = hostnet.simulate_all


def test_nothing_is_loaded_before_it_is_needed() -> None:
    assert not loaded("import hostnet") & set(SLOW)


def test_a_file_is_resolved_without_the_classes_that_describe_servers() -> None:
    modules = loaded("from hostnet import run")
    assert "hostnet.running.simulate" in modules
    assert not modules & set(SLOW)
