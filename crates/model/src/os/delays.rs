//! Delays between a core and its neighbours.

/// Delay from one core to another, in ps (assumed: a line that one core stores to and the other reads).
pub(super) const TO_CORE_PS: u64 = 100_000;
/// Delay from a core to the NIC, in ps: the NIC adds the delay of its link.
pub(super) const TO_NIC_PS: u64 = 1;
