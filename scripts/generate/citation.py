"""Writes CITATION.cff and codemeta.json from pyproject.toml and the papers that studies reproduce."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hostnet.ledger import Paper, papers

MESSAGE = "If you use hostnet in your research, please cite it, and the papers whose systems you simulate."


def files(root: Path) -> dict[Path, str]:
    """Returns the content of both files by path."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    works = list(papers().values())
    return {
        root / "CITATION.cff": "\n".join([*citation(project), *references(works), ""]),
        root / "codemeta.json": json.dumps(codemeta(project, works), indent=2, ensure_ascii=False) + "\n",
    }


def citation(project: dict[str, Any]) -> Iterator[str]:
    """Yields the lines that describe hostnet, in the Citation File Format."""
    yield "cff-version: 1.2.0"
    yield f"message: {quoted(MESSAGE)}"
    yield f"title: {project['name']}"
    yield f"abstract: {quoted(project['description'])}"
    yield from ("type: software", "authors:")
    yield from (f"  - name: {quoted(author['name'])}" for author in project["authors"])
    yield f"version: {quoted(project['version'])}"
    yield f"license: {project['license']}"
    yield "keywords:"
    yield from (f"  - {quoted(word)}" for word in project["keywords"])


def references(works: list[Paper]) -> Iterator[str]:
    """Yields the lines of the published works."""
    yield "references:"
    for work in works:
        kind, where = ("thesis", "notes") if "thesis" in work.venue else ("conference-paper", "collection-title")
        yield from (f"  - type: {kind}", f"    title: {quoted(work.title)}", "    authors:")
        for author in work.authors:
            given, _, family = author.rpartition(" ")
            yield from (f"      - given-names: {quoted(given)}", f"        family-names: {quoted(family)}")
        yield from (f"    {where}: {quoted(work.venue)}", f"    year: {work.year}")


def codemeta(project: dict[str, Any], works: list[Paper]) -> dict[str, Any]:
    """Returns the description of hostnet in the terms of CodeMeta."""
    return {
        "@context": "https://w3id.org/codemeta/3.0",
        "@type": "SoftwareSourceCode",
        "name": project["name"],
        "description": project["description"],
        "version": project["version"],
        "license": f"https://spdx.org/licenses/{project['license']}",
        "author": [{"@type": "Organization", "name": author["name"]} for author in project["authors"]],
        "keywords": project["keywords"],
        "programmingLanguage": ["Rust", "Python"],
        "runtimePlatform": f"Python {project['requires-python']}",
        "citation": [
            {
                "@type": "ScholarlyArticle",
                "name": work.title,
                "author": [{"@type": "Person", "name": author} for author in work.authors],
                "datePublished": str(work.year),
            }
            for work in works
        ],
    }


def quoted(text: str) -> str:
    """Quotes a text; strings of JSON are strings of YAML."""
    return json.dumps(text, ensure_ascii=False)
