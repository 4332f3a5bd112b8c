//! Compares simulations with closed forms of the parameters of a network.

use crate::common::{alone, drain, network, params, report, traffic, ALLOCATIONS, MESH, REUSES, ROUTER};
use hostnet_noc::{
    channel_load, Allocation, ChannelLoad, Measure, Order, Params, Pattern, Reuse, Router, Shape, TracePacket,
};

/// Checks the zero-load latency of a packet between every pair of terminals, sent one at a time.
fn latencies_are_those_of_packets_alone(params: &Params, flits: u16) {
    let (layout, mut network) = network(params);
    let terminals = layout.terminals.len() as u16;
    for (source, destination) in (0..terminals).flat_map(|from| (0..terminals).map(move |to| (from, to))) {
        network.offer(source, destination, 0, flits, 0);
        let delivered = drain(&mut network, 100_000);
        let [delivery] = delivered[..] else { panic!("{} packets of one", delivered.len()) };
        let expected = alone(params.shape, &params.router, source, destination, flits);
        assert_eq!(delivery.at - delivery.packet.created, expected, "{source} -> {destination}, {params:?}");
    }
}

#[test]
fn a_packet_alone_takes_three_cycles_per_link_and_five() {
    for (allocation, reuse) in ALLOCATIONS.into_iter().flat_map(|one| REUSES.map(|other| (one, other))) {
        for flits in [1, 5] {
            latencies_are_those_of_packets_alone(&params(MESH, Router { allocation, reuse, ..ROUTER }, 2), flits);
        }
    }
    assert_eq!(alone(MESH, &ROUTER, 0, 63, 1), 3 * 14 + 5);
    assert_eq!(alone(MESH, &ROUTER, 9, 9, 5), 5 + 4);
}

#[test]
fn other_sizes_and_other_routers_have_the_same_form() {
    let shapes = [
        Shape::Mesh { columns: 5, rows: 3 },
        Shape::Mesh { columns: 1, rows: 7 },
        Shape::Ring { nodes: 2 },
        Shape::Ring { nodes: 7 },
        Shape::Ring { nodes: 8 },
    ];
    for (switch_cycles, link_cycles, credit_cycles) in [(0, 0, 1), (0, 1, 1), (2, 3, 4), (16, 16, 32)] {
        for (shape, allocation) in shapes.into_iter().flat_map(|shape| ALLOCATIONS.map(|one| (shape, one))) {
            let vc_flits = 255;
            let router = Router { switch_cycles, link_cycles, credit_cycles, allocation, vc_flits, ..ROUTER };
            latencies_are_those_of_packets_alone(&params(shape, router, 2), 3);
        }
    }
}

/// Routers as in a configuration of Garnet: one cycle each, and one on the wire.
#[test]
fn routers_and_links_of_one_cycle_take_two_per_hop() {
    let router = Router {
        vc_flits: 4,
        allocation: Allocation::AtSwitch,
        reuse: Reuse::Drained,
        switch_cycles: 0,
        link_cycles: 1,
        credit_cycles: 1,
    };
    for links in 0..8_u16 {
        assert_eq!(alone(MESH, &router, 0, links, 1), u64::from(2 * links) + 4);
    }
    latencies_are_those_of_packets_alone(&params(MESH, router, 4), 5);
    let control = Router { vc_flits: 1, ..router };
    latencies_are_those_of_packets_alone(&params(MESH, control, 4), 1);
}

/// Returns the cycle in which the tail flit of a lone packet arrives over three links.
fn arrival(router: Router, flits: u16) -> u64 {
    let (_, mut network) = network(&params(Shape::Mesh { columns: 4, rows: 1 }, router, 1));
    network.offer(0, 3, 0, flits, 0);
    drain(&mut network, 1_000_000)[0].at
}

#[test]
fn a_stream_in_one_channel_is_as_fast_as_its_credits_come_back() {
    for (switch_cycles, link_cycles, credit_cycles) in [(1, 1, 3), (0, 1, 1), (2, 4, 7)] {
        let loop_cycles = 1 + switch_cycles + link_cycles + credit_cycles;
        for (vc_flits, allocation) in (1..=loop_cycles + 1).flat_map(|flits| ALLOCATIONS.map(|one| (flits, one))) {
            let router = Router { vc_flits, allocation, switch_cycles, link_cycles, credit_cycles, ..ROUTER };
            let flits = 10 * u16::from(vc_flits);
            // One buffer of flits per credit loop, and at most one flit per cycle.
            let per_buffer = u64::from(vc_flits.max(loop_cycles));
            assert_eq!(arrival(router, 2 * flits) - arrival(router, flits), 10 * per_buffer, "{router:?}");
        }
    }
}

/// Sends packets of one flit from a terminal to its neighbour, all at once. Returns the cycles per packet.
fn cycles_per_packet(router: Router, vcs: u8) -> f64 {
    let (_, mut network) = network(&params(Shape::Mesh { columns: 2, rows: 1 }, router, vcs));
    (0..2000).for_each(|_| network.offer(0, 1, 0, 1, 0));
    let delivered = drain(&mut network, 1_000_000);
    assert_eq!(delivered.len(), 2000);
    (delivered[1999].at - delivered[999].at) as f64 / 1000.0
}

