"""Runs: what makes them, and what several say together."""
