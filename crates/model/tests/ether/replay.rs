//! Tests of replayed packets through ports and switches.

use crate::lab::*;
use hostnet_model::ether::DropReason;
use hostnet_model::params::EcnParams;

/// Time of a packet of 1462 bytes (1500 on the wire) at 10 Gbps.
const PACKET_PS: u64 = 1_200_000;

#[test]
fn an_idle_path_takes_the_time_of_its_cables() {
    let mut cluster = star(2, 10);
    cluster.switches[0].latency_ps = 300;
    cluster.flows = vec![replay(0, 1, vec![(5_000, 1462)])];
    // Two cables with serialization and propagation each, the switch, and both endpoints.
    let arrival = 5_000 + 2 * (PACKET_PS + 1_000_000) + 300 + 2;
    let mut simulation = simulation(&cluster);
    run(&mut simulation, arrival - 1);
    assert_eq!(assert_nothing_is_lost(world(&simulation), 1)[0].received, 0);
    run(&mut simulation, arrival);
    assert_eq!(assert_nothing_is_lost(world(&simulation), 1)[0].received, 1);
    assert_eq!(simulation.progress().events, 2 + 2, "one event per hop, two for its beginning and its time");
}

#[test]
fn two_senders_share_a_port_and_fill_its_queue() {
    let mut cluster = star(3, 10);
    let train = |from| replay(from, 2, vec![(0, 1462); 100]);
    cluster.flows = vec![train(0), train(1)];
    cluster.switches[0].ecn = Some(EcnParams::Packets(40));
    let mut simulation = simulation(&cluster);
    run(&mut simulation, 1_000_000_000);
    let fabric = world(&simulation);
    assert!(assert_nothing_is_lost(fabric, 2).iter().all(|flow_counts| flow_counts.received == 100));
    let port = &fabric.switches().next().expect("a switch").ports()[2];
    // Two packets arrive while one leaves: when all have arrived, half of them have left.
    assert_eq!(port.egress().queue_packets().max(), 100);
    assert_eq!(port.marked_packets(), 0, "they are not capable");
    assert_eq!(port.egress().sent_packets(), 200);
}

#[test]
fn a_full_buffer_drops_and_counts() {
    let mut cluster = star(3, 10);
    let train = |from| replay(from, 2, vec![(0, 1462); 100]);
    cluster.flows = vec![train(0), train(1)];
    cluster.switches[0].buffer_bytes = 20 * 1462;
    let mut simulation = simulation(&cluster);
    run(&mut simulation, 1_000_000_000);
    let fabric = world(&simulation);
    assert_nothing_is_lost(fabric, 2);
    assert_eq!(dropped(fabric, DropReason::Full), 80);
    let switch = fabric.switches().next().expect("a switch");
    assert_eq!((switch.used_bytes(), switch.used_bytes_max()), (0, 20 * 1462));
}
