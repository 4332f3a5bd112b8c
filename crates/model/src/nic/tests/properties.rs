//! Properties of the NIC that hold for any traffic.

use super::world::{arrive, bench_with, data, drain, flows, host, params, pcie, run, transmit, Bench, Host};
use crate::line::{memory_of, Content, Packet, Pages};
use crate::params::{NicFunctionParams, NicParams, PcieParams, PfcParams};
use crate::transport::tcp::Segment;
use proptest::prelude::*;

#[derive(Clone, Debug)]
struct Case {
    params: NicParams,
    host: Host,
    /// Arrivals: gap in ps, flow, bytes of the IP packet, and true if damaged.
    arrivals: Vec<(u64, u32, u32, bool)>,
    /// Segments: gap in ps, flow, bytes of data, and index of the memory that holds them.
    segments: Vec<(u64, u32, u32, usize)>,
    seed: u64,
}

fn cases() -> impl Strategy<Value = Case> {
    let nic = (4_u32..64, 8_u32..64, 1_u32..20, 9_000_u64..60_000, any::<bool>(), 1_u32..5, 0_u64..5_000_000);
    let host = (1_u64..3_000_000, 1_u64..2_000_000, 1_u64..4_000_000, any::<bool>());
    let arrivals = prop::collection::vec((0_u64..400_000, 0_u32..4, 40_u32..8178, prop::bool::weighted(0.02)), 0..120);
    let segments = prop::collection::vec((0_u64..2_000_000, 0_u32..4, 1_u32..65_000, 0_usize..3), 0..20);
    (nic, host, arrivals, segments, any::<u64>(), any::<[bool; 3]>()).prop_map(
        |(nic, host, arrivals, segments, seed, [pfc, octo, scatter])| {
            let second = NicFunctionParams { socket: 1, pcie: pcie() };
            let (posted, nonposted, ring, buffer, lro, packets, wait) = nic;
            let pfc = pfc.then_some(PfcParams { priorities: 1, xoff_bytes: buffer / 2, xon_bytes: buffer / 4 });
            Case {
                params: NicParams {
                    pcie: PcieParams { posted_lines: posted, nonposted_lines: nonposted, ..pcie() },
                    functions: octo.then_some(second).into_iter().collect(),
                    scatter,
                    ring_entries: ring,
                    buffer_bytes: buffer,
                    lro,
                    coalesce_packets: packets,
                    coalesce_ps: wait,
                    pfc,
                    ..params()
                },
                host: Host {
                    credit_ps: (host.0, host.0),
                    data_ps: (host.1, host.1),
                    replenish_ps: Some((host.2, host.2)),
                    arm: host.3,
                },
                arrivals,
                segments,
                seed,
            }
        },
    )
}

fn start(case: &Case) -> Bench {
    let mut bench = bench_with(case.params.clone(), case.host.clone(), flows(), case.seed);
    let mut sequences = [0_u64; 4];
    let mut at = 1;
    for &(gap, flow, ip_bytes, corrupt) in &case.arrivals {
        at += gap;
        let bytes = ip_bytes.saturating_sub(52);
        let segment = Segment { sequence: sequences[flow as usize], bytes, ..Segment::default() };
        sequences[flow as usize] += u64::from(bytes);
        arrive(&mut bench, at, Packet { corrupt, content: Content::Tcp(segment), ..data(flow, ip_bytes) });
    }
    let mut at = 1;
    let places = [0, memory_of(1), Pages::shared() + (1 << 20)];
    let mut sequences = [0_u64; 4];
    for &(gap, flow, bytes, place) in &case.segments {
        at += gap;
        let segment = Segment { sequence: sequences[flow as usize], bytes, ..Segment::default() };
        sequences[flow as usize] += u64::from(bytes);
        let line = places[place] / 64 + (1 << 14);
        transmit(&mut bench, at, Packet { content: Content::Tcp(segment), line, ..data(flow, 0) });
    }
    bench
}

