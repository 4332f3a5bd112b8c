"""Reads the code blocks of documentation pages, runs them, and writes their outputs."""
