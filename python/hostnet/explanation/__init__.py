"""Explains the performance of a run, and which changes would improve it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hostnet.explanation.hosts import explainable
    from hostnet.explanation.page import Page, explain_counters, explain_file, explain_results, explain_run
    from hostnet.explanation.text import page_text

MODULES = {"explainable": "hosts", "page_text": "text"}
"""Modules of what is exported; all else is in `page`."""

__all__ = [
    "Page",
    "explain_counters",
    "explain_file",
    "explain_results",
    "explain_run",
    "explainable",
    "page_text",
]


def __getattr__(name: str) -> Any:
    # A prediction needs one module of this package, and no page.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{MODULES.get(name, 'page')}"), name)
    return value
