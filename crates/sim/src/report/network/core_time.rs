//! What cores that serve the network spend their time on.

use crate::report::view::WorldView;
use hostnet_model::os::{CoreTimes, Spent};

/// What a busy core is busy with is not known when it waits for registers for this share of that time.
const UNKNOWN: f64 = 0.25;
/// The same of lines of a NIC in a DIMM.
const UNKNOWN_IN_DIMM: f64 = 0.1;
/// A share that is told of.
const SOME: f64 = 0.01;

const KINDS: [(Spent, &str); 6] = [
    (Spent::Softirq, "softirq"),
    (Spent::Call, "system calls"),
    (Spent::Copy, "copies"),
    (Spent::Stalled, "copies that wait for memory"),
    (Spent::Send, "sending"),
    (Spent::Serve, "requests"),
];

/// The share of its busy time from which on a core that waits for registers, or for lines of a DIMM, is not understood.
pub(super) fn register_wait(in_dimm: bool) -> f64 {
    if in_dimm {
        UNKNOWN_IN_DIMM
    } else {
        UNKNOWN
    }
}

/// The share of the window that a core spent on something.
pub(super) fn share_spent(view: &WorldView, times: &CoreTimes, spent: Spent) -> f64 {
    times.spent_ps(spent, view.now) as f64 / view.window_ps()
}

/// What a core spent the window on, in words.
pub(super) fn spent_words(view: &WorldView, times: &CoreTimes) -> String {
    let parts = KINDS.into_iter().map(|(spent, word)| (share_spent(view, times, spent), word));
    let parts = parts.filter(|part| part.0 >= SOME);
    parts.map(|(share, word)| format!("{word} {:.0} %", share * 100.0)).collect::<Vec<_>>().join(", ")
}
