//! Finds full cables on the reverse path, where acknowledgements of a class wait behind data of others.

use super::class::{cable_words, TrafficClass};
use super::flow_paths::{directions, FlowPaths};
use super::limit::{not_known, TrafficLimit, FULL};
use super::queues::gbps_words;
use crate::read::ports::PortPlace;
use crate::report::view::WorldView;
use std::collections::BTreeSet;

/// Describes the fullest cable that acknowledgements of a class pass, if it is full. The limit is not known: less data
/// of other classes on that cable might not let the class send more.
pub(super) fn full_reverse_path(view: &WorldView, class: &TrafficClass) -> Option<TrafficLimit> {
    let flow_paths = FlowPaths::new(view)?;
    let flows = class.numbers.iter().zip(&class.flows);
    let back = flows.flat_map(|(&number, flow)| {
        let ends = directions(flow).into_iter();
        // Acknowledgements travel against the data, so the ends are swapped.
        ends.flat_map(|(from, to)| flow_paths.port_places(number as u32, to, from)).collect::<Vec<_>>()
    });
    let back: BTreeSet<PortPlace> = back.collect();
    let loads = view.ports().filter(|(port, _)| back.contains(&port.place())).filter_map(|(port, before)| {
        let rate = view.rate_gbps(&port)?;
        Some((view.sent_gbps(&port, before), rate, port))
    });
    let (sent, rate, port) = loads.max_by(|one, other| (one.0 / one.1).total_cmp(&(other.0 / other.1)))?;
    if sent < FULL * rate {
        return None;
    }
    let others = classes_through(view, port.place(), &flow_paths).into_iter().map(|class| format!("\"{class}\""));
    let why = format!(
        "nothing on the way of its data is full, but its acknowledgements pass the cable {}, which carries \
         {sent:.1} of {} Gbps, data of {}",
        cable_words(view, &port),
        gbps_words(rate),
        others.collect::<Vec<_>>().join(", ")
    );
    Some(not_known(Some(sent / rate), why))
}

/// Lists the classes whose data passes a port.
fn classes_through<'a>(view: &'a WorldView<'a>, place: PortPlace, flow_paths: &FlowPaths) -> BTreeSet<&'a str> {
    let cluster = &view.plan.cluster;
    let through = (0..).zip(&cluster.flows).filter(|(number, flow)| flow_paths.data_passes(*number, flow, place));
    through.map(|(_, flow)| cluster.classes[usize::from(flow.class)].as_str()).collect()
}
