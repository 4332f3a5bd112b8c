//! Compares the deadlock check with another algorithm, and with simulations, for routes with and without cycles.

use super::*;
use crate::VcClass as Channels;
use crate::{topology, Allocation, Class, Network, NocError, Order, Params, Reuse, Router, Shape};
use hostnet_kernel::Rng;

fn params(shape: Shape, order: Order, vcs: u8) -> Params {
    let router = Router {
        vc_flits: 4,
        allocation: Allocation::Speculative,
        reuse: Reuse::TailSent,
        switch_cycles: 1,
        link_cycles: 1,
        credit_cycles: 3,
    };
    Params { shape, router, classes: vec![Class { name: "packets".into(), order, vcs }] }
}

/// Builds a ring with forward routes only, over all virtual channels alike or over two halves of them.
fn one_way_ring(nodes: u16, dateline: bool) -> (Params, Layout, Routes) {
    let params = params(Shape::Ring { nodes }, Order::Xy, 2);
    let (layout, _) = topology::build(&params).expect("it can be built");
    let next = |at: u16, to: u16, _: bool| {
        let part = if to < at { Channels::Lower } else { Channels::Upper };
        // The first router was joined forward before it was joined backward, all other routers the other way round.
        (u8::from(at != 0), if dateline { part } else { Channels::All })
    };
    let routes = Routes::new(&layout, &params.classes, &next).expect("all packets arrive");
    (params, layout, routes)
}

#[test]
fn the_shapes_have_no_circle() {
    for order in [Order::Xy, Order::Yx, Order::O1Turn] {
        for shape in [Shape::Mesh { columns: 5, rows: 3 }, Shape::Ring { nodes: 7 }, Shape::Ring { nodes: 8 }] {
            let vcs = if matches!(shape, Shape::Ring { .. }) { 4 } else { 2 };
            let (layout, routes) = topology::build(&params(shape, order, vcs)).expect("it can be built");
            assert_eq!(cycle(&layout, &routes), None, "{shape:?} {order:?}");
        }
    }
}

#[test]
fn both_orders_in_the_same_channels_are_a_circle() {
    let wrong = params(Shape::Mesh { columns: 3, rows: 3 }, Order::O1Turn, 2);
    let (layout, mut routes) = topology::build(&wrong).expect("it can be built");
    routes.share_channels_of_orders();
    let circle = cycle(&layout, &routes).expect("there is a circle");
    assert!(circle.len() >= 4, "{}", describe(&layout, &circle));
    assert!(describe(&layout, &circle).starts_with('('), "{}", describe(&layout, &circle));
}

#[test]
fn a_ring_without_a_dateline_is_a_circle() {
    for nodes in [3, 6, 9] {
        let (_, layout, routes) = one_way_ring(nodes, false);
        assert!(cycle(&layout, &routes).is_some_and(|circle| circle.len() == usize::from(nodes)));
        let (_, layout, routes) = one_way_ring(nodes, true);
        assert_eq!(cycle(&layout, &routes), None);
    }
}

/// Returns true if long packets from every terminal to the second one before it are all delivered.
fn comes_through(nodes: u16, dateline: bool) -> bool {
    let (params, layout, routes) = one_way_ring(nodes, dateline);
    let mut network = Network::new(params.router, &layout, routes, 1);
    for (tag, source) in (0..50).flat_map(|tag| (0..nodes).map(move |source| (tag, source))) {
        network.offer(source, (source + nodes - 2) % nodes, 0, 40, tag);
    }
    let mut delivered = Vec::new();
    for _ in 0..200_000 {
        network.step(&mut delivered);
    }
    let moved = network.flit_hops();
    (0..1000).for_each(|_| network.step(&mut delivered));
    assert!(network.is_idle() || network.flit_hops() == moved, "it is neither through nor stuck");
    network.is_idle()
}

#[test]
fn packets_wait_forever_where_there_is_a_circle_and_not_where_there_is_none() {
    assert!(!comes_through(8, false));
    assert!(comes_through(8, true));
}

/// Returns routes on which all packets arrive, random otherwise: a random tree to every terminal, and random channels.
fn random_routes(layout: &Layout, classes: &[Class], rng: &mut Rng) -> Result<Routes, NocError> {
    let (ports, downstream, routers) = (layout.ports_max(), layout.downstream(), layout.routers.len());
    let mut steps = vec![(0_u8, Channels::All); routers * routers];
    for to in 0..routers {
        let mut inside = vec![false; routers];
        inside[to] = true;
        while inside.contains(&false) {
            let (router, port) = (rng.below(routers as u64) as usize, rng.below(ports as u64) as usize);
            let joins = downstream[router * ports + port].is_some_and(|next| inside[usize::from(next)]);
            if joins && !inside[router] {
                inside[router] = true;
                let part = [Channels::All, Channels::Lower, Channels::Upper][rng.below(3) as usize];
                steps[router * routers + to] = (port as u8, part);
            }
        }
    }
    Routes::new(layout, classes, &|at: u16, to: u16, _| steps[usize::from(at) * routers + usize::from(to)])
}

/// Decides by definition: collects all waits of all packets, and computes the transitive closure.
fn waits_for_itself(layout: &Layout, routes: &Routes) -> bool {
    let (ports, downstream, vcs) = (layout.ports_max(), layout.downstream(), routes.vcs);
    let nodes = downstream.len() * vcs;
    let mut waits = vec![vec![false; nodes]; nodes];
    for group in 0..routes.groups() {
        for (source, to) in layout.terminals.iter().flat_map(|one| (0..layout.terminals.len()).map(move |to| (one, to)))
        {
            let (mut at, mut held) = (usize::from(source.at.router), Vec::new());
            loop {
                let hop = routes.hop(group, at, to as u16);
                let output = at * ports + usize::from(hop.port);
                let Some(next) = downstream[output] else { break };
                let wanted: Vec<usize> =
                    (0..vcs).filter(|vc| hop.vcs >> vc & 1 != 0).map(|vc| output * vcs + vc).collect();
                for (from, to) in held.iter().flat_map(|from: &usize| wanted.iter().map(move |to| (*from, *to))) {
                    waits[from][to] = true;
                }
                held = wanted;
                at = usize::from(next);
            }
        }
    }
    for middle in 0..nodes {
        for from in 0..nodes {
            if waits[from][middle] {
                let further = waits[middle].clone();
                waits[from].iter_mut().zip(further).for_each(|(waits, further)| *waits |= further);
            }
        }
    }
    (0..nodes).any(|node| waits[node][node])
}

#[test]
fn circles_are_found_where_another_method_finds_them() {
    let rng = &mut Rng::new(1, 0);
    let mut found = [0; 2];
    let shapes = [
        Shape::Mesh { columns: 2, rows: 2 },
        Shape::Mesh { columns: 3, rows: 2 },
        Shape::Ring { nodes: 3 },
        Shape::Ring { nodes: 4 },
    ];
    for shape in shapes.into_iter().cycle().take(400) {
        let params = params(shape, Order::Xy, 2 + rng.below(3) as u8);
        let (layout, _) = topology::build(&params).expect("it can be built");
        let routes = random_routes(&layout, &params.classes, rng).expect("all packets arrive");
        let circle = cycle(&layout, &routes);
        assert_eq!(circle.is_some(), waits_for_itself(&layout, &routes), "{shape:?} {circle:?}");
        found[usize::from(circle.is_some())] += 1;
    }
    assert!(found.into_iter().all(|count| count > 20), "{found:?}");
}
