"""Writes the generated files that are stale, or with `--check` only names them."""

from __future__ import annotations

import sys
from pathlib import Path

from scripts.generate import citation, classes, counts, errors, examples, glossary, man, names, pages

ROOT = Path(__file__).resolve().parents[2]


def stale(root: Path) -> dict[Path, str]:
    """Returns the files that differ from the generated content, each with that content."""
    makers = (classes, names, pages, errors, counts, glossary, examples, man, citation)
    wanted = {file: text for maker in makers for file, text in maker.files(root).items()}
    return {
        file: text for file, text in wanted.items() if not file.exists() or file.read_text(encoding="utf-8") != text
    }


def main(arguments: list[str]) -> int:
    """Writes every stale file, or with `--check` names them and returns 1 if there are any."""
    found = stale(ROOT)
    for file, text in found.items():
        if "--check" not in arguments:
            file.write_text(text, encoding="utf-8")
        print(f"{'stale' if '--check' in arguments else 'written'}: {file.relative_to(ROOT)}")
    return int("--check" in arguments and bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
