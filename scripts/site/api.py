"""The pages of the Python API: the public names of hostnet, each documented by its source."""

from __future__ import annotations

import inspect
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import hostnet
from scripts.pages.blocks import ROOT

TITLES = {
    "functions": "Functions",
    "results": "Results",
    "controllers": "Controllers and governors",
    "errors": "Errors",
    "modules": "Modules",
}
CONTROLLERS = {"Actions", "Look", "Pages", "Signals"}
SYSTEM = "hostnet.system"
RUST_DOCS = ROOT / "target/doc"
"""Where `cargo doc` writes."""


def groups() -> dict[str, list[str]]:
    """Returns the public names of hostnet by page."""
    found: dict[str, list[str]] = {}
    for name in hostnet.__all__:
        if not name.startswith("__"):
            found.setdefault(group_of(name, getattr(hostnet, name)), []).append(name)
    return found


def group_of(name: str, value: Any) -> str:
    """Returns the page of a public name."""
    home = getattr(value, "__module__", "")
    if isinstance(value, ModuleType):
        return "modules"
    if home.startswith(f"{SYSTEM}."):
        return home.removeprefix(f"{SYSTEM}.")
    if name in CONTROLLERS:
        return "controllers"
    if not inspect.isclass(value):
        return "functions"
    return "errors" if issubclass(value, BaseException) else "results"


def files() -> dict[str, str]:
    """Returns the pages of the API by name."""
    pages = {f"api/{group}.md": page(group, names) for group, names in groups().items()}
    configuration = sorted(set(groups()) - set(TITLES))
    index = [
        "# Python API",
        "",
        "The public names of `hostnet`, which are imported when they are used first. Classes of configurations have",
        "the names and keys of [configuration files](/docs/config.md).",
        "",
        *tree("", [name for name in TITLES if name in groups()]),
        *tree("Configurations", configuration),
        *tree("Rust", ["rust"]),
    ]
    return {**pages, "api/index.md": "\n".join(index), "api/rust.md": rust()}


def tree(caption: str, names: list[str]) -> list[str]:
    """Returns a table of contents."""
    return ["```{toctree}", *([f":caption: {caption}"] if caption else []), "", *names, "```", ""]


def page(group: str, names: list[str]) -> str:
    """Returns the page of a group of names."""
    home = SYSTEM + "." + group
    title = TITLES.get(group) or f"hostnet.system.{group}"
    lines = [f"# {title}", ""]
    if group not in TITLES:
        lines += [inspect.getdoc(__import__(home, fromlist=["x"])) or "", ""]
    lines += ["```{eval-rst}"]
    for name in names:
        lines += [*directive(name, getattr(hostnet, name)), ""]
    return "\n".join([*lines, "```", ""])


def directive(name: str, value: Any) -> list[str]:
    """Returns the directive that documents a public name."""
    if isinstance(value, ModuleType):
        return [f".. automodule:: hostnet.{name}", "   :members:", "   :imported-members:"]
    if inspect.isclass(value):
        return [f".. autoclass:: hostnet.{name}", "   :members:"]
    return [f".. autofunction:: hostnet.{name}"]


def rust() -> str:
    """Returns the page about the crates, which links what `cargo doc` has written, if it has."""
    linked = RUST_DOCS.is_dir()
    return "\n".join(
        [
            "# Rust API",
            "",
            "The simulator is a set of crates; `make docs` builds their documentation as well.",
            "[Architecture](/docs/architecture.md) says which crate may know which. Whole programs that use them are",
            "`crates/sim/examples/controller.rs` ([controllers](/docs/controllers.md)) and `governor.rs`",
            "([governors](/docs/governors.md)).",
            "",
            "| crate | what it does |",
            "|---|---|",
            *(row(manifest, linked=linked) for manifest in sorted(ROOT.glob("crates/*/Cargo.toml"))),
            "",
        ]
    )


def row(manifest: Path, *, linked: bool) -> str:
    """Returns the row of a crate."""
    told = tomllib.loads(manifest.read_text(encoding="utf-8"))["package"]
    page = told["name"].replace("-", "_") + "/index.html"
    link = f'<a href="../rust/{page}">{told["name"]}</a>' if linked and (RUST_DOCS / page).is_file() else told["name"]
    return f"| {link} | {told['description']} |"
