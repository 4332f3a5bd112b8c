"""Runs the code blocks of pages, and with `--write` renews the outputs that they show.

python -m scripts.pages docs/tasks/*.md           compare
python -m scripts.pages --write docs/explain.md   renew; where a page shows excerpts (...), the lines that resemble them
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from scripts.pages.blocks import PROMPT, Block, blocks_of
from scripts.pages.excerpts import renewed
from scripts.pages.runner import PageError, Session, check


def written(text: str, session: Session) -> tuple[str, list[str]]:
    """Returns a page with the outputs of its commands as they are now, and the errors of blocks that fail."""
    changes: list[tuple[Block, list[str]]] = []
    errors: list[str] = []
    for block in blocks_of(text):
        try:
            if (content := content_of(block, session)) is not None:
                changes.append((block, content))
        except (PageError, ValueError) as error:
            errors.append(f"{block.line}: {error}")
    for block, content in reversed(changes):
        end = text.index("```", block.start) - block.indent
        indented = "".join(f"{' ' * block.indent}{line}".rstrip() + "\n" for line in content)
        text = text[: block.start] + indented + text[end:]
    return text, errors


def content_of(block: Block, session: Session) -> list[str] | None:
    """Runs a block, and returns the lines that it should have, or None if it has no output."""
    if not block.runs:
        return None
    if block.is_output:
        return renewed(block.text.splitlines(), session.printed)
    lines: list[str] = []
    for command, printed in session.run(block):
        if command.output is not None:
            shown = [PROMPT + command.typed[0], *command.typed[1:], *renewed(command.output, printed)]
            lines += ["", *shown] if lines else shown
    return lines if block.language == "console" else None


def main(arguments: list[str]) -> int:
    """Checks or renews pages, and returns 1 if a block fails."""
    failed = 0
    for page in [Path(name) for name in arguments if name != "--write"]:
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            session = Session(Path(folder))
            if "--write" in arguments:
                text, errors = written(text, session)
                page.write_text(text, encoding="utf-8")
                print(*(f"{page}:{error}" for error in errors), sep="\n", end="\n" if errors else "")
                failed += len(errors)
                continue
            for block in blocks_of(text):
                failed += not passes(session, block, page)
    return int(failed > 0)


def passes(session: Session, block: Block, page: Path) -> bool:
    """Runs a block of a page, prints how long it took, and returns false if it failed."""
    if not block.runs:
        return True
    before = time.monotonic()
    try:
        check(session, block)
    except PageError as error:
        print(f"{page}: {error}")
        return False
    print(f"{page}:{block.line}: {block.language} {time.monotonic() - before:.1f} s")
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
