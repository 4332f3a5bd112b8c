//! Moves the cuts between fabrics, so that a run continues with another number of threads.

use super::fabric::{Fabric, FabricNode};
use crate::line::Packets;
use crate::part::Payload;
use hostnet_kernel::{ComponentId, Scheduler};
use std::ops::Range;

type Part = (Fabric, Scheduler<Payload>);

/// Joins all parts of a network, which must be in the order of their components.
///
/// # Panics
/// Panics under the same conditions as [`repartition`], and if there is no part.
#[must_use]
pub fn join_fabrics(parts: Vec<Part>) -> Part {
    let nodes = 0..parts.iter().map(|part| part.0.nodes.len()).sum();
    repartition(parts, &[nodes]).pop().expect("there is a part")
}

/// Moves the cuts of a network. `from` holds the whole network in the order of its components, and `ranges` are the
/// nodes of each new partition, one after the other. Results do not depend on the cut; the slots that store packets
/// do.
///
/// # Panics
/// Panics if `ranges` do not cover the nodes, or if the parts of `from` are not contiguous or have different times.
#[must_use]
pub fn repartition(mut from: Vec<Part>, ranges: &[Range<usize>]) -> Vec<Part> {
    // The same cut: nothing moves, and slots of packets stay as they are.
    if from.iter().map(|part| part.0.nodes.len()).eq(ranges.iter().map(Range::len)) {
        return from;
    }
    let (first, mut first_switch) = from.first().map_or((0, 0), |part| (part.0.first.0, part.0.first_switch));
    let endpoints = endpoints(&from);
    let mut nodes = take_nodes(&mut from).into_iter();
    let mut to = Vec::new();
    for range in ranges {
        let mut packets = Packets::default();
        let own = nodes.by_ref().take(range.len()).map(|(part, mut node)| {
            node.move_packets(&mut from[part].0.packets, &mut packets);
            node
        });
        let own: Vec<FabricNode> = own.collect();
        let inside = endpoints.iter().filter(|(_, place)| range.contains(place));
        let inside = inside.map(|&(number, place)| (number, (place - range.start) as u32)).collect();
        let mut fabric = Fabric::new(ComponentId(first + range.start as u32), own, first_switch, inside);
        first_switch += fabric.switches().count() as u32;
        fabric.packets = packets;
        from.iter_mut().for_each(|part| move_record(&mut part.0, &mut fabric));
        to.push((fabric, range.len()));
    }
    hostnet_kernel::repartition(from, to)
}

/// Takes all nodes out of the parts, each with the index of its part.
fn take_nodes(from: &mut [Part]) -> Vec<(usize, FabricNode)> {
    let parts = from.iter_mut().enumerate();
    parts
        .flat_map(|(part, (fabric, _))| std::mem::take(&mut fabric.nodes).into_iter().map(move |node| (part, node)))
        .collect()
}

/// Returns the number of each endpoint and its index among all nodes, in the order of the hosts.
fn endpoints(from: &[Part]) -> Vec<(u32, usize)> {
    let mut before = 0;
    let mut endpoints = Vec::new();
    for (fabric, _) in from {
        endpoints.extend(fabric.endpoint_places().iter().map(|&(number, place)| (number, before + place as usize)));
        before += fabric.nodes.len();
    }
    endpoints.sort_unstable();
    endpoints
}

/// Moves the record of packets to `to` if the recorded node is in `to`.
fn move_record(from: &mut Fabric, to: &mut Fabric) {
    let part = from.packets.recorded_part();
    if part.is_some_and(|part| part.0.wrapping_sub(to.first.0) < to.nodes.len() as u32) {
        from.packets.move_record(&mut to.packets);
    }
}
