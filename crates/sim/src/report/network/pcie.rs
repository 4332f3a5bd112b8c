//! Finds limits at NICs: their PCIe links, the host network, and their rings.

use super::class::{machine_of, TrafficClass};
use super::cores::{busy_cores, full_cores};
use super::fair_share::{full_place, FullPlace};
use super::flow_paths::directions;
use super::limit::{not_known, worst_limit, TrafficLimit, DROPPED, FULL, WAIT};
use crate::read::flows::FlowTotals;
use crate::read::sample::PoolGroup;
use crate::report::view::{lines_each, WorldView};
use hostnet_measure::Domain;
use hostnet_model::dimm::Dimm;
use hostnet_model::iio::Iio;
use hostnet_model::nic::Nic;
use hostnet_model::params::{FlowParams, Transport};
use hostnet_model::Part;

/// Share of time that a packet must wait for PCIe credits for the host network to be congested.
const CREDIT_WAIT: f64 = 0.25;
/// Share of packets that a NIC must drop to be the limit rather than the cable, if senders back off on losses: the
/// usual sawtooth of their congestion windows loses fewer.
const MANY: f64 = 0.05;
/// Mean occupancy at or above which an IIO has hardly any room left, 0 to 1.
const NEARLY_FULL: f64 = 0.9;
/// Utilization at or above which a link is full if its NIC drops packets: the link idles while senders recover.
const FULL_WITH_DROPS: f64 = 0.8;
/// Share of time that all reads of a NIC must be in flight to limit it. Bursts alone keep them in flight for less.
const ALL_IN_FLIGHT: f64 = 0.9;

/// A direction of a PCIe link.
#[derive(Clone, Copy)]
pub(super) enum Direction {
    /// From the NIC to memory.
    ToMemory,
    /// From memory to the NIC.
    FromMemory,
}

/// Names the full resource downstream of the last buffers that overflow and drop packets of a class: sockets, or the
/// NICs of receivers. Returns `None` if neither drops packets.
pub(super) fn dropping_nics(view: &WorldView, class: &TrafficClass) -> Option<TrafficLimit> {
    let (totals, to) = (&class.totals, &class.hosts[1]);
    let enough = if class.slows_down() { MANY } else { DROPPED };
    let is_much = |dropped: u64, others: u64| dropped as f64 > enough * (dropped + others) as f64;
    let cores = || busy_cores(view, "receiver cores", to, class);
    if is_much(totals.socket_dropped, totals.received_segments) {
        if let Some(limit) = cores() {
            return Some(limit);
        }
    }
    let dropped = totals.nic_full + totals.nic_ring;
    if !is_much(dropped, totals.nic_received.saturating_sub(dropped)) {
        return None;
    }
    let behind = behind_nics(view, class).map(|limit| confirm_behind_nic(view, limit, class));
    // An empty ring may mean that the core does not refill it, so cores are checked before rings.
    behind.or_else(cores).or_else(|| worst_limit(to.iter().filter_map(|&host| full_rx_ring(view, host))))
}

/// Names the full resource downstream of the receivers' NICs: their PCIe links, or the host network behind these. The
/// limit is not known if the class has less than its share of such NICs.
pub(super) fn behind_nics(view: &WorldView, class: &TrafficClass) -> Option<TrafficLimit> {
    let full = class.totals.nic_full as f64 >= DROPPED * class.totals.nic_received.max(1) as f64;
    let from = if full { FULL_WITH_DROPS } else { FULL };
    let behind = |host| host_network(view, host, class).or_else(|| full_pcie(view, host, Direction::ToMemory, from));
    let comes = |flow: &FlowParams, host| directions(flow).iter().any(|&(_, to)| to == host);
    full_place(view, &class.hosts[1], class, behind, comes).map(FullPlace::limit)
}

/// Names the full PCIe link upstream of the senders' NICs. The limit is not known if the class has less than its
/// share of such NICs.
pub(super) fn before_nics(view: &WorldView, class: &TrafficClass) -> Option<TrafficLimit> {
    let before = |host| full_pcie(view, host, Direction::FromMemory, FULL);
    let goes = |flow: &FlowParams, host| directions(flow).iter().any(|&(from, _)| from == host);
    full_place(view, &class.hosts[0], class, before, goes).map(FullPlace::limit)
}

