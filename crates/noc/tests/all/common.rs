//! Networks and traffic shared by the tests.

use hostnet_noc::{
    topology, Allocation, Class, Delivery, Layout, Measure, Network, Order, Params, Pattern, Report, Reuse, Router,
    Run, Shape, Source, Traffic,
};

pub(crate) const ALLOCATIONS: [Allocation; 3] = [Allocation::Speculative, Allocation::Staged, Allocation::AtSwitch];
pub(crate) const REUSES: [Reuse; 2] = [Reuse::TailSent, Reuse::Drained];

/// Router with buffers that cover the credit loop.
pub(crate) const ROUTER: Router = Router {
    vc_flits: 8,
    allocation: Allocation::Speculative,
    reuse: Reuse::TailSent,
    switch_cycles: 1,
    link_cycles: 1,
    credit_cycles: 3,
};

pub(crate) const MESH: Shape = Shape::Mesh { columns: 8, rows: 8 };

pub(crate) fn class(order: Order, vcs: u8) -> Class {
    Class { name: "packets".into(), order, vcs }
}

pub(crate) fn params(shape: Shape, router: Router, vcs: u8) -> Params {
    Params { shape, router, classes: vec![class(Order::Xy, vcs)] }
}

pub(crate) fn network(params: &Params) -> (Layout, Network) {
    let (layout, routes) = topology::build(params).expect("it can be built");
    let network = Network::new(params.router, &layout, routes, 1);
    (layout, network)
}

/// Steps until nothing is in flight, or for `cycles_max` cycles.
pub(crate) fn drain(network: &mut Network, cycles_max: u64) -> Vec<Delivery> {
    let mut delivered = Vec::new();
    for _ in 0..cycles_max {
        if network.is_idle() {
            break;
        }
        network.step(&mut delivered);
    }
    delivered
}

pub(crate) fn traffic(pattern: Pattern, rate: f64, packet_flits: u16) -> Source {
    Source::Generated(Traffic { pattern, rate, packet_flits, seed: 7 })
}

pub(crate) fn report(params: &Params, source: Source, measure: Measure) -> Report {
    let mut run = Run::new(params, source, 1, measure).expect("it can run");
    while run.advance(1000) {}
    run.report()
}

/// Returns the number of links between two terminals.
pub(crate) fn links(shape: Shape, source: u16, destination: u16) -> u32 {
    match shape {
        Shape::Mesh { columns, .. } => {
            let apart = |one: u16, other: u16| u32::from(one.abs_diff(other));
            apart(source % columns, destination % columns) + apart(source / columns, destination / columns)
        }
        Shape::Ring { nodes } => {
            let ahead = (destination + nodes - source) % nodes;
            u32::from(ahead.min(nodes - ahead))
        }
    }
}

/// Returns the zero-load latency of a packet, in cycles.
pub(crate) fn alone(shape: Shape, router: &Router, source: u16, destination: u16, flits: u16) -> u64 {
    let links = links(shape, source, destination);
    let head = links * router.hop_cycles() + router.entry_cycles() + router.hop_cycles();
    u64::from(head + (links + 1) * router.allocation_cycles()) + u64::from(flits - 1)
}
