//! Tests of RoCE between endpoints, which have no host network.

use crate::lab::*;
use hostnet_model::ether::{DropReason, Fabric};
use hostnet_model::params::*;
use hostnet_model::transport::roce::RoceConnection;

const US: u64 = 1_000_000;

fn roce() -> RoceParams {
    RoceParams {
        message_bytes: 65_536,
        in_flight: 128,
        mtu_bytes: 4096,
        ack_packets: 16,
        timeout_ps: 2_000 * US,
        dcqcn: None,
    }
}

/// DCQCN parameters of Zhu et al., SIGCOMM'15.
fn dcqcn() -> DcqcnParams {
    DcqcnParams {
        gain: 256,
        notify_ps: 50 * US,
        alpha_ps: 55 * US,
        increase_ps: 55 * US,
        increase_bytes: 10_000_000,
        fast_rounds: 5,
        additive_bytes_per_s: 5_000_000,
        hyper_bytes_per_s: 50_000_000,
        least_bytes_per_s: 5_000_000,
    }
}

fn flow(from: u16, to: u16, roce: RoceParams, traffic: Traffic) -> FlowParams {
    let mtu_bytes = roce.mtu_bytes + 60;
    FlowParams { transport: Transport::Roce(roce), traffic, priority: 3, mtu_bytes, ..replay(from, to, Vec::new()) }
}

const WRITES: Traffic = Traffic::Bulk { bytes: u64::MAX };
const READS: Traffic = Traffic::Read { bytes: u64::MAX };

/// Returns the ends of a flow: the requester, then the responder.
fn ends(fabric: &Fabric, flow: u32) -> [&RoceConnection; 2] {
    let mut own: Vec<_> =
        fabric.endpoints().flat_map(|endpoint| endpoint.ends()).filter(|end| end.flow() == flow).collect();
    own.sort_by_key(|end| end.memory().expect("RoCE").latency().is_none());
    [own[0].memory().expect("RoCE"), own[1].memory().expect("RoCE")]
}

/// Returns the bytes that were placed in memory at either end.
fn placed(fabric: &Fabric, flow: u32) -> u64 {
    ends(fabric, flow).iter().map(|end| end.counters().bytes_received).sum()
}

/// Returns the goodput of each flow between two times in us, in Gbit/s.
fn goodput(cluster: &ClusterParams, from_us: u64, to_us: u64) -> Vec<f64> {
    let mut simulation = simulation(cluster);
    let read = |simulation: &_| -> Vec<u64> {
        (0..cluster.flows.len()).map(|flow| placed(world(simulation), flow as u32)).collect()
    };
    run(&mut simulation, from_us * US);
    let before = read(&simulation);
    run(&mut simulation, to_us * US);
    assert_nothing_is_lost(world(&simulation), cluster.flows.len());
    let after = read(&simulation);
    let span_us = (to_us - from_us) as f64;
    after.iter().zip(before).map(|(after, before)| (after - before) as f64 * 8e-3 / span_us).collect()
}

fn direct(gbps: u64) -> ClusterParams {
    let mut all = cluster();
    let ends = [host(&mut all), host(&mut all)];
    cable(&mut all, ends, gbps);
    all
}

#[test]
fn one_flow_fills_a_cable_of_any_rate_with_packets_of_any_size() {
    for (gbps, mtu_bytes) in [(25, 1024), (100, 4096), (100, 1024), (200, 2048), (400, 4096)] {
        for traffic in [WRITES, READS] {
            let mut all = direct(gbps);
            all.flows = vec![flow(0, 1, RoceParams { mtu_bytes, ..roce() }, traffic)];
            let expected = gbps as f64 * f64::from(mtu_bytes) / f64::from(mtu_bytes + 44 + 38);
            let found = goodput(&all, 200, 400)[0];
            assert!((found / expected - 1.0).abs() < 0.005, "{found} instead of {expected} at {gbps} Gbps");
        }
    }
}

#[test]
fn a_lone_message_takes_one_round_trip() {
    let mut all = direct(100);
    let params = RoceParams { message_bytes: 4096, in_flight: 1, ..roce() };
    all.flows = vec![flow(0, 1, params, Traffic::Bulk { bytes: 40_960 })];
    let mut simulation = simulation(&all);
    run(&mut simulation, 100 * US);
    let [asking, _] = ends(world(&simulation), 0);
    // 4096 + 44 + 38 bytes there, 48 + 38 back, at 80 ps per byte. The cable has 1 us, the endpoints have 1 ps of
    // latency.
    let expected = (4178 + 86) * 80 + 2 * US + 4;
    let latency = asking.latency().expect("it asks");
    assert_eq!((latency.count(), asking.completed()), (10, 10));
    assert!((latency.mean().expect("ten") - expected as f64).abs() < 3.0, "{latency:?} instead of {expected}");
    let completed = asking.completed_at().expect("all are complete").ps();
    assert!(completed.abs_diff(10 * expected) < 30, "{completed}");
}

