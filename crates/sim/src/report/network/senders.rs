//! Finds the limit of a class whose senders are held back although nothing on its path is full: pauses, marks, the
//! rate of congestion control, windows, or the load itself.

use super::class::{cable_words, ports_on_path, TrafficClass};
use super::flow_paths::directions;
use super::flows::goodput_estimate;
use super::limit::{not_known, TrafficLimit, NOT_KNOWN, WAIT};
use super::load::behind_words;
use super::rings::ring_hosts;
use crate::read::flows::FlowTotals;
use crate::read::ports::PortView;
use crate::report::view::WorldView;
use hostnet_model::params::FlowParams;
use std::collections::BTreeSet;

/// Share of marked segments at or above which marks slow the senders.
const MARKED: f64 = 0.002;
/// Share of time that its rate must delay a sender for the sender to be limited by that rate.
const PACED: f64 = 0.9;
/// Share of the port rate that a sender must lose to congestion control to be limited by it.
const SLOWED: f64 = 0.05;
/// Share of time that windows must hold data back to limit a class.
const HELD: f64 = 0.5;
/// Limits at which senders may not have reached their steady state yet.
const CHANGING: [&str; 3] = ["marks", "congestion control", "windows"];

/// Names the port on the path that is paused longest, if it is paused often.
pub(super) fn paused_senders(view: &WorldView, class: &TrafficClass) -> Option<TrafficLimit> {
    let priorities: BTreeSet<u8> = class.flows.iter().map(|flow| flow.priority).collect();
    let share = |port: &PortView| view.paused_share(port, priorities.iter().copied());
    let paused = ports_on_path(view, class).map(|(port, _)| (share(&port), port));
    let (share, port) = paused.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|paused| paused.0 >= WAIT)?;
    let place = cable_words(view, &port);
    let why = format!("the port {place} is paused {:.0} % of the time", share * 100.0);
    Some(TrafficLimit { limit: "pauses", place, load: Some(share), why })
}

/// Names marks as the limit, if the senders of a class respond to them and enough packets are marked.
pub(super) fn marked_senders(view: &WorldView, class: &TrafficClass) -> Option<TrafficLimit> {
    if class.has_requests() || !class.flows.iter().any(|flow| flow.transport.heeds_marks()) {
        return None;
    }
    let FlowTotals { sent_packets, received_segments, marked_segments, marked_by_host, .. } = class.totals;
    let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
    let (marked, what) = match marked_by_host {
        0 => (share(marked_segments, received_segments), "segments are marked"),
        _ => (share(marked_by_host, sent_packets), "packets are marked by the control of its host"),
    };
    if marked < MARKED {
        return None;
    }
    let why = format!("{:.1} % of its {what}", marked * 100.0);
    if class.has_load {
        // Flows of a load end, and others begin whatever becomes of them, so marks may cost no goodput.
        let why =
            format!("{}; {why}, and it is not known if it would carry more without marks", behind_words(view, class));
        return Some(not_known(None, why));
    }
    let why = format!("{why}, so that its senders slow down");
    Some(TrafficLimit { limit: "marks", place: String::new(), load: Some(marked), why })
}

/// Names the rate of DCQCN as the limit, if the senders of at least half of the data send whenever this rate permits,
/// and it is below the rate of their ports.
pub(super) fn congestion_control(view: &WorldView, class: &TrafficClass) -> Option<TrafficLimit> {
    let paced = class.flows.iter().zip(&class.each).filter(|(flow, totals)| {
        let begins_ps = flow.start_ps.max(view.window_start.ps());
        let time_ps = view.now.ps().saturating_sub(begins_ps) as f64;
        let slowed_ps = totals.paced_ps.saturating_sub(totals.at_line_ps) as f64;
        totals.paced_ps as f64 >= PACED * time_ps && slowed_ps >= SLOWED * time_ps
    });
    let paced = paced.fold(FlowTotals::default(), |sum, (_, totals)| sum.plus(totals));
    // At line rate, time is proportional to data, so this compares halves of the data.
    if paced.at_line_ps == 0 || 2 * paced.at_line_ps < class.totals.at_line_ps {
        return None;
    }
    let share = paced.at_line_ps as f64 / paced.paced_ps as f64;
    let why = format!(
        "DCQCN lets its senders use {:.0} % of the rate of their ports after congestion notifications; nothing on \
         its way is full",
        100.0 * share
    );
    Some(TrafficLimit { limit: "congestion control", place: String::new(), load: Some(share), why })
}

