"""Builds the documentation site: pages as they are, and pages made from examples, commands and classes."""
