//! Invariants of the network, checked for random networks and random traffic.

use super::{Delivery, Network, AT_TERMINAL, NOBODY};
use crate::routes::bits;
use crate::{topology, Allocation, Class, Layout, Order, Params, Reuse, Router, Shape};
use hostnet_kernel::Rng;
use proptest::prelude::*;

/// Number of cycles that suffices by far for every packet of these tests to arrive.
const LONG: u64 = 200_000;

/// Random network with its traffic.
#[derive(Clone, Debug)]
struct Case {
    params: Params,
    /// Probability that a terminal offers a packet in a cycle, in units of 1/256.
    chance: u64,
    flits_max: u16,
    cycles: u64,
    seed: u64,
}

fn shapes() -> impl Strategy<Value = Shape> {
    prop_oneof![
        (1..5_u16, 2..5_u16).prop_map(|(columns, rows)| Shape::Mesh { columns, rows }),
        (2..10_u16).prop_map(|nodes| Shape::Ring { nodes }),
    ]
}

fn routers() -> impl Strategy<Value = Router> {
    let allocations = prop_oneof![Just(Allocation::Speculative), Just(Allocation::Staged), Just(Allocation::AtSwitch)];
    let reuses = prop_oneof![Just(Reuse::TailSent), Just(Reuse::Drained)];
    let cycles = (0..4_u8, 0..4_u8, 1..6_u8);
    (1..10_u8, allocations, reuses, cycles).prop_map(|(vc_flits, allocation, reuse, cycles)| {
        let (switch_cycles, link_cycles, credit_cycles) = cycles;
        Router { vc_flits, allocation, reuse, switch_cycles, link_cycles, credit_cycles }
    })
}

fn classes(shape: Shape) -> impl Strategy<Value = Vec<Class>> {
    let ring = matches!(shape, Shape::Ring { .. });
    let orders = prop_oneof![Just(Order::Xy), Just(Order::Yx), Just(Order::O1Turn)];
    let class = (orders, 0..2_u8).prop_map(move |(order, more)| {
        let least = if ring || order == Order::O1Turn { 2 } else { 1 };
        Class { name: "class".into(), order, vcs: least + more }
    });
    proptest::collection::vec(class, 1..3)
}

fn cases() -> impl Strategy<Value = Case> {
    let traffic = (1..200_u64, 1..9_u16, 20..300_u64, any::<u64>());
    let params = shapes().prop_flat_map(|shape| (Just(shape), routers(), classes(shape)));
    (params, traffic).prop_map(|((shape, router, classes), (chance, flits_max, cycles, seed))| Case {
        params: Params { shape, router, classes },
        chance,
        flits_max,
        cycles,
        seed,
    })
}

fn build(params: &Params) -> (Layout, Network) {
    let (layout, routes) = topology::build(params).expect("it can be built");
    let network = Network::new(params.router, &layout, routes, 1);
    (layout, network)
}

/// Traffic that is determined by its seed.
struct Offers {
    case: Case,
    rng: Rng,
    terminals: u64,
    next_tag: u64,
}

impl Offers {
    fn new(case: &Case, layout: &Layout) -> Self {
        Self { case: case.clone(), rng: Rng::new(case.seed, 0), terminals: layout.terminals.len() as u64, next_tag: 0 }
    }

    fn offer(&mut self, network: &mut Network) {
        for source in 0..self.terminals as u16 {
            if self.rng.below(256) < self.case.chance {
                let destination = self.rng.below(self.terminals) as u16;
                let class = self.rng.below(self.case.params.classes.len() as u64) as u8;
                let flits = 1 + self.rng.below(u64::from(self.case.flits_max)) as u16;
                network.offer(source, destination, class, flits, self.next_tag);
                self.next_tag += 1;
            }
        }
    }
}

/// Flits and credits on the wires by target: at routers, and at terminals.
struct Wires {
    flits: [Vec<u32>; 2],
    credits: [Vec<u32>; 2],
    all_flits: u64,
}

fn wires(network: &Network, terminals: usize) -> Wires {
    let empty = || [vec![0; network.len.len()], vec![0; terminals * network.vcs]];
    let mut wires = Wires { flits: empty(), credits: empty(), all_flits: 0 };
    let index = |target: u32| (usize::from(target & AT_TERMINAL != 0), (target & !AT_TERMINAL) as usize);
    for (flits, credits) in network.wheel.slots() {
        wires.all_flits += flits.len() as u64;
        for &(target, _) in flits {
            let (side, at) = index(target);
            wires.flits[side][at] += 1;
        }
        for &target in credits {
            let (side, at) = index(target);
            wires.credits[side][at] += 1;
        }
    }
    wires
}