#[test]
fn short_packets_wait_for_their_channel_as_its_reuse_says() {
    let cycles = |allocation, reuse| cycles_per_packet(Router { allocation, reuse, ..ROUTER }, 1);
    let loop_cycles = 6.0;
    for allocation in ALLOCATIONS {
        // A packet that is allocated its channel in one cycle is sent in the next; the next router adds a cycle
        // likewise, so that it returns the channel one cycle later.
        let staged = f64::from(u8::from(allocation == Allocation::Staged));
        assert_eq!(cycles(allocation, Reuse::TailSent), 1.0 + staged, "{allocation:?}");
        assert_eq!(cycles(allocation, Reuse::Drained), loop_cycles + 2.0 * staged, "{allocation:?}");
    }
}

const SATURATED: Measure = Measure { warmup: 2000, measure: 4000, drain: 0 };

#[test]
fn hot_spots_take_a_flit_per_cycle_each() {
    for spots in [vec![27], vec![0, 63], vec![9, 14, 49, 54]] {
        let expected = spots.len() as f64 / 64.0;
        let found = report(&params(MESH, ROUTER, 4), traffic(Pattern::Hotspot(spots), 0.9, 1), SATURATED);
        assert!(found.accepted <= expected && found.accepted > 0.97 * expected, "{} of {expected}", found.accepted);
    }
}

#[test]
fn nobody_gets_more_through_than_the_fullest_channel_carries() {
    let patterns = [
        Pattern::Uniform,
        Pattern::Transpose,
        Pattern::BitComplement,
        Pattern::BitReverse,
        Pattern::Shuffle,
        Pattern::Tornado,
        Pattern::Neighbor,
    ];
    for (pattern, order) in patterns.into_iter().flat_map(|one| [Order::Xy, Order::O1Turn].map(|o| (one.clone(), o))) {
        let mut params = params(MESH, ROUTER, 4);
        params.classes[0].order = order;
        let found = report(&params, traffic(pattern.clone(), 1.0, 1), SATURATED);
        for link in &found.links {
            assert!(link.flits <= found.cycles, "{pattern:?} {order:?} {}", link.name);
        }
        let most = found.links.iter().filter_map(|link| link.expected_load).fold(0.0, f64::max);
        // Terminals that share no saturated channel get more than others, so only the least throughput is bounded.
        assert!(found.accepted_least <= 1.02 / most, "{pattern:?} {order:?}: {}", found.accepted_least);
    }
}

#[test]
fn uniform_traffic_saturates_below_the_bound_of_the_bisection() {
    let params = params(MESH, ROUTER, 4);
    let found = report(&params, traffic(Pattern::Uniform, 0.7, 1), SATURATED);
    let most = found.links.iter().filter_map(|link| link.expected_load).fold(0.0, f64::max);
    // Half of all flits cross the middle, a half of those in each direction, over 8 channels per direction.
    assert!((most - 2.0).abs() < 1e-9, "{most}");
    assert!(found.accepted * most > 0.8 && found.accepted * most <= 1.0, "{}", found.accepted);
}

#[test]
fn links_carry_what_is_expected_of_them() {
    let measure = Measure { warmup: 2000, measure: 40_000, drain: 10_000 };
    let found = report(&params(MESH, ROUTER, 4), traffic(Pattern::Uniform, 0.2, 1), measure);
    assert!(found.drained);
    assert!((found.accepted / 0.2 - 1.0).abs() < 0.01 && (found.offered / 0.2 - 1.0).abs() < 0.01);
    for link in &found.links {
        let expected = link.expected_load.expect("the traffic is a description") * 0.2 * found.cycles as f64;
        // The counts of Bernoulli trials deviate by the square root of their mean.
        assert!((link.flits as f64 - expected).abs() < 6.0 * expected.sqrt(), "{}: {}", link.name, link.flits);
    }
}

#[test]
fn the_report_says_what_packets_would_take_alone() {
    for allocation in ALLOCATIONS {
        let router = Router { allocation, ..ROUTER };
        let packets = vec![TracePacket { cycle: 3, source: 0, destination: 19, flits: 4, class: 0 }];
        let measure = Measure { warmup: 0, measure: 1000, drain: 0 };
        let found = report(&params(MESH, router, 2), hostnet_noc::Source::Trace(packets), measure);
        assert_eq!(found.latency.mean(), Some(found.zero_load_mean), "{allocation:?}");
        assert_eq!((found.links_mean, found.arrived), (5.0, 1));
    }
}

/// Returns the loads of the links of a ring of 16, without those to terminals.
fn loads_of_ring(pattern: Pattern) -> Vec<f64> {
    let (layout, network) = network(&params(Shape::Ring { nodes: 16 }, ROUTER, 2));
    let loads = channel_load(&layout, network.routes(), &pattern, 0).expect("the pattern fits");
    let between = |load: &ChannelLoad| layout.channels.iter().any(|channel| channel.from == load.output);
    loads.into_iter().filter(between).map(|load| load.load).collect()
}

/// Dally and Towles, "Principles and Practices of Interconnection Networks", section 3.2.
#[test]
fn tornado_goes_almost_half_around_a_ring_in_one_direction() {
    assert_eq!(loads_of_ring(Pattern::Tornado), [7.0; 16]);
    assert_eq!(loads_of_ring(Pattern::Neighbor), [1.0; 16]);
}

#[test]
fn both_directions_of_a_ring_carry_the_same_load() {
    // Distances 1 to 7 twice and 8 once, 64 links from each of 16 terminals to 16 others: over 32 links 2 each.
    let loads = loads_of_ring(Pattern::Uniform);
    assert!(loads.len() == 32 && loads.iter().all(|load| (load - 2.0).abs() < 1e-9), "{loads:?}");
}
