"""Quotations of outputs are compared and renewed."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.pages.__main__ import written
from scripts.pages.blocks import blocks_of, with_outputs
from scripts.pages.excerpts import is_quoted, renewed
from scripts.pages.runner import PageError, Session, check

PRINTED = ["head", "", "a  1", "b  2", "c  3", "", "tail"]


@pytest.mark.parametrize(
    ("quoted", "matches"),
    [
        (PRINTED, True),
        (PRINTED[:-1], False),
        (["...", "b  2", "..."], True),
        (["head", "...", "b  2", "c  3", "..."], True),
        (["...", "tail"], True),
        (["..."], True),
        ([], False),
        (["b  2", "..."], False),
        (["...", "b  2"], False),
        (["...", "c  3", "...", "b  2", "..."], False),
        (["...", "a  1", "c  3", "..."], False),
        (["...", "b  9", "..."], False),
    ],
)
def test_a_quotation_is_made_of_pieces_in_order(quoted: list[str], matches: bool) -> None:
    assert is_quoted(quoted, PRINTED) == matches


def test_a_renewed_quotation_has_the_new_numbers_and_matches() -> None:
    new = ["head", "new line", "", "a  10", "b  -2.5 %", "c  3", "", "tail"]
    for quoted in (PRINTED, ["...", "b  2", "..."], ["head", "...", "b  2", "c  3", "..."], ["...", "tail"]):
        again = renewed(quoted, new)
        assert is_quoted(again, new)
        assert [line == "..." for line in again] == [line == "..." for line in quoted] or quoted is PRINTED
    assert renewed(["...", "b  2", "..."], new) == ["...", "b  -2.5 %", "..."]


def test_a_piece_that_is_gone_is_an_error() -> None:
    with pytest.raises(ValueError, match="nothing like 'gone'"):
        renewed(["...", "gone", "..."], PRINTED)


def test_lines_whose_words_have_changed_are_found_by_their_likeness() -> None:
    old = ["...", "It is limited by reads of the disk: 3", "a  1", "so there were 5 of them", "..."]
    new = ["x", "It is limited by all reads of the disk", "and more: 4", "a  2", "thus there were 7 of them", "y"]
    assert renewed(old, new) == ["...", *new[1:-1], "..."]


def test_a_console_has_commands_with_their_lines() -> None:
    first, second = with_outputs("$ one \\\n    --more # why\nout\n\n$ two\n")
    assert (first.words, first.output) == (["one", "--more"], ["out"])
    assert (second.words, second.output) == (["two"], [])
    with pytest.raises(ValueError, match="begins with a prompt"):
        with_outputs("no prompt\n")


PAGE = """\
<!-- before
touch made
-->
<!-- file: a/b.toml -->
```toml
x = 1
```

1. <!-- long -->
   ```console
   $ cat a/b.toml && ls made
   x = 7
   ```

```python
from pathlib import Path

print(Path("a/b.toml").read_text())
```

<!-- output -->
```text
```

<!-- not run: no machine -->
```sh
reboot
```

<!-- fails -->
```sh
false
```
"""


def test_a_page_is_run_in_order_and_renewed(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    page, errors = written(PAGE, Session(tmp_path / "one"))
    assert errors == []
    assert page == PAGE.replace("x = 7", "x = 1\n   made").replace("```text\n", "```text\nx = 1\n")
    session = Session(tmp_path / "two")
    assert [check(session, block) for block in blocks_of(page) if block.runs] == [1, 1, 1, 0, 1]


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ("```console\n$ echo 1\n2\n```", "the page says\n2\nbut it is\n1"),
        ("```sh\nfalse\n```", "exit code 1"),
        ("<!-- fails -->\n```sh\ntrue\n```", "exit code 0"),
        ("```python\n1 / 0\n```", "ZeroDivisionError"),
        ("<!-- output -->\n```text\nx\n```", "the page says\nx"),
    ],
)
def test_a_block_that_is_wrong_is_an_error(tmp_path: Path, block: str, said: str) -> None:
    with pytest.raises(PageError) as found:
        check(Session(tmp_path), blocks_of(block)[0])
    assert said in str(found.value)