/// Returns the busiest PCIe link of a host's NIC in a direction, if it is busy for at least a share `from` of the
/// time.
pub(super) fn full_pcie(view: &WorldView, host: u16, direction: Direction, from: f64) -> Option<TrafficLimit> {
    let machine = machine_of(view, host)?;
    // A NIC in a DIMM has no PCIe link.
    let nic = machine.first::<Nic>().filter(|_| machine.first::<Dimm>().is_none())?;
    let links = view.servers[usize::from(host)].as_ref()?.nic_links().map(|(socket, _)| usize::from(socket));
    let busy = links.enumerate().map(|(function, socket)| match direction {
        Direction::ToMemory => nic.lane_busy_ps(function, view.now),
        // The IIO sends towards the NIC, so these are its lanes.
        Direction::FromMemory => {
            machine.each::<Iio>().nth(socket).map_or(0, |iio| iio.lane_busy_ps(nic.link(function), view.now))
        }
    });
    let load = busy.max()? as f64 / view.window_ps();
    let place = view.plan.cluster.hosts[usize::from(host)].name.clone();
    let way = match direction {
        Direction::ToMemory => "to memory",
        Direction::FromMemory => "from memory",
    };
    let why = format!("the PCIe link of the NIC of {place} {way} is busy {:.0} % of the time", 100.0 * load);
    (load >= from).then_some(TrafficLimit { limit: "PCIe", place, load: Some(load), why })
}

/// Names the host network of a receiver, if its NIC waits for PCIe credits because the IIO does not drain.
fn host_network(view: &WorldView, host: u16, class: &TrafficClass) -> Option<TrafficLimit> {
    let (waits, held) = credits_of(view, host)?;
    if waits < CREDIT_WAIT {
        return None;
    }
    let params = &view.plan.cluster.hosts[usize::from(host)];
    let mut why = credit_words(view, host, waits, held);
    let dropped = class.totals.nic_dropped();
    if dropped > 0 {
        why += &format!("; the NIC drops {dropped} of {} packets", class.totals.nic_received);
    }
    Some(TrafficLimit { limit: "host network", place: params.name.clone(), load: Some(waits), why })
}

/// Names the host network of a receiver whose IIO is nearly full on average.
pub(super) fn full_iio(view: &WorldView, host: u16) -> Option<TrafficLimit> {
    let (waits, held) = credits_of(view, host)?;
    let load = held[0] / held[1];
    let place = view.plan.cluster.hosts[usize::from(host)].name.clone();
    let why = credit_words(view, host, waits, held);
    (load >= NEARLY_FULL).then_some(TrafficLimit { limit: "host network", place, load: Some(load), why })
}

/// Returns the share of time that the NIC of a host waits for PCIe credits, and the mean lines in its fullest IIO
/// with the capacity of that IIO.
fn credits_of(view: &WorldView, host: u16) -> Option<(f64, [f64; 2])> {
    let machine = machine_of(view, host).filter(|machine| machine.first::<Dimm>().is_none())?;
    let fullest = |one: &&Domain, other: &&Domain| one.area_ps().cmp(&other.area_ps());
    let iio = machine.each::<Iio>().map(Iio::write).max_by(fullest)?;
    let lines_each = lines_each(view.plan.cluster.hosts[usize::from(host)].fidelity) as f64;
    let lines = [iio.area_ps() as f64 / view.window_ps(), f64::from(iio.capacity())].map(|many| many * lines_each);
    Some((machine.first::<Nic>()?.counters().credit_wait.mean(), lines))
}

/// Describes the wait for PCIe credits and the occupancy of the IIO in words.
fn credit_words(view: &WorldView, host: u16, waits: f64, [held, capacity]: [f64; 2]) -> String {
    let name = &view.plan.cluster.hosts[usize::from(host)].name;
    format!(
        "the NIC of {name} waits for PCIe credits {:.0} % of the time, and the IIO holds {held:.0} of \
         {capacity:.0} lines",
        100.0 * waits
    )
}

