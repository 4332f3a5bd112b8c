"""Explains the performance of a run, and which changes would improve it."""

from hostnet.explanation.hosts import explainable
from hostnet.explanation.page import Page, explain_counters, explain_file, explain_results, explain_run
from hostnet.explanation.text import page_text

__all__ = [
    "Page",
    "explain_counters",
    "explain_file",
    "explain_results",
    "explain_run",
    "explainable",
    "page_text",
]
