//! Tests of switches that learn addresses.

use crate::lab::{
    assert_nothing_is_lost, cable, cluster, host, learn, replay, run, simulation, star, switch, world, LEARNING,
};
use hostnet_kernel::Simulation;
use hostnet_model::ether::{Fabric, LearningCounts, LearningSwitch};
use hostnet_model::params::{AddressLearningParams, CableEnd, ClusterParams};
use proptest::prelude::*;

const US: u64 = 1_000_000;
/// Delay from an endpoint to its switch after the last bit, in ps: the latencies of the endpoint and the cable.
const TO_SWITCH_PS: u64 = 1 + US;

/// Returns the time on a cable of 10 Gbps, in ps.
fn wire_ps(ip_bytes: u64) -> u64 {
    (ip_bytes + 38).max(84) * 800
}

fn only(simulation: &Simulation<Fabric>) -> &LearningSwitch {
    world(simulation).learning_switches().next().expect("there is one").1
}

fn counts(simulation: &Simulation<Fabric>) -> LearningCounts {
    only(simulation).counts(simulation.progress().time)
}

/// Creates hosts at a learning switch, over cables of 10 Gbps.
fn learning_star(hosts: usize, params: AddressLearningParams) -> ClusterParams {
    let mut cluster = star(hosts, 10);
    learn(&mut cluster, params);
    cluster
}

fn received(simulation: &Simulation<Fabric>, flow: usize) -> u64 {
    let ends = world(simulation).endpoints().flat_map(|endpoint| endpoint.ends());
    ends.filter(|end| end.flow() as usize == flow).map(|end| end.received_packets()).sum()
}

#[test]
fn an_idle_switch_takes_the_time_of_the_fabric_and_its_delay() {
    for (ip_bytes, gbps, delay_ps) in [(1500, 10, 0), (64, 10, 700_000), (1500, 40, 1), (9000, 1, 123_456)] {
        let params = AddressLearningParams { fabric_bytes_per_s: gbps * 125_000_000, delay_ps, ..LEARNING };
        let mut cluster = learning_star(3, params);
        cluster.flows.push(replay(0, 1, vec![(0, ip_bytes)]));
        let mut simulation = simulation(&cluster);
        // A flow begins at 1 ps.
        let fabric_ps = u64::from(ip_bytes) * 8000 / gbps;
        let law = 1 + 2 * (wire_ps(ip_bytes.into()) + TO_SWITCH_PS) + fabric_ps + delay_ps;
        run(&mut simulation, law - 1);
        assert_eq!(received(&simulation, 0), 0, "{ip_bytes} B at {gbps} Gbps");
        run(&mut simulation, law + 1);
        assert_eq!(received(&simulation, 0), 1, "{ip_bytes} B at {gbps} Gbps");
    }
}

#[test]
fn packets_for_an_unknown_address_are_flooded() {
    let mut cluster = learning_star(4, LEARNING);
    cluster.flows.push(replay(0, 1, vec![(0, 1000), (20 * US, 500)]));
    cluster.flows.push(replay(1, 0, vec![(10 * US, 64)]));
    let mut simulation = simulation(&cluster);
    run(&mut simulation, 9 * US);
    let found = counts(&simulation);
    assert_eq!((found.flooded_packets, found.flooded_bytes, found.addresses.learned), (1, 1000, 1));
    let flooded: Vec<_> = only(&simulation).crossings().iter().map(|crossing| crossing.flooded()).collect();
    assert_eq!(flooded, [(0, 0), (1, 1038), (1, 1038), (1, 1038)]);
    run(&mut simulation, 100 * US);
    assert_eq!(counts(&simulation).flooded_packets, 1, "the answer told where the stranger is");
    assert_eq!(only(&simulation).known(simulation.progress().time), 2);
    let found = assert_nothing_is_lost(world(&simulation), 2);
    assert_eq!((found[0].received, found[0].copied, found[0].dropped), (2, 2, [0, 0, 0, 0, 2]));
    assert_eq!((found[1].received, found[1].copied), (1, 0));
}

#[test]
fn an_address_is_known_until_its_ttl_expires() {
    let ttl_ps = 50 * US;
    for (later_ps, floods) in [(ttl_ps - 1, 0), (ttl_ps, 1)] {
        let mut cluster = learning_star(3, AddressLearningParams { ttl_ps, ..LEARNING });
        // Host 0 is known when host 1 sends: only later packets of host 0 may be flooded.
        cluster.flows.push(replay(1, 0, vec![(0, 64), (10 * US, 64)]));
        cluster.flows.push(replay(0, 1, vec![(5 * US, 64), (10 * US + later_ps, 64)]));
        let mut simulation = simulation(&cluster);
        run(&mut simulation, 200 * US);
        let found = counts(&simulation);
        assert_eq!(found.flooded_packets, 1 + floods, "{later_ps} ps later");
        assert_eq!(only(&simulation).known(simulation.progress().time), 0, "all are forgotten");
        assert_eq!(found.addresses.forgotten, found.addresses.learned);
    }
}