/// Describes how many packets of any class the NICs of the receivers drop, if these are significant.
pub(super) fn drop_words(view: &WorldView, class: &TrafficClass) -> Option<String> {
    let comes = |flow: &FlowParams| directions(flow).iter().any(|(_, to)| class.hosts[1].contains(to));
    let into = view.plan.cluster.flows.iter().zip(class.all).filter(|(flow, _)| comes(flow));
    let into = into.fold(FlowTotals::default(), |sum, (_, flow)| sum.plus(flow));
    let FlowTotals { nic_full, nic_ring, nic_received, .. } = into;
    let dropped = nic_full + nic_ring;
    (dropped as f64 > DROPPED * nic_received as f64)
        .then(|| format!("the NICs of its receivers drop {dropped} of {nic_received} packets"))
}

/// Names the host network of a sender whose NIC nearly always has all of its memory reads in flight.
pub(super) fn full_reads(view: &WorldView, host: u16) -> Option<TrafficLimit> {
    let machine = machine_of(view, host).filter(|machine| machine.first::<Dimm>().is_none())?;
    let mut in_flight: Vec<(f64, u32)> = Vec::new();
    machine.first::<Nic>()?.pools(&mut |pool| {
        if pool.group == PoolGroup::NonPosted {
            let full = pool.domain.over_threshold_ps() as f64 / view.window_ps();
            in_flight.push((full, pool.domain.capacity()));
        }
    });
    let (load, lines) = in_flight.into_iter().max_by(|one, other| one.0.total_cmp(&other.0))?;
    let place = view.plan.cluster.hosts[usize::from(host)].name.clone();
    let why = format!(
        "the NIC of {place} has all {lines} lines that it may ask memory for in flight {:.0} % of the time",
        100.0 * load
    );
    (load >= ALL_IN_FLIGHT).then_some(TrafficLimit { limit: "host network", place, load: Some(load), why })
}

/// Names the NIC of a sender whose data nearly always waits for room in its send window.
pub(super) fn full_send_window(view: &WorldView, host: u16) -> Option<TrafficLimit> {
    let machine = machine_of(view, host).filter(|machine| machine.first::<Dimm>().is_none())?;
    let load = machine.first::<Nic>()?.counters().window_wait.mean();
    let place = view.plan.cluster.hosts[usize::from(host)].name.clone();
    let why = format!(
        "data waits for room in the send window of the NIC of {place} (nic.send_window) {:.0} % of the time, and \
         nothing after it is full",
        100.0 * load
    );
    (load >= ALL_IN_FLIGHT).then_some(TrafficLimit { limit: "host network", place, load: Some(load), why })
}

/// Names the receive ring of a NIC that often has no descriptor.
pub(super) fn full_rx_ring(view: &WorldView, host: u16) -> Option<TrafficLimit> {
    let nic = machine_of(view, host)?.first::<Nic>()?;
    let waits = nic.counters().descriptor_wait.mean();
    let name = &view.plan.cluster.hosts[usize::from(host)].name;
    let fetches = nic.counters().fetch_wait.mean();
    // Descriptors that are ready but unread are no lack of buffers: the larger wait decides.
    if fetches >= WAIT && fetches > waits {
        let why =
            format!("the NIC of {name} waits {:.0} % of the time to read descriptors from memory", fetches * 100.0);
        return Some(TrafficLimit { limit: "descriptor reads", place: name.clone(), load: Some(fetches), why });
    }
    let why = format!("the NIC of {name} waits for descriptors {:.0} % of the time", waits * 100.0);
    (waits >= WAIT).then(|| TrafficLimit { limit: "ring", place: name.clone(), load: Some(waits), why })
}

/// Returns the limit behind a NIC, or that the limit is not known because the core that reads the datagrams is always
/// busy as well.
///
/// Senders of datagrams do not wait for the core. With TCP they do, and the core may be busy because memory is slow.
fn confirm_behind_nic(view: &WorldView, limit: TrafficLimit, class: &TrafficClass) -> TrafficLimit {
    let datagrams = class.flows.iter().all(|flow| matches!(flow.transport, Transport::Udp(_)));
    let busy = || full_cores(view, "receiver cores", &class.hosts[1], class);
    match datagrams.then(busy).flatten() {
        None => limit,
        Some(core) => {
            not_known(limit.load, format!("{}, but {}: raising either alone may not help", limit.why, core.why))
        }
    }
}