/// Checks conservation: every flit sent is in a buffer, on a wire or delivered, and every buffer place is free, taken,
/// or announced by a credit in flight.
fn nothing_is_lost(network: &Network, layout: &Layout) {
    let (vcs, ports) = (network.vcs, network.ports);
    let wires = wires(network, layout.terminals.len());
    let buffered: u64 = network.len.iter().map(|len| u64::from(*len)).sum();
    assert_eq!(network.counters.injected, network.counters.ejected + buffered + wires.all_flits);
    let first = |port: crate::Port| (usize::from(port.router) * ports + usize::from(port.port)) * vcs;
    let full = u32::from(network.rules.vc_flits);
    for vc in 0..vcs {
        for channel in &layout.channels {
            let (from, to) = (first(channel.from) + vc, first(channel.to) + vc);
            let held = u32::from(network.room[from]) + u32::from(network.len[to]);
            assert_eq!(held + wires.flits[0][to] + wires.credits[0][from], full, "{channel:?} {vc}");
        }
        for (number, terminal) in layout.terminals.iter().enumerate() {
            let (place, port) = (number * vcs + vc, first(terminal.at) + vc);
            let held = u32::from(network.terminals.room[place]) + u32::from(network.len[port]);
            assert_eq!(held + wires.flits[0][port] + wires.credits[1][place], full, "into terminal {number} {vc}");
            let held = u32::from(network.room[port]) + u32::from(network.terminals.withheld_credits[place]);
            assert_eq!(held + wires.flits[1][place] + wires.credits[0][port], full, "out to terminal {number} {vc}");
        }
    }
}

/// Checks that a drained network equals an unused one, except for the round-robin pointers.
fn all_is_free(network: &Network) {
    let all = bits(network.width);
    for state in &network.states {
        assert_eq!((state.waiting, state.active, state.ready, state.free, state.credit), (0, 0, 0, all, all));
    }
    assert!(network.len.iter().all(|len| *len == 0) && network.owner.iter().all(|owner| *owner == NOBODY));
    assert!(network.room.iter().chain(&network.terminals.room).all(|room| *room == network.rules.vc_flits));
    assert!(network.asking.iter().all(|asking| *asking == 0) && network.awake.iter().all(|word| *word == 0));
    assert_eq!((network.in_flight(), network.counters.injected), (0, network.counters.ejected));
}

/// Returns the zero-load latency of a packet of one flit, from the routes.
fn alone(network: &Network, layout: &Layout, packet: &super::Packet) -> u64 {
    let (mut at, end) =
        (layout.terminals[usize::from(packet.source)], layout.terminals[usize::from(packet.destination)]);
    let mut cycles = at.in_cycles + end.out_cycles;
    loop {
        cycles += network.rules.allocation_cycles();
        let port = network.routes.hop(packet.group, usize::from(at.at.router), packet.destination).port;
        let from = crate::Port { router: at.at.router, port };
        let Some(channel) = layout.channels.iter().find(|channel| channel.from == from) else { break };
        cycles += channel.cycles;
        at.at = channel.to;
    }
    u64::from(cycles) + u64::from(packet.flits - 1)
}