#[test]
fn a_full_table_evicts_the_longest_silent_address() {
    let mut cluster = learning_star(4, AddressLearningParams { table: 2, ..LEARNING });
    for (from, at_us) in [(0, 0), (1, 10), (2, 20)] {
        cluster.flows.push(replay(from, 3, vec![(at_us * US, 64)]));
    }
    cluster.flows.push(replay(3, 0, vec![(30 * US, 64)]));
    cluster.flows.push(replay(3, 2, vec![(40 * US, 64)]));
    let mut simulation = simulation(&cluster);
    run(&mut simulation, 100 * US);
    let found = counts(&simulation);
    assert_eq!((found.addresses.learned, found.addresses.displaced), (4, 2));
    // Three packets are for host 3, which was unknown, and one is for host 0, which had been forgotten.
    assert_eq!((found.flooded_packets, only(&simulation).known(simulation.progress().time)), (4, 2));
}

/// Creates hosts at one switch, whose ports are in the order of `ports`.
fn cabled(ports: &[usize], params: AddressLearningParams) -> ClusterParams {
    let mut cluster = cluster();
    let middle = switch(&mut cluster);
    let hosts: Vec<CableEnd> = ports.iter().map(|_| host(&mut cluster)).collect();
    for &port in ports {
        cable(&mut cluster, [hosts[port], middle], 10);
    }
    learn(&mut cluster, params);
    cluster
}

/// Returns the packets that arrived at a host, in order: their senders and their bytes.
fn arrivals_at(cluster: &ClusterParams, number: usize, until_ps: u64) -> Vec<(u16, u32)> {
    let mut simulation = simulation(cluster);
    let part = world(&simulation).endpoint_component(number).expect("it is there");
    simulation.parts_mut()[0].0.packets_mut().record(part);
    run(&mut simulation, until_ps);
    let parts = simulation.parts_mut();
    let packets = parts[0].0.packets_mut().take_recorded();
    packets.into_iter().map(|(_, packet)| (packet.from, packet.ip_bytes)).collect()
}

#[test]
fn simultaneous_packets_are_forwarded_in_port_order() {
    for ports in [[0, 1, 2, 3], [2, 1, 0, 3], [1, 3, 2, 0]] {
        let mut cluster = cabled(&ports, AddressLearningParams { jitter_ps: 5 * US, ..LEARNING });
        for from in 0..3 {
            cluster.flows.push(replay(from, 3, vec![(0, 500)]));
        }
        let order: Vec<(u16, u32)> = ports.iter().filter(|&&port| port != 3).map(|&port| (port as u16, 500)).collect();
        assert_eq!(arrivals_at(&cluster, 3, 100 * US), order, "{ports:?}");
    }
}

#[test]
fn simultaneous_senders_are_learned_in_port_order() {
    for ports in [[0, 1, 2], [1, 0, 2]] {
        let mut cluster = cabled(&ports, LEARNING);
        cluster.flows.push(replay(0, 1, vec![(0, 500)]));
        cluster.flows.push(replay(1, 0, vec![(0, 500)]));
        let mut simulation = simulation(&cluster);
        run(&mut simulation, 100 * US);
        let found = assert_nothing_is_lost(world(&simulation), 2);
        // Only the first packet had an unknown destination.
        assert_eq!((found[ports[0]].copied, found[ports[1]].copied), (1, 0), "{ports:?}");
    }
}

#[test]
fn packets_between_two_hosts_stay_in_order() {
    let mut cluster = learning_star(3, AddressLearningParams { jitter_ps: 20 * US, ..LEARNING });
    let packets: Vec<(u64, u32)> = (0..200).map(|number| (number * US / 3, 64 + number as u32)).collect();
    cluster.flows.push(replay(0, 1, packets.clone()));
    cluster.flows.push(replay(2, 1, packets.clone()));
    let came = arrivals_at(&cluster, 1, 1000 * US);
    let expected: Vec<u32> = packets.into_iter().map(|packet| packet.1).collect();
    for from in [0, 2] {
        let own: Vec<u32> = came.iter().filter(|packet| packet.0 == from).map(|packet| packet.1).collect();
        assert_eq!(own, expected, "from {from}");
    }
    assert_ne!(came.iter().filter(|packet| packet.0 == 0).count(), 0);
}

