//! Ring of routers. The dateline lies between the last router and the first. Packets that cross it use one half of the
//! virtual channels of their class, and all others the other half. No packet goes around far enough for waits in one
//! half to form a cycle.

use crate::routes::VcClass;
use crate::{Class, Layout, NocError, Order, Params, Place, Routes, Terminal};
use std::cmp::Ordering;

const NODES_MAX: u16 = 256;

pub(super) fn build(nodes: u16, params: &Params) -> Result<(Layout, Routes), NocError> {
    if !(2..=NODES_MAX).contains(&nodes) {
        return Err(NocError::new("nodes", format!("{nodes} is out of range; 2 to {NODES_MAX} are allowed")));
    }
    if let Some(class) = params.classes.iter().find(|class| class.vcs < 2) {
        let rule = "a ring needs at least 2, for packets that cross its dateline and for the others";
        return Err(NocError::new("vcs", format!("{} of class {}; {rule}", class.vcs, class.name)));
    }
    let router = &params.router;
    let (hop, credit) = (router.hop_cycles(), u32::from(router.credit_cycles));
    let mut layout = Layout { ring: true, ..Layout::default() };
    let half = nodes.div_ceil(2);
    for index in 0..nodes {
        // The ring is drawn in two rows: there and back.
        let place = if index < half { (index, 0) } else { (nodes - 1 - index, 1) };
        layout.add_router(Place { column: place.0, row: place.1 });
    }
    let mut ports = vec![[0_u8; 2]; usize::from(nodes)];
    for index in 0..nodes {
        // The last router joins the first: the dateline lies there.
        let after = (index + 1) % nodes;
        let (forward, backward) = layout.join(index, after, hop, credit);
        ports[usize::from(index)][0] = forward.port;
        ports[usize::from(after)][1] = backward.port;
    }
    for index in 0..nodes {
        let at = layout.port(index);
        let place = layout.routers[usize::from(index)];
        let (in_cycles, out_cycles) = (router.entry_cycles(), hop);
        layout.terminals.push(Terminal { at, place, in_cycles, out_cycles, credit_cycles: credit });
    }
    let next = |at: u16, to: u16, second: bool| {
        (ports[usize::from(at)][direction(nodes, at, to, second) as usize], VcClass::All)
    };
    // Two groups of packets with half of the virtual channels each, as with O1TURN.
    let split = |class: &Class| Class { order: Order::O1Turn, ..class.clone() };
    let classes: Vec<Class> = params.classes.iter().map(split).collect();
    let starts = |at, to, second| direction(nodes, at, to, second).crosses(at, to) == second;
    let routes = Routes::new(&layout, &classes, &next)?.starting(&layout, &starts);
    Ok((layout, routes))
}

/// Direction around a ring.
#[derive(Clone, Copy)]
enum Direction {
    Forward,
    Backward,
}

impl Direction {
    /// Returns true if packets in this direction from one router to another cross the dateline.
    fn crosses(self, at: u16, to: u16) -> bool {
        match self {
            Self::Forward => to < at,
            Self::Backward => to > at,
        }
    }
}

/// Returns the shorter direction. Of two directions of the same length one crosses the dateline: that is the one of the
/// `second` group, and the other that of the first.
fn direction(nodes: u16, at: u16, to: u16, second: bool) -> Direction {
    let ahead = (to + nodes - at) % nodes;
    match ahead.cmp(&(nodes - ahead)) {
        Ordering::Less => Direction::Forward,
        Ordering::Greater => Direction::Backward,
        Ordering::Equal if Direction::Forward.crosses(at, to) == second => Direction::Forward,
        Ordering::Equal => Direction::Backward,
    }
}