/// Runs a case to its end. Returns the deliveries.
fn run(case: &Case) -> Vec<Delivery> {
    let (layout, mut network) = build(&case.params);
    let mut offers = Offers::new(case, &layout);
    let mut delivered = Vec::new();
    let (mut offered_cycles, mut in_flight) = (0, 0_u64);
    while offered_cycles < case.cycles || !network.is_idle() {
        if offered_cycles < case.cycles {
            offers.offer(&mut network);
            offered_cycles += 1;
        }
        network.step(&mut delivered);
        in_flight += network.in_flight() as u64;
        if network.cycle() % 16 == 0 {
            nothing_is_lost(&network, &layout);
        }
        assert!(network.cycle() < LONG, "{} packets are stuck", network.in_flight());
    }
    nothing_is_lost(&network, &layout);
    all_is_free(&network);
    // Little's law, which is exact over a time that begins and ends with an empty network.
    let waited: u64 = delivered.iter().map(|delivery| delivery.at - delivery.packet.created).sum();
    assert_eq!(in_flight, waited);
    let mut tags: Vec<u64> = delivered.iter().map(|delivery| delivery.packet.tag).collect();
    tags.sort_unstable();
    assert!(tags.into_iter().eq(0..offers.next_tag), "every packet comes once");
    for Delivery { packet, at } in &delivered {
        assert!(packet.entered >= packet.created);
        assert!(at - packet.entered >= alone(&network, &layout, packet), "{packet:?} came early, at {at}");
    }
    delivered
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn everything_arrives_once_and_all_room_comes_back(case in cases()) {
        run(&case);
    }

    #[test]
    fn the_same_packets_take_the_same_time(case in cases()) {
        prop_assert_eq!(run(&case), run(&case));
    }

    #[test]
    fn packets_of_one_class_between_two_terminals_keep_their_order_in_one_channel(mut case in cases()) {
        case.params.shape = Shape::Mesh { columns: 4, rows: 3 };
        for class in &mut case.params.classes {
            let order = if class.order == Order::O1Turn { Order::Xy } else { class.order };
            *class = Class { order, vcs: 1, ..class.clone() };
        }
        let mut latest = std::collections::HashMap::new();
        for Delivery { packet, .. } in run(&case) {
            let before = latest.insert((packet.source, packet.destination, packet.class), packet.tag);
            prop_assert!(before.is_none_or(|tag| tag < packet.tag), "{:?} after {:?}", packet, before);
        }
    }

    #[test]
    fn a_network_that_was_stored_goes_on_as_if_it_had_not_been(case in cases(), stop in 1..200_u64) {
        let (layout, mut network) = build(&case.params);
        let mut offers = Offers::new(&case, &layout);
        let mut delivered = Vec::new();
        for _ in 0..stop {
            offers.offer(&mut network);
            network.step(&mut delivered);
        }
        let bytes = postcard::to_allocvec(&network).expect("it can be stored");
        let mut other: Network = postcard::from_bytes(&bytes).expect("it can be restored");
        prop_assert_eq!(&other, &network);
        let mut others = Offers { case: offers.case.clone(), rng: offers.rng.clone(), ..offers };
        let mut delivered_there = delivered.clone();
        for _ in 0..100 {
            offers.offer(&mut network);
            network.step(&mut delivered);
            others.offer(&mut other);
            other.step(&mut delivered_there);
        }
        prop_assert_eq!(delivered, delivered_there);
        prop_assert_eq!(other, network);
    }

    #[test]
    fn a_closed_class_keeps_its_room_and_holds_up_no_other(case in cases(), closed in 0..4_u16) {
        let mut params = case.params.clone();
        params.classes.truncate(1);
        params.classes.push(params.classes[0].clone());
        let (layout, mut network) = build(&params);
        let closed = closed % layout.terminals.len() as u16;
        let mut delivered = Vec::new();
        network.set_open(closed, 0, false);
        // More flits than all buffers hold.
        let packets = 40 * usize::from(params.router.vc_flits);
        for tag in 0..packets as u64 {
            for source in 0..layout.terminals.len() as u16 {
                network.offer(source, closed, 0, case.flits_max, tag);
                network.offer(source, closed, 1, case.flits_max, tag);
            }
        }
        let all = packets * layout.terminals.len();
        while delivered.iter().filter(|delivery: &&Delivery| delivery.packet.class == 1).count() < all {
            network.step(&mut delivered);
            prop_assert!(network.cycle() < LONG);
        }
        // At most as many flits of the closed class arrived as the buffers hold.
        let room = u64::from(params.classes[0].vcs) * u64::from(params.router.vc_flits);
        let came = network.counters.ejected - (all as u64 * u64::from(case.flits_max));
        prop_assert!((1..=room).contains(&came), "{} flits came, and there is room for {}", came, room);
        nothing_is_lost(&network, &layout);
        network.set_open(closed, 0, true);
        network.set_open(closed, 0, true);
        while !network.is_idle() {
            network.step(&mut delivered);
            prop_assert!(network.cycle() < LONG);
        }
        prop_assert_eq!(delivered.len(), 2 * all);
        all_is_free(&network);
    }
}

#[test]
fn flits_in_the_network_are_their_number_times_their_time() {
    let router = Router {
        vc_flits: 8,
        allocation: Allocation::Speculative,
        reuse: Reuse::TailSent,
        switch_cycles: 1,
        link_cycles: 1,
        credit_cycles: 3,
    };
    let classes = vec![Class { name: "packets".into(), order: Order::O1Turn, vcs: 4 }];
    let params = Params { shape: Shape::Mesh { columns: 4, rows: 4 }, router, classes };
    let case = Case { params, chance: 90, flits_max: 1, cycles: 2000, seed: 5 };
    let (layout, mut network) = build(&case.params);
    let mut offers = Offers::new(&case, &layout);
    let (mut delivered, mut inside) = (Vec::new(), 0);
    while network.cycle() < case.cycles || !network.is_idle() {
        if network.cycle() < case.cycles {
            offers.offer(&mut network);
        }
        network.step(&mut delivered);
        inside += network.counters.injected - network.counters.ejected;
    }
    assert_eq!(inside, delivered.iter().map(|delivery| delivery.at - delivery.packet.entered).sum::<u64>());
    assert!(delivered.len() > 10_000);
}
