"""`hostnet noc`: simulates a network on a chip without a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostnet import noc_alone
from hostnet.cli.main import EXIT_INTERRUPTED
from hostnet.cli.options import resolve_with_options
from hostnet.cli.page_file import check_page
from hostnet.terminal.progress import Watch
from hostnet.terminal.screen import echo_json

if TYPE_CHECKING:
    from hostnet._core import NocPlan
    from hostnet.cli.noc_options import NocOptions


def noc_command(options: NocOptions) -> int:
    """Runs the network of the options and returns the exit code."""
    if options.html is not None:
        check_page(options.html)
    if options.over or options.rates():
        from hostnet.cli.noc_over import over_command

        return over_command(options)
    plan = resolve_options(options)
    with Watch(show=True) as watch:
        result = noc_alone.run_plan(plan, progress=watch)
    if options.html is not None:
        from hostnet.report.noc_curves import NocRun
        from hostnet.report.noc_page import write_noc

        write_noc(options.html, [NocRun("", "", result.summary)])
    if options.json:
        echo_json(result.to_dict())
    else:
        from hostnet.cli.show_noc import print_noc

        print_noc(result, options.html)
    return 0 if result.complete else EXIT_INTERRUPTED


def resolve_options(options: NocOptions) -> NocPlan:
    """Resolves the options.

    Raises:
        ConfigError: An option is invalid; the message names it.
    """
    options.check()
    return resolve_with_options(noc_alone.resolve_settings, list(options.settings()), options.overrides, options.config)
