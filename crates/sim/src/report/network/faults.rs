//! Finds limits by faults: a cable that is down, an application that does not read, lost packets.

use super::class::{ports_on_path, TrafficClass};
use super::limit::TrafficLimit;
use crate::report::view::WorldView;
use hostnet_model::params::{CableEnd, FlowParams, PacketsParams, Traffic, Transport};

/// Share of the window that a cable must be down, or an application must not read, to be a limit.
const BROKEN: f64 = 0.05;
/// Share of lost packets at or above which losses slow the senders.
const LOST: f64 = 0.001;

/// Names the cable on the path of a class that was down longest.
pub(crate) fn cable_down(view: &WorldView, class: &TrafficClass) -> Option<TrafficLimit> {
    let cables = ports_on_path(view, class).filter_map(|(port, _)| port.cable());
    let share = |spans: &[(u64, u64)]| spans.iter().map(|&span| view.share_of_window(span)).sum::<f64>();
    let (share, cable) = cables
        .map(|cable| (share(&cable.down_ps), cable))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|down| down.0 >= BROKEN)?;
    let place = cable.ends.map(|end| view.name_of(end)).join(" to ");
    let why = format!("the cable {place} is down {:.0} % of the time", share * 100.0);
    Some(TrafficLimit { limit: "cable down", place, load: Some(share), why })
}

/// Names the application of a class that did not read for the longest time.
pub(crate) fn deaf_receivers(view: &WorldView, class: &TrafficClass) -> Option<TrafficLimit> {
    let deaf = class.flows.iter().map(|flow| (flow.deaf_ps.map_or(0.0, |span| view.share_of_window(span)), flow));
    let (share, flow) = deaf.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|deaf| deaf.0 >= BROKEN)?;
    let place = view.name_of(CableEnd::Host(flow.to)).to_owned();
    let why = format!("an application of {place} does not read {:.0} % of the time", share * 100.0);
    Some(TrafficLimit { limit: "deaf receiver", place, load: Some(share), why })
}

/// Names losses as the limit of a class.
pub(crate) fn lossy_path(class: &TrafficClass) -> Option<TrafficLimit> {
    let totals = &class.totals;
    let (network, nic) = (totals.fabric_dropped, totals.nic_dropped());
    let share = (network + nic) as f64 / totals.host_sent.max(1) as f64;
    let then = if class.is_of_datagrams() { "nobody retransmits them" } else { "senders slow down for these losses" };
    let why =
        format!("{:.2} % of its packets are lost ({network} in the network, {nic} at NICs), and {then}", share * 100.0);
    // A capture is sent at its own times, whatever is lost.
    (share >= LOST && !class.is_replay()).then(|| TrafficLimit {
        limit: "losses",
        place: String::new(),
        load: Some(share),
        why,
    })
}

impl TrafficClass<'_> {
    /// Returns true if all packets are those of captures.
    pub(crate) fn is_replay(&self) -> bool {
        self.flows.iter().all(|flow| matches!(flow.traffic, Traffic::Replay { .. }))
    }

    /// Returns true if all packets are datagrams.
    fn is_of_datagrams(&self) -> bool {
        self.flows.iter().all(|flow| matches!(flow.transport, Transport::Udp(_)))
    }

    /// Returns true if all senders slow down on losses and retransmit only lost data.
    pub(super) fn slows_down(&self) -> bool {
        self.flows.iter().all(|flow| matches!(flow.transport, Transport::Tcp(_)))
    }

    /// Returns true if all packets are sent by a clock.
    pub(crate) fn is_open_loop(&self) -> bool {
        let by_clock = |flow: &FlowParams| match &flow.traffic {
            Traffic::Datagrams { bytes_per_s, .. } => bytes_per_s.is_some(),
            Traffic::Packets(packets) => !matches!(&**packets, PacketsParams::Drawn { interval_ps: None, .. }),
            _ => false,
        };
        self.flows.iter().all(|flow| by_clock(flow))
    }

    /// Returns true if all packets are forwarded by hosts that received them.
    pub(crate) fn is_forwarded(&self) -> bool {
        self.flows.iter().all(|flow| matches!(flow.traffic, Traffic::Forward(_)))
    }
}
