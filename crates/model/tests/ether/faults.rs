//! Tests of pauses, deadlocks, cables that fail and cables that corrupt packets.

use crate::lab::*;
use hostnet_model::ether::DropReason;
use hostnet_model::params::{CableEnd, CableParams, ClusterParams, FlowParams, PfcParams};

const PFC: PfcParams = PfcParams { priorities: 1, xoff_bytes: 20_000, xon_bytes: 10_000 };

#[test]
fn a_lossless_priority_loses_nothing_when_there_is_headroom() {
    for lossless in [true, false] {
        let mut all = star(3, 10);
        all.flows = (0..2).map(|from| replay(from, 2, vec![(0, 1462); 1000])).collect();
        all.switches[0].buffer_bytes = 60_000;
        all.switches[0].pfc = lossless.then_some(PFC);
        let mut simulation = simulation(&all);
        run(&mut simulation, 1_000_000_000);
        assert_eq!(deadlock(world(&simulation)), []);
        run(&mut simulation, 100_000_000_000);
        let fabric = world(&simulation);
        let flow_counts = assert_nothing_is_lost(fabric, 2);
        assert_eq!(dropped(fabric, DropReason::Full) == 0, lossless);
        assert_eq!(flow_counts.iter().all(|flow_counts| flow_counts.received == 1000), lossless);
        let switch = fabric.switches().next().expect("a switch");
        assert_eq!(switch.ports()[0].pauses_asked() > 0, lossless);
        assert!((0..3).all(|port| switch.ports()[port].held_bytes(0) == 0 && !switch.ports()[port].requests_pause(0)));
        let sender = &fabric.endpoints().next().expect("a host").ports()[0];
        assert_eq!(sender.paused_ps(0, hostnet_kernel::Time::from_ps(100_000_000_000)) > 0, lossless);
    }
}

#[test]
fn headroom_holds_the_data_between_a_queue_and_the_wire() {
    // Two hosts behind a slow switch fill a port of another switch. Packets that have left a queue cannot be held
    // back.
    let mut all = cluster();
    let (near, far) = (switch(&mut all), switch(&mut all));
    let senders = [host(&mut all), host(&mut all)];
    let receiver = host(&mut all);
    for sender in senders {
        cable(&mut all, [sender, near], 40).latency_ps = 1000;
    }
    cable(&mut all, [near, far], 40).latency_ps = 1000;
    let last = cable(&mut all, [far, receiver], 10).clone();
    all.flows = (0..2).map(|from| replay(from, 2, vec![(0, 1462); 2000])).collect();
    all.switches[0].latency_ps = 5_000_000;
    for switch in &mut all.switches {
        switch.pfc = Some(PFC);
    }
    let headroom = |cable: &CableParams, before_ps| {
        hostnet_model::ether::headroom_bytes(cable.bytes_per_s, cable.latency_ps, before_ps, 1500)
    };
    let between = headroom(&all.cables[2], all.switches[0].latency_ps);
    assert_eq!(between - headroom(&last, 0), 25_000 + 10 - 2500);
    all.switches[1].buffer_bytes = PFC.xoff_bytes + between;
    let mut simulation = simulation(&all);
    run(&mut simulation, 100_000_000_000);
    let fabric = world(&simulation);
    assert_eq!(dropped(fabric, DropReason::Full), 0);
    assert!(fabric.switches().nth(1).expect("a switch").used_bytes_max() > PFC.xoff_bytes + between / 2);
}

/// Creates three switches in a ring, with a host at each. Flows go around the ring, `step` switches each.
fn ring(step: u16) -> ClusterParams {
    let mut all = cluster();
    let switches: Vec<CableEnd> = (0..3).map(|_| switch(&mut all)).collect();
    for &middle in &switches {
        let end = host(&mut all);
        cable(&mut all, [end, middle], 40);
    }
    for index in 0..3 {
        cable(&mut all, [switches[index], switches[(index + 1) % 3]], 10);
    }
    for switch in &mut all.switches {
        switch.pfc = Some(PFC);
    }
    let flow = |from: u16| FlowParams {
        via: (0..=step).map(|passed| (from + passed) % 3).collect(),
        ..replay(from, (from + step) % 3, vec![(0, 1462); 2000])
    };
    all.flows = (0..3).map(flow).collect();
    all
}

#[test]
fn flows_around_a_ring_deadlock() {
    let mut simulation = simulation(&ring(2));
    run(&mut simulation, 100_000_000_000);
    let fabric = world(&simulation);
    assert!(assert_nothing_is_lost(fabric, 3).iter().all(|flow_counts| flow_counts.received < 2000));
    let cycle = deadlock(fabric);
    let mut switches: Vec<u16> = cycle.iter().map(|port| port.switch).collect();
    switches.sort_unstable();
    assert_eq!(switches, [0, 1, 2], "{cycle:?}");
    for (index, port) in cycle.iter().enumerate() {
        let next = cycle[(index + 1) % cycle.len()];
        assert_eq!((port.switch + 1) % 3, next.switch, "each waits for the next: {cycle:?}");
    }
}

#[test]
fn a_ring_without_a_cycle_of_flows_drains() {
    let mut simulation = simulation(&ring(1));
    run(&mut simulation, 100_000_000_000);
    assert!(assert_nothing_is_lost(world(&simulation), 3).iter().all(|flow_counts| flow_counts.received == 2000));
    assert_eq!(deadlock(world(&simulation)), []);
}

#[test]
fn a_cable_that_was_down_loses_what_was_sent_onto_it() {
    let mut all = star(2, 10);
    all.cables[0].down_ps = vec![(50_000_000, 100_000_000)];
    all.flows = vec![replay(0, 1, (0..100).map(|index| (index * 2_000_000, 1462)).collect())];
    let mut simulation = simulation(&all);
    run(&mut simulation, 1_000_000_000);
    let fabric = world(&simulation);
    let flow_counts = assert_nothing_is_lost(fabric, 1)[0];
    // One packet is sent every 2 us, and takes 2.2 us from its first bit to its last bit at the other end. Those that
    // begin from 47.8 us to 100 us are lost.
    assert_eq!(dropped(fabric, DropReason::LinkDown), 26);
    assert_eq!(flow_counts.received, 74);
}

#[test]
fn corruption_is_detected_by_the_next_node() {
    let mut all = star(2, 10);
    all.cables[0].corrupt = 1 << 31;
    all.cables[1].corrupt = 1 << 31;
    all.flows = vec![replay(0, 1, vec![(0, 1462); 900])];
    let mut simulation = simulation(&all);
    run(&mut simulation, 10_000_000_000);
    let fabric = world(&simulation);
    let at_switch = fabric.switches().next().map(|switch| switch.drops().packets(DropReason::Corrupt)).unwrap_or(0);
    let all_of_them = dropped(fabric, DropReason::Corrupt);
    assert!((400..500).contains(&at_switch) && (625..725).contains(&all_of_them), "{at_switch}, {all_of_them}");
    assert_eq!(assert_nothing_is_lost(fabric, 1)[0].received, 900 - all_of_them);
}
