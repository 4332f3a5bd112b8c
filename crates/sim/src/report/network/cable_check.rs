//! Checks if something else is as full as a cable, so that a faster cable alone would not help.

use super::class::TrafficClass;
use super::cores::full_cores;
use super::limit::{not_known, worst_limit, TrafficLimit, FULL};
use super::pcie::{drop_words, full_iio, full_pcie, full_reads, Direction};
use super::senders::paused_senders;
use crate::read::flows::FlowTotals;
use crate::report::view::WorldView;

/// Share of its packets by which a NIC must fall behind in a window for its senders to overload it.
const BACKLOG: f64 = 0.02;

/// Returns a full cable as the limit, or that the limit is not known because something else on the path is as full.
///
/// Full senders are ignored if they overload the cable, or their NIC upstream of it, because then they could send
/// more.
pub(super) fn confirm_cable(
    view: &WorldView,
    cable: TrafficLimit,
    class: &TrafficClass,
    overloaded: bool,
) -> TrafficLimit {
    // Transports sent more than left the hosts: the rest waits in NICs for the cable.
    let FlowTotals { sent_packets, host_sent, .. } = class.totals;
    let could_send = overloaded || host_sent as f64 <= (1.0 - BACKLOG) * sent_packets as f64;
    let of_senders = || if could_send { None } else { full_sender(view, class) };
    match full_receiver(view, class).or_else(of_senders) {
        None => cable,
        Some(other) => {
            let why = format!("{}, but {other}: a faster cable alone may not help", cable.why);
            not_known(cable.load, why)
        }
    }
}

/// Describes the full resource downstream of the cables of a class, if there is one.
fn full_receiver(view: &WorldView, class: &TrafficClass) -> Option<String> {
    let to = &class.hosts[1];
    let each = |full: &dyn Fn(u16) -> Option<TrafficLimit>| worst_limit(to.iter().filter_map(|&host| full(host)));
    let full = || {
        each(&|host| full_iio(view, host))
            .or_else(|| each(&|host| full_pcie(view, host, Direction::ToMemory, FULL)))
            .or_else(|| full_cores(view, "receiver cores", to, class))
            .or_else(|| paused_senders(view, class))
    };
    drop_words(view, class).or_else(|| full().map(|limit| limit.why))
}

/// Describes the full resource upstream of the cables of a class, if there is one.
fn full_sender(view: &WorldView, class: &TrafficClass) -> Option<String> {
    let from = &class.hosts[0];
    let each = |full: &dyn Fn(u16) -> Option<TrafficLimit>| worst_limit(from.iter().filter_map(|&host| full(host)));
    let full = each(&|host| full_pcie(view, host, Direction::FromMemory, FULL))
        .or_else(|| full_cores(view, "sender cores", from, class))
        .or_else(|| each(&|host| full_reads(view, host)));
    full.map(|limit| limit.why)
}
