"""The names of what counters tell about a window, as in `summary["counters"]`."""

SCALARS = (
    "lines_read",
    "lines_written",
    "read_activations",
    "write_activations",
    "read_conflicts",
    "write_conflicts",
    "mode_switches",
    "rpq_occupancy",
    "wpq_occupancy",
    "rpq_full_share",
    "wpq_full_share",
)
"""Quantities that are one number."""

FLOWS = ("lfb", "core_read", "core_write", "io_read", "io_write", "iio_write", "iio_read")
"""Quantities that are an occupancy and a number of lines."""
