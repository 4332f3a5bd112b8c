//! Ring of routers. The dateline lies between the last router and the first. A packet that will cross it uses the
//! lower half of its virtual channels until then, and all other packets use the upper half, so that waits form no
//! cycle.

use crate::routes::VcClass;
use crate::{Layout, NocError, Params, Place, Routes, Terminal};

const NODES_MAX: u16 = 256;

pub(super) fn build(nodes: u16, params: &Params) -> Result<(Layout, Routes), NocError> {
    if !(2..=NODES_MAX).contains(&nodes) {
        return Err(NocError::new("nodes", format!("{nodes} is out of range; 2 to {NODES_MAX} are allowed")));
    }
    let router = &params.router;
    let (hop, credit) = (router.hop_cycles(), u32::from(router.credit_cycles));
    let mut layout = Layout::default();
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
    let next = |at: u16, to: u16, _: bool| {
        let ahead = (to + nodes - at) % nodes;
        // `>`: of two ways of the same length the forward one is taken.
        let backward = usize::from(ahead > nodes - ahead);
        // Forward the numbers wrap from the last to the first, backward from the first to the last.
        let crosses = if backward == 0 { to < at } else { to > at };
        (ports[usize::from(at)][backward], if crosses { VcClass::Lower } else { VcClass::Upper })
    };
    let routes = Routes::new(&layout, &params.classes, &next)?;
    Ok((layout, routes))
}
