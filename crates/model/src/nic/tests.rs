//! The NIC alone, between a cable, a host and a core that are made by hand.
