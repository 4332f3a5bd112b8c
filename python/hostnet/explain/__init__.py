"""Explains the performance of a run, and which changes would improve it."""

from hostnet.explain.hosts import explainable
from hostnet.explain.page import Page, explain_counters, explain_file, explain_results, explain_run
from hostnet.explain.text import page_text

__all__ = [
    "Page",
    "explain_counters",
    "explain_file",
    "explain_results",
    "explain_run",
    "explainable",
    "page_text",
]
