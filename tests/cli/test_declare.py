"""Commands whose options are the fields of a dataclass."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from hostnet.cli.declare import command_of, set_option


@dataclass(frozen=True)
class CaptureOptions:
    file: Annotated[Path | None, typer.Option("--pcap")] = None
    bytes_max: Annotated[int, typer.Option()] = 128


@dataclass(frozen=True)
class SomeOptions:
    name: Annotated[str, typer.Argument()]
    overrides: Annotated[tuple[str, ...], set_option("a value")] = ()
    seed: Annotated[int | None, typer.Option()] = None
    pcap: CaptureOptions = CaptureOptions()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a", SomeOptions("a")),
        ("--seed 3 a", SomeOptions("a", seed=3)),
        ("a --set x=1 --set y=2", SomeOptions("a", ("x=1", "y=2"))),
        ("a --pcap f --pcap-bytes-max 9", SomeOptions("a", pcap=CaptureOptions(Path("f"), 9))),
    ],
)
def test_a_command_takes_the_fields_of_its_dataclass(line: str, expected: SomeOptions) -> None:
    found: list[SomeOptions] = []

    def handle(options: SomeOptions) -> int:
        found.append(options)
        return 0

    app = typer.Typer()
    app.command()(command_of(SomeOptions, handle))
    assert CliRunner().invoke(app, line.split()).exit_code == 0
    assert found == [expected]


def test_a_field_without_default_is_required() -> None:
    app = typer.Typer()
    app.command()(command_of(SomeOptions, lambda _options: 0))
    assert CliRunner().invoke(app, []).exit_code == 2
