"""Sections of the page of a cluster: its network, its classes of traffic, jobs, distributions, power and tables."""
