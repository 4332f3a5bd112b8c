"""Resolves, runs and predicts configurations, and combines the results of several runs."""