#[test]
fn a_flow_begins_at_its_time_and_requests_nothing_when_stopped() {
    for traffic in [WRITES, READS] {
        let mut all = direct(100);
        all.flows = vec![FlowParams { start_ps: 50 * US, ..flow(0, 1, roce(), traffic) }];
        let mut simulation = simulation(&all);
        run(&mut simulation, 50 * US - 1);
        assert_eq!(flow_counts(world(&simulation), 1)[0].sent, 0);
        run(&mut simulation, 100 * US);
        assert!(placed(world(&simulation), 0) > 0);
        simulation.parts_mut()[0].0.stop_sources();
        run(&mut simulation, 3_000 * US);
        let sent = flow_counts(world(&simulation), 1)[0].sent;
        assert!(world(&simulation).packets().is_empty());
        run(&mut simulation, 30_000 * US);
        assert_eq!(flow_counts(world(&simulation), 1)[0].sent, sent);
    }
}

/// Creates two hosts that each write `bytes` to a third.
fn incast(gbps: u64, params: &RoceParams, bytes: u64) -> ClusterParams {
    let mut all = star(3, gbps);
    all.flows = [0, 1].map(|from| flow(from, 2, params.clone(), Traffic::Bulk { bytes })).to_vec();
    all
}

fn pauses(fabric: &Fabric) -> u64 {
    fabric.switches().flat_map(|switch| switch.ports()).map(|port| port.pauses_asked()).sum()
}

#[test]
fn pfc_loses_nothing_and_shares_the_port() {
    let mut all = incast(100, &roce(), u64::MAX);
    all.switches[0].pfc = Some(PfcParams { priorities: 1 << 3, xoff_bytes: 200_000, xon_bytes: 150_000 });
    all.switches[0].buffer_bytes = 2_000_000;
    let found = goodput(&all, 300, 1_000);
    let whole = 100.0 * 4096.0 / 4178.0;
    assert!(
        ((found[0] + found[1]) / whole - 1.0).abs() < 0.005 && (found[0] / found[1] - 1.0).abs() < 0.1,
        "{found:?}"
    );
    let mut simulation = simulation(&all);
    run(&mut simulation, 1_000 * US);
    let fabric = world(&simulation);
    assert_eq!(dropped(fabric, DropReason::Full), 0);
    assert!(pauses(fabric) > 0 && deadlock(fabric).is_empty());
    for flow in 0..2 {
        let [asking, _] = ends(fabric, flow);
        assert_eq!((asking.counters().packets_retransmitted, asking.counters().timeouts), (0, 0));
    }
}

#[test]
fn without_pfc_a_full_buffer_drops_and_senders_go_back() {
    let params = RoceParams { in_flight: 4, timeout_ps: 200 * US, ..roce() };
    let mut all = incast(100, &params, 2_000_000);
    // Packets have different sizes, so that either flow finds the buffer full now and then.
    all.flows[1] = flow(1, 2, RoceParams { mtu_bytes: 1024, ..params }, Traffic::Bulk { bytes: 2_000_000 });
    all.switches[0].buffer_bytes = 60_000;
    let mut simulation = simulation(&all);
    run(&mut simulation, 30_000 * US);
    let fabric = world(&simulation);
    assert_nothing_is_lost(fabric, 2);
    assert!(dropped(fabric, DropReason::Full) > 0 && fabric.packets().is_empty());
    let (mut again, mut out_of_order) = (0, 0);
    for flow in 0..2 {
        let [asking, answering] = ends(fabric, flow).map(|end| *end.counters());
        assert_eq!((asking.bytes_sent, answering.bytes_received), (2_000_000, 2_000_000), "every byte arrives once");
        again += asking.packets_retransmitted;
        out_of_order += answering.packets_out_of_order;
        assert!(asking.naks_received <= answering.naks_sent && asking.rewinds >= asking.naks_received);
    }
    assert!(again > 0 && out_of_order > 0, "{again} packets again, {out_of_order} out of order");
}

#[test]
fn flows_of_dcqcn_share_a_port_and_never_overflow_it() {
    let params = RoceParams { dcqcn: Some(dcqcn()), ..roce() };
    let mut all = incast(40, &params, u64::MAX);
    all.flows[1].start_ps = 2_000 * US;
    all.switches[0].buffer_bytes = 4_000_000;
    all.switches[0].pfc = Some(PfcParams { priorities: 1 << 3, xoff_bytes: 500_000, xon_bytes: 400_000 });
    all.switches[0].ecn = Some(EcnParams::Ramp { min_bytes: 5_000, max_bytes: 200_000, most: (1 << 32) / 100 });
    let found = goodput(&all, 50_000, 250_000);
    let whole = 40.0 * 4096.0 / 4178.0;
    assert!(found[0] + found[1] > 0.85 * whole, "{found:?} of {whole}");
    // The rates of two flows vary around the fair share for tens of ms; on average they meet it.
    let share = (found[0] + found[1]) / 2.0;
    assert!((found[0] / share - 1.0).abs() < 0.1, "{found:?}");
    let mut simulation = simulation(&all);
    run(&mut simulation, 30_000 * US);
    let early = pauses(world(&simulation));
    run(&mut simulation, 60_000 * US);
    let fabric = world(&simulation);
    assert_eq!(dropped(fabric, DropReason::Full), 0);
    assert_eq!(pauses(fabric), early, "once the rates have met the queue stays below the pauses");
    for flow in 0..2 {
        let [asking, answering] = ends(fabric, flow).map(|end| *end.counters());
        assert!(answering.notifications_sent > 10 && answering.packets_marked >= answering.notifications_sent);
        assert!(asking.notifications_received <= answering.notifications_sent);
        assert_eq!(asking.packets_retransmitted, 0);
    }
}
