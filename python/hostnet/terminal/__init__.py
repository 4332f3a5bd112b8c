"""The terminal: what is printed, what is drawn while one waits, and how a run is stopped."""