#[test]
fn a_slow_fabric_limits_a_port() {
    let mut cluster = learning_star(3, AddressLearningParams { fabric_bytes_per_s: 125_000_000, ..LEARNING });
    let packets = |number: u64| (0..number).map(|_| (0, 1000)).collect::<Vec<_>>();
    cluster.flows.push(replay(0, 2, packets(50)));
    cluster.flows.push(replay(1, 2, packets(50)));
    let mut simulation = simulation(&cluster);
    let first = 1 + wire_ps(1000) + TO_SWITCH_PS;
    let last = first + 100 * 8 * US + wire_ps(1000) + TO_SWITCH_PS;
    run(&mut simulation, last - 1);
    assert_eq!(received(&simulation, 0) + received(&simulation, 1), 99);
    run(&mut simulation, last + 1);
    assert_eq!(received(&simulation, 0) + received(&simulation, 1), 100);
}

#[test]
fn the_newest_packet_is_dropped_if_there_is_no_room() {
    let mut cluster = learning_star(3, AddressLearningParams { fabric_bytes_per_s: 125_000_000, ..LEARNING });
    cluster.switches[0].buffer_bytes = 5000;
    cluster.flows.push(replay(2, 0, vec![(0, 64)]));
    cluster.flows.push(replay(0, 2, (0..20).map(|number| (20 * US, 1000 + number)).collect()));
    let came = arrivals_at(&cluster, 2, 1000 * US);
    let sizes: Vec<u32> = came.into_iter().map(|packet| packet.1).collect();
    assert_eq!(sizes[..5], [64, 1000, 1001, 1002, 1003]);
    // Ten packets arrived while the first one was in the fabric.
    assert_eq!(sizes[5], 1010);
}

/// Generates a tree of switches: the parent of each switch, and the switch of each host.
fn tree() -> impl Strategy<Value = (Vec<usize>, Vec<usize>)> {
    let parents = prop::collection::vec(any::<prop::sample::Index>(), 1..6);
    (parents, prop::collection::vec(any::<prop::sample::Index>(), 2..7)).prop_map(|(parents, hosts)| {
        let switches = parents.len();
        let parents = parents.iter().enumerate().map(|(at, index)| if at == 0 { 0 } else { index.index(at) });
        (parents.collect(), hosts.iter().map(|index| index.index(switches)).collect())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn packets_and_copies_are_accounted_for_in_every_tree(
        (parents, hosts) in tree(),
        flows in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 1_u64..30), 1..8),
        table in 1_u32..8,
        ttl_us in 1_u64..80,
        jitter_ps in prop::sample::select(vec![0, 3 * US]),
        buffer_bytes in 2000_u64..30_000,
        corrupt in 0_u64..1 << 30,
        until_us in 1_u64..300,
    ) {
        let mut cluster = cluster();
        let switches: Vec<CableEnd> = parents.iter().map(|_| switch(&mut cluster)).collect();
        for (at, &parent) in parents.iter().enumerate().skip(1) {
            cable(&mut cluster, [switches[at], switches[parent]], 5).corrupt = corrupt;
        }
        for &at in &hosts {
            let end = host(&mut cluster);
            cable(&mut cluster, [end, switches[at]], 10).down_ps = vec![(50 * US, 60 * US)];
        }
        cluster.switches.iter_mut().for_each(|switch| switch.buffer_bytes = buffer_bytes);
        learn(&mut cluster, AddressLearningParams { table, ttl_ps: ttl_us * US, jitter_ps, ..LEARNING });
        for (from, to, every) in &flows {
            let (from, to) = (from.index(hosts.len()), to.index(hosts.len()));
            let packets = (0..20).map(|number| (number * every * US, 1000)).collect();
            if from != to {
                cluster.flows.push(replay(from as u16, to as u16, packets));
            }
        }
        let mut simulation = simulation(&cluster);
        run(&mut simulation, until_us * US);
        assert_nothing_is_lost(world(&simulation), cluster.flows.len());
        run(&mut simulation, 5000 * US);
        let found = assert_nothing_is_lost(world(&simulation), cluster.flows.len());
        prop_assert!(world(&simulation).packets().is_empty(), "{:?}", found);
        for switch in world(&simulation).switches() {
            prop_assert_eq!(switch.used_bytes(), 0);
        }
    }
}
