"""`hostnet explain --slo`: checks latency objectives of services, and explains violations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostnet.cli.main import EXIT_FAILED
from hostnet.explanation.slo import parse_slo
from hostnet.explanation.tail import asked_of_file, asked_of_run, explain_slos
from hostnet.explanation.tail_text import tails_text
from hostnet.terminal.progress import Watch
from hostnet.terminal.screen import echo, echo_json

if TYPE_CHECKING:
    from hostnet.cli.explain_request import ExplainRequest


def explain_objectives(request: ExplainRequest) -> int:
    """Checks the objectives of a request and returns the exit code."""
    slos = [parse_slo(text) for text in request.slos]
    with Watch(show=True, keeps=False) as watch:
        if request.what.is_dir():
            examined = asked_of_run(request.what)
        else:
            examined = asked_of_file(request.what, request.overrides, watch)
        found = explain_slos(examined, slos, host=request.host, brief=request.brief, progress=watch)
    if request.json:
        echo_json(found.as_dict(), indent=1)
    else:
        echo(tails_text(found), end="")
    return 0 if found.met else EXIT_FAILED
