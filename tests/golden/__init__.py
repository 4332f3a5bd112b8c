"""Frozen results of hostnet: a table of runs that can be read and compared line by line."""
