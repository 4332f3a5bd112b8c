"""Generates the Python classes and the tables of keys in the docs from the schema of the configuration."""
