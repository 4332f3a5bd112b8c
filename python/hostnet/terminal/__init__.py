"""Output on the terminal, progress display, and interruption of runs."""
