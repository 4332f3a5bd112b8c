//! Time use of cores that serve the network.

use crate::report::view::WorldView;
use hostnet_model::os::{CoreTimeKind, CoreTimes};

/// Share of its busy time that a core must wait for registers of its NIC for its limit to be unknown.
const UNKNOWN: f64 = 0.25;
/// Like [`UNKNOWN`], but for lines of a NIC in a DIMM.
const UNKNOWN_IN_DIMM: f64 = 0.1;
/// Smallest share of the window that is reported.
const SOME: f64 = 0.01;

/// Activities of a core, and their names in words.
const KINDS: [(CoreTimeKind, &str); 6] = [
    (CoreTimeKind::Softirq, "softirq"),
    (CoreTimeKind::Call, "system calls"),
    (CoreTimeKind::Copy, "copies"),
    (CoreTimeKind::Stalled, "copies that wait for memory"),
    (CoreTimeKind::Send, "sending"),
    (CoreTimeKind::Serve, "requests"),
];

/// Returns the share of its busy time at or above which a core that waits for registers, or for lines of a DIMM, has no
/// known limit.
pub(super) fn register_wait(in_dimm: bool) -> f64 {
    if in_dimm {
        UNKNOWN_IN_DIMM
    } else {
        UNKNOWN
    }
}

/// Returns the share of the window that a core spent on an activity.
pub(super) fn share_spent(view: &WorldView, times: &CoreTimes, spent: CoreTimeKind) -> f64 {
    times.spent_ps(spent, view.now) as f64 / view.window_ps()
}

/// Describes how a core spent the window, in words.
pub(super) fn spent_words(view: &WorldView, times: &CoreTimes) -> String {
    let parts = KINDS.into_iter().map(|(spent, word)| (share_spent(view, times, spent), word));
    let parts = parts.filter(|part| part.0 >= SOME);
    parts.map(|(share, word)| format!("{word} {:.0} %", share * 100.0)).collect::<Vec<_>>().join(", ")
}
