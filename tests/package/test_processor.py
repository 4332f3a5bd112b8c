"""Packages that the processor cannot run are named instead of ending the command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hostnet import _core
from hostnet.cli.main import EXIT_USAGE, classify_error
from hostnet.processor import ProcessorGuard, UnfitPackageError, guard_imports, survives
from tests.support import raises_code

ENDS_ITS_PROCESS = "import os, signal\nos.kill(os.getpid(), signal.SIGILL)\n"


def test_a_package_that_ends_its_process_is_named_with_what_the_processor_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "numpy.py").write_text(ENDS_ITS_PROCESS)
    monkeypatch.syspath_prepend(str(tmp_path))
    guard = ProcessorGuard(["AVX", "AVX2"])
    for _ in range(2):
        with raises_code("missing-package | numpy | AVX, AVX2 | --no-binary numpy", UnfitPackageError) as found:
            guard.find_spec("numpy")
    assert isinstance(found.value, ImportError)  # packages that can do without it go on
    assert classify_error(found.value).exit_code == EXIT_USAGE


def test_a_package_whose_matrix_products_end_the_process_is_unfit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    product = "\n        ".join(ENDS_ITS_PROCESS.splitlines())
    (tmp_path / "numpy.py").write_text(
        f"class ones:\n    __init__ = print\n    def __matmul__(self, _):\n        {product}\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    with raises_code("missing-package | numpy", UnfitPackageError):
        ProcessorGuard(["AVX2"]).find_spec("numpy")


def test_a_package_that_can_be_imported_is_tried_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "numpy.py").touch()
    (tmp_path / "pyarrow.py").write_text("from pathlib import Path\nPath('tries').open('a').write('x')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    guard = ProcessorGuard(["AVX2"])
    for name in ("pyarrow", "pyarrow", "pyarrow.parquet", "json"):
        guard.find_spec(name)
    assert Path("tries").read_text() == "x"


def test_a_package_that_can_do_without_an_unfit_one_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "numpy.py").write_text(ENDS_ITS_PROCESS)
    (tmp_path / "pyarrow.py").write_text("try:\n    import numpy\nexcept ImportError:\n    pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    guard = ProcessorGuard(["AVX2"])
    guard.find_spec("pyarrow")
    assert guard.survived == {"numpy": False, "pyarrow": True}


def test_only_a_signal_counts_as_the_end_of_a_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken.py").write_text("raise ImportError\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert survives("import broken")


def test_a_command_ends_with_a_line_and_not_with_a_signal(tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text(ENDS_ITS_PROCESS)
    code = (
        "from hostnet.processor import guard_imports\n"
        "guard_imports(['AVX2'])\n"
        "from hostnet.cli import main\n"
        "main(['codec', 'gradients.npy'])\n"
    )
    (tmp_path / "gradients.npy").touch()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (EXIT_USAGE, 1)
    assert done.stderr.startswith("error[missing-package]: numpy: ")


def test_a_processor_that_lacks_nothing_has_no_guard() -> None:
    guarded = any(isinstance(finder, ProcessorGuard) for finder in sys.meta_path)
    assert guarded == bool(_core.missing_instructions())


def test_the_guard_comes_before_other_finders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    guard_imports(["AVX2"])
    assert isinstance(sys.meta_path[0], ProcessorGuard)