/// Serializes the full state of a bench.
fn seen(bench: &Bench) -> String {
    serde_json::to_string(bench).expect("a world can be written down")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_packet_is_lost_uncounted_and_none_is_stuck(
        case in cases(),
        moments in prop::collection::vec(0_u64..60_000_000, 3)
    ) {
        let mut bench = start(&case);
        let mut moments = moments;
        moments.sort_unstable();
        for moment in moments {
            let world = run(&mut bench, moment);
            prop_assert!(world.nic.counters().buffer.value() <= case.params.buffer_bytes);
            prop_assert!(world.nic.send_window_used() <= case.params.send_window_bytes);
            let inside: u64 = world.nic.flows().iter().map(|flow| flow.inside()).sum();
            prop_assert!(inside <= world.packets.len() as u64);
        }
        let world = drain(&mut bench);
        for flow in 0..4 {
            let arrived = case.arrivals.iter().filter(|arrival| arrival.1 == flow);
            let counters = world.flow(flow);
            prop_assert_eq!(counters.received.packets, arrived.clone().count() as u64);
            prop_assert_eq!(counters.received.bytes, arrived.map(|arrival| u64::from(arrival.2)).sum::<u64>());
            prop_assert_eq!(counters.inside(), 0);
            let gone = counters.delivered.bytes + counters.joined.bytes + counters.dropped_in_all().bytes;
            prop_assert_eq!(counters.received.bytes, gone);
            let delivered = world.received.iter().filter(|received| received.2.flow == flow).count() as u64;
            prop_assert_eq!(counters.delivered.packets, delivered);
            let segments = case.segments.iter().filter(|segment| segment.1 == flow);
            let asked: u64 = segments.map(|segment| u64::from(segment.2)).sum();
            let told: u64 = world.told.iter().filter(|told| told.1 == flow).map(|told| u64::from(told.2)).sum();
            let sent = counters.sent.bytes - 52 * counters.sent.packets;
            prop_assert_eq!((asked, asked), (told, sent));
        }
        prop_assert_eq!(world.packets.len(), 0);
        prop_assert_eq!(world.nic.counters().buffer.value(), 0);
        for function in 0..=case.params.functions.len() {
            let in_use = (world.nic.posted(function).in_use(), world.nic.nonposted(function).in_use());
            prop_assert_eq!(in_use, (0, 0));
        }
        prop_assert_eq!((world.nic.segments(), world.nic.send_window_used()), (0, 0));
        for queue in 0..2 {
            prop_assert_eq!(world.nic.descriptors(queue), case.params.ring_entries);
        }
        let pauses: i64 = world.pauses.iter().map(|pause| if pause.2 { 1 } else { -1 }).sum();
        prop_assert_eq!(pauses, 0, "every pause ends");
    }

    #[test]
    fn packets_of_a_flow_stay_in_order(case in cases()) {
        let mut bench = start(&case);
        let world = drain(&mut bench);
        let mut last = [0_u64; 4];
        for (_, core, packet) in &world.received {
            let Content::Tcp(segment) = packet.content else { unreachable!("only TCP was sent") };
            prop_assert!(segment.sequence >= last[packet.flow as usize]);
            last[packet.flow as usize] = segment.sequence + u64::from(segment.bytes);
            prop_assert_eq!(*core, packet.flow % 2);
        }
        let mut last = [0_u64; 4];
        for (_, packet) in &world.sent {
            let Content::Tcp(segment) = packet.content else { unreachable!("only TCP was sent") };
            let last = &mut last[packet.flow as usize];
            prop_assert_eq!(segment.sequence, *last);
            *last += u64::from(segment.bytes);
        }
    }

    #[test]
    fn a_run_that_is_written_down_and_read_again_goes_on_alike(case in cases(), moment in 0_u64..40_000_000) {
        let mut one = start(&case);
        let mut other = start(&case);
        run(&mut one, moment);
        run(&mut other, moment);
        let mut other: Bench = serde_json::from_str(&seen(&other)).expect("it can be read");
        drain(&mut one);
        drain(&mut other);
        prop_assert_eq!(seen(&one), seen(&other));
    }
}

#[test]
fn interrupts_are_never_more_than_packets() {
    let case = Case {
        params: params(),
        host: host(),
        arrivals: (0..300).map(|number| (20_000 + number * 997 % 90_000, 0, 1500, false)).collect(),
        segments: Vec::new(),
        seed: 5,
    };
    let mut bench = start(&case);
    let world = drain(&mut bench);
    assert_eq!(world.received.len(), 300);
    assert!(!world.interrupts.is_empty() && world.interrupts.len() <= 300);
    assert_eq!(world.nic.counters().interrupts, world.interrupts.len() as u64);
}
