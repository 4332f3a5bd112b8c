"""Compares places of the NIC: runs a configuration once for each place."""

from hostnet.attachments.losses import loss_notes
from hostnet.attachments.place import PLACES, PlacedRun, parse_places, possible_places, what_if
from hostnet.attachments.results import WhatIfResults
from hostnet.attachments.rows import host_rows, stage_rows, traffic_rows

__all__ = [
    "PLACES",
    "PlacedRun",
    "WhatIfResults",
    "host_rows",
    "loss_notes",
    "parse_places",
    "possible_places",
    "stage_rows",
    "traffic_rows",
    "what_if",
]
