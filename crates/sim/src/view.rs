//! What a report is made of: a run as it stands, read only.

use crate::sample::Sample;
use hostnet_config::Plan;
use hostnet_kernel::Time;
use hostnet_model::Machine;

/// Groups of batches that a confidence interval is made of.
pub(crate) const CONFIDENCE_GROUPS: usize = 32;

/// What a report is made of.
pub(crate) struct View<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) machine: &'a Machine,
    pub(crate) batches: &'a [Sample],
    pub(crate) series: &'a [Sample],
    pub(crate) window_start: Time,
    pub(crate) now: Time,
    pub(crate) complete: bool,
    pub(crate) events: u64,
    /// Bytes that a line stands for: 64, or those of a burst.
    pub(crate) line_bytes: u64,
}
