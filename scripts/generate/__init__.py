"""Writes what follows from the schema of the configuration: classes in Python, and tables of keys in the docs."""
