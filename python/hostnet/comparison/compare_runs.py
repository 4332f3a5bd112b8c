"""Comparison of two runs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet.comparison.differences import KeyDifference, ResultDifference, config_differences, result_differences
from hostnet.comparison.events import find_divergence
from hostnet.comparison.sides import Side, read_side, side_of
from hostnet.running.results import Results
from hostnet.terminal.progress import follow

if TYPE_CHECKING:
    from hostnet.running.simulate import AnyConfig
    from hostnet.terminal.progress import Progress, ProgressArgument


@dataclass(frozen=True, repr=False)
class Comparison:
    """Differences between two runs."""

    a: Side
    b: Side
    config: tuple[KeyDifference, ...]
    """Configuration values that differ."""
    results: tuple[ResultDifference, ...]
    """Results that differ, in descending order of importance."""
    events: dict[str, Any] | None
    """Event at which the runs diverge, as `hostnet.comparison.find_divergence` returns it; None if not requested."""

    @property
    def identical(self) -> bool:
        """True if configuration, results and states are the same."""
        return (
            self.a.config_hash == self.b.config_hash
            and self.a.measured == self.b.measured
            and self.a.epochs == self.b.epochs
        )

    def __repr__(self) -> str:
        """Returns the number of differences."""
        if self.identical:
            return "<Comparison identical>"
        return f"<Comparison different: config {len(self.config)}, results {len(self.results)}>"

    def _repr_html_(self) -> str:
        """Returns what a notebook shows: the keys that differ, both runs side by side, and the largest changes."""
        from hostnet.comparison.page import lead_text, result_sections
        from hostnet.report.notebook.block import block, headline

        return block(headline("A and B", lead_text(self)), *result_sections(self))

    def report(self, out: str | PathLike[str] = "comparison.html") -> Path:
        """Writes the page of the comparison to the file `out` and returns its path; opens nothing.

        Raises:
            OSError: The page cannot be written.
        """
        from hostnet.comparison.page import write_comparison

        write_comparison(Path(out), self)
        return Path(out)

    def to_dict(self) -> dict[str, Any]:
        """Returns the comparison in the format of `hostnet compare --json`."""
        return {
            "format": 1,
            "identical": self.identical,
            "a": self.a.to_dict(),
            "b": self.b.to_dict(),
            "config": [asdict(difference) for difference in self.config],
            "results": [difference.to_dict() for difference in self.results],
            "events": self.events,
        }


def compare(
    a: Results | AnyConfig,
    b: Results | AnyConfig,
    *,
    rerun: bool = True,
    progress: ProgressArgument = None,
) -> Comparison:
    """Compares two runs.

    Args:
        a: Results, a run directory, or a configuration or its file, which is run first.
        b: As `a`.
        rerun: True to run differing runs again, to find the first event that differs.
        progress: As for `hostnet.run`, for everything that is run.

    Raises:
        ConfigError: A run directory is damaged or incomplete, or a configuration is invalid.
        SimulationError: A run failed.
        OSError: A file cannot be read.
    """
    with follow(progress) as callback:
        sides = [_side(given, label, callback) for given, label in ((a, "A"), (b, "B"))]
        return compare_sides(sides[0], sides[1], rerun=rerun, progress=callback)


def compare_sides(a: Side, b: Side, *, rerun: bool, progress: Progress | None) -> Comparison:
    """Compares two sides."""
    return Comparison(
        a,
        b,
        tuple(config_differences(a.config, b.config)),
        tuple(result_differences(a.tables, b.tables)),
        find_divergence(a, b, progress) if rerun else None,
    )


def _side(given: Results | AnyConfig, label: str, progress: Progress | None) -> Side:
    """Returns the side of results, of a run directory, or of a configuration, which it runs."""
    from hostnet.running import simulate

    if isinstance(given, Results):
        return side_of(given, label)
    if not isinstance(given, str | PathLike):
        return side_of(simulate.run(given, progress=progress), label)
    path = Path(given)
    if path.is_file():
        return side_of(simulate.run(path, progress=progress), fspath(given))
    return read_side(path)