/// Adds the drift of the goodput to the words of a limit whose senders may not have settled.
pub(super) fn with_drift(view: &WorldView, class: usize, mut limit: TrafficLimit) -> TrafficLimit {
    if CHANGING.contains(&limit.limit) {
        if let Some(drift) = goodput_estimate(view, class).drift {
            limit.why += &format!("; its goodput changes by {drift:+.1} Gbps from the start of the window to its end");
        }
    }
    limit
}

/// Returns the limit of a class with nothing full on its path that is held back by windows: its name, which may be
/// that of an unknown limit, and its words.
fn window_limit(view: &WorldView, class: &TrafficClass) -> (&'static str, String) {
    // Both ends of a flow with data in both directions may be held back, so its time counts twice.
    let time_ps = |flow: &&FlowParams| {
        let begins_ps = flow.start_ps.max(view.window_start.ps());
        directions(flow).len() as u64 * view.now.ps().saturating_sub(begins_ps)
    };
    let time_ps: u64 = class.flows.iter().map(time_ps).sum();
    let share = |held_ps: u64| held_ps as f64 / time_ps.max(1) as f64;
    let [own, congestion] = [class.totals.window_held_ps, class.totals.congestion_held_ps].map(share);
    // Receive windows and buffers are settings, while congestion windows may still be growing.
    if own >= HELD {
        let what = "receive window, send buffer or messages in flight keep data back";
        return ("windows", format!("nothing on its way is full: its {what} {:.0} % of the time", 100.0 * own));
    }
    if congestion >= HELD {
        let why = format!(
            "nothing on its way is full, but congestion windows keep data back {:.0} % of the time: they may still \
             grow after earlier losses or marks, and a longer warm-up would tell",
            100.0 * congestion
        );
        return (NOT_KNOWN, why);
    }
    let why = format!("nothing on its way is full, and its windows keep data back {:.0} % of the time", 100.0 * own);
    (NOT_KNOWN, why)
}

/// Names the limit of a class with nothing full on its path.
pub(super) fn waiting_senders(view: &WorldView, class: &TrafficClass) -> TrafficLimit {
    let (limit, why) = match (class.has_requests(), class.totals.timeouts) {
        // Sources with their own clock come first, as nothing on the path delays what they send.
        _ if class.is_replay() => ("capture", "its packets are sent at the times of the capture".to_owned()),
        _ if class.is_forwarded() => ("input", "it forwards what arrives, and has room for all of it".to_owned()),
        _ if class.is_open_loop() => ("clock", "its datagrams are sent at their configured rate".to_owned()),
        (false, 0) if ring_hosts(view, class).next().is_some() => (
            NOT_KNOWN,
            "nothing that is observed is full; the time that packets wait for rings is not observed".to_owned(),
        ),
        (_, 0) if class.totals.host_sent == 0 && ring_hosts(view, class).next().is_none() => {
            ("silence", "its hosts sent nothing: it has not begun, or waits for a timeout".to_owned())
        }
        (_, 1..) => {
            let lost = class.totals.fabric_dropped + class.totals.nic_dropped();
            ("timeouts", format!("{} timeouts, {lost} packets lost; nothing on its way is full", class.totals.timeouts))
        }
        (true, _) if class.is_of_services() => {
            ("clock", "nothing on its way is full: its requests arrive at their configured rate".to_owned())
        }
        (true, _) => ("requests in flight", "nothing on its way is full: it waits for answers".to_owned()),
        (false, _) if class.has_load => {
            (NOT_KNOWN, format!("{}; nothing on its way is full", behind_words(view, class)))
        }
        (false, _) => window_limit(view, class),
    };
    TrafficLimit { limit, place: String::new(), load: None, why }
}
