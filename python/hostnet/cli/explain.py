"""`hostnet explain`: explains a run, a configuration or a file of counters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostnet._core import ConfigError
from hostnet.cli.main import EXIT_INTERRUPTED
from hostnet.terminal.progress import Watch
from hostnet.terminal.screen import echo, echo_json

if TYPE_CHECKING:
    from hostnet.cli.explain_request import ExplainRequest
    from hostnet.explanation.page import Page
    from hostnet.running.results import Source


def explain_command(request: ExplainRequest) -> int:
    """Handles the request and returns the exit code."""
    request.check()
    chip = _chip(request)
    if chip is not None and request.slos:
        raise ConfigError("wrong-kind", f"--slo: {request.what} is of a chip, which has no services")
    if request.slos:
        from hostnet.cli.explain_slo import explain_objectives

        return explain_objectives(request)
    if chip is not None:
        from hostnet.cli.explain_chip import explain_chip

        return explain_chip(request, chip)
    with Watch(show=True) as watch:
        page = _page(request, watch)
        if not request.brief:
            page = page.with_steps(confirm=request.confirm, try_limits=True, progress=watch)
    if request.html is not None:
        from hostnet.explanation.html_page import write_explanation_page

        write_explanation_page(request.html, page)
    if request.json:
        echo_json(page.as_dict(), indent=1)
    else:
        from hostnet.explanation.text import page_text

        echo(page_text(page), end="")
        if request.html is not None:
            echo(f"\n{request.html}")
    return EXIT_INTERRUPTED if watch.stopped else 0


def _chip(request: ExplainRequest) -> Source | None:
    """Returns the configuration of a chip if the request is to explain one, else None."""
    from hostnet._core import is_chip
    from hostnet.running.simulate import source_of

    if request.is_configuration:
        source = source_of(request.what, request.overrides)
        return source if is_chip(source.text, source.format) else None
    if request.what.is_dir() and (request.what / "summary.json").is_file():
        from hostnet.cli.explain_chip import source_of_run
        from hostnet.explanation.run_files import read_json

        is_of_chip = read_json(request.what, "summary.json").get("kind") == "chip"
        return source_of_run(request.what) if is_of_chip else None
    return None


def _page(request: ExplainRequest, watch: Watch) -> Page:
    """Explains the requested server; an ambiguous host is an error that suggests a command."""
    from hostnet.notes import list_names
    from hostnet.running.results import ServerNotNamedError

    try:
        return _page_of_host(request, watch)
    except ServerNotNamedError as error:
        command = request.command(error.servers[0])
        raise ConfigError(
            "missing-key", f"--host: missing; name one of {list_names(error.servers)}, such as: {command}"
        ) from None


def _page_of_host(request: ExplainRequest, watch: Watch) -> Page:
    """Explains the requested server."""
    from hostnet.explanation import explain_counters, explain_file, explain_run

    if request.what.is_dir():
        return explain_run(request.what, request.host)
    if request.is_configuration:
        return explain_file(request.what, overrides=request.overrides, progress=watch, host=request.host)
    return explain_counters(request.what, request.server, cores=request.cores)
