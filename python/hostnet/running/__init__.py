"""Runs: what makes them, and what may be asked of them."""
