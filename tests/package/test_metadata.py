"""Metadata, packages and containers agree with the sources."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest
from check_jsonschema import main as check_schema

from hostnet.cli.app import COMMANDS
from hostnet.ledger import papers, study_names
from scripts.audit_wheel import SIZE_MAX, size_faults
from scripts.generate.man import FOLDER
from tests.house.table import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WORKSPACE = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]


def test_crates_and_package_have_one_version_and_license() -> None:
    assert [PROJECT["project"][key] for key in ("version", "license")] == [
        WORKSPACE[key] for key in ("version", "license")
    ]


def test_the_citation_is_valid_and_cites_every_paper() -> None:
    with pytest.raises(SystemExit) as left:
        check_schema(["--builtin-schema", "vendor.citation-file-format", str(ROOT / "CITATION.cff")])
    assert left.value.code == 0
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert [name for name, paper in papers().items() if paper.title not in text] == []


def test_a_citation_without_authors_is_invalid(tmp_path: Path) -> None:
    broken = tmp_path / "CITATION.cff"
    broken.write_text('cff-version: 1.2.0\nmessage: "Cite it."\ntitle: hostnet\n')
    with pytest.raises(SystemExit) as left:
        check_schema(["--quiet", "--builtin-schema", "vendor.citation-file-format", str(broken)])
    assert left.value.code == 1


def test_codemeta_describes_the_package() -> None:
    described = json.loads((ROOT / "codemeta.json").read_text(encoding="utf-8"))
    same = ("name", "version", "description", "keywords")
    assert {key: described[key] for key in same} == {key: PROJECT["project"][key] for key in same}
    assert len(described["citation"]) == len(papers())


def test_the_container_file_has_no_finding() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([hadolint, ROOT / "packaging/Dockerfile"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_container_does_not_run_as_root() -> None:
    lines = (ROOT / "packaging/Dockerfile").read_text(encoding="utf-8").splitlines()
    user = max(number for number, line in enumerate(lines) if line.startswith("USER "))
    assert lines[user] not in ("USER root", "USER 0")
    assert user < next(number for number, line in enumerate(lines) if line.startswith("ENTRYPOINT"))


def test_the_development_container_builds_with_what_make_needs() -> None:
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text(encoding="utf-8"))
    assert {"name", "image", "features", "postCreateCommand"} <= container.keys()
    target = container["postCreateCommand"].removeprefix("make ")
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    (python,) = (feature["version"] for name, feature in container["features"].items() if "/python:" in name)
    minimum = PROJECT["project"]["requires-python"].removeprefix(">=")
    assert [int(part) for part in python.split(".")] >= [int(part) for part in minimum.split(".")]


LEFT_OUT = {"web"}
"""Crates that the Python module does not need, which the source distribution leaves out."""

INCLUDED = re.compile(r'include_(?:str|bytes)!\("([^"]+)"\)')


def outside_files() -> set[str]:
    """Returns the files that crates of the source distribution include from outside of their folder."""
    found = set()
    for crate in (crate for crate in ROOT.glob("crates/*") if crate.name not in LEFT_OUT):
        for source in crate.glob("src/**/*.rs"):
            for path in INCLUDED.findall(source.read_text(encoding="utf-8")):
                file = (source.parent / path).resolve()
                if not file.is_relative_to(crate):
                    found.add(str(file.relative_to(ROOT)))
    return found


def test_the_source_distribution_has_what_crates_include_from_outside() -> None:
    patterns = [entry["path"] for entry in PROJECT["tool"]["maturin"]["include"] if "sdist" in entry["format"]]
    outside = outside_files()
    assert "docs/controllers.md" in outside
    assert [path for path in outside if not any(fnmatch(path, glob.replace("**/", "")) for glob in patterns)] == []
    assert "specs/**/*" in patterns  # crates/config/build.rs embeds every file


def test_the_package_has_the_studies_and_the_job_files_that_they_name() -> None:
    package = ROOT / "python/hostnet"
    assert sorted(file.parent.name for file in package.glob("studies/*/study.toml")) == study_names()
    jobs = {
        job for file in package.glob("studies/*/study.toml") for job in re.findall(r'"([\w-]+\.fio)"', file.read_text())
    }
    assert len(jobs) >= 5
    assert [job for job in jobs if not (package / "examples" / job).is_file()] == []


def test_every_command_has_a_man_page_and_no_other_has_one() -> None:
    names = {file.stem for file in (ROOT / FOLDER).iterdir()}
    assert names == {"hostnet", *(f"hostnet-{name}" for name in COMMANDS)}


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_man_pages_are_set_without_a_warning() -> None:
    pages = sorted((ROOT / FOLDER).iterdir())
    done = subprocess.run(["groff", "-man", "-ww", "-z", "-Kutf8", *pages], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_wheel_of_25_megabytes_is_too_large() -> None:
    assert size_faults(SIZE_MAX - 1) == []
    assert len(size_faults(SIZE_MAX)) == 1
