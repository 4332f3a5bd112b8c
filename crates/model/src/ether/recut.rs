//! Fabrics that are cut elsewhere than before: to go on with another number of threads.

use super::fabric::{Fabric, Node};
use crate::line::Packets;
use crate::part::Payload;
use hostnet_kernel::{ComponentId, Scheduler};
use std::ops::Range;

type Part = (Fabric, Scheduler<Payload>);

/// Puts all parts of a network together, which come in the order of its components.
///
/// # Panics
/// As [`recut`], and if there is no part.
#[must_use]
pub fn join(parts: Vec<Part>) -> Part {
    let nodes = 0..parts.iter().map(|part| part.0.nodes.len()).sum();
    recut(parts, &[nodes]).pop().expect("there is a part")
}

/// Cuts a network elsewhere. `from` has all of it in the order of its components, and `ranges` are the nodes that each
/// new partition has, one after the other. What follows does not depend on the cut; the
/// slots that packets lie in do.
///
/// # Panics
/// If `ranges` do not cover the nodes, or the parts of `from` do not follow each other or stand at different times.
#[must_use]
pub fn recut(mut from: Vec<Part>, ranges: &[Range<usize>]) -> Vec<Part> {
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
        let own: Vec<Node> = own.collect();
        let inside = endpoints.iter().filter(|(_, place)| range.contains(place));
        let inside = inside.map(|&(number, place)| (number, (place - range.start) as u32)).collect();
        let mut fabric = Fabric::new(ComponentId(first + range.start as u32), own, first_switch, inside);
        first_switch += fabric.switches().count() as u32;
        fabric.packets = packets;
        from.iter_mut().for_each(|part| move_record(&mut part.0, &mut fabric));
        to.push((fabric, range.len()));
    }
    hostnet_kernel::recut(from, to)
}

/// The nodes, each with the part that it was in.
fn take_nodes(from: &mut [Part]) -> Vec<(usize, Node)> {
    let parts = from.iter_mut().enumerate();
    parts
        .flat_map(|(part, (fabric, _))| std::mem::take(&mut fabric.nodes).into_iter().map(move |node| (part, node)))
        .collect()
}

/// The number of each endpoint and its place among all nodes, in the order of the hosts.
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

/// Hands on what is recorded, if it is of a node that is in `to` now.
fn move_record(from: &mut Fabric, to: &mut Fabric) {
    let part = from.packets.recorded_part();
    if part.is_some_and(|part| part.0.wrapping_sub(to.first.0) < to.nodes.len() as u32) {
        from.packets.move_record(&mut to.packets);
    }
}
