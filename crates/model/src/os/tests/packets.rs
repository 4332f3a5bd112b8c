//! Tests of packets at a core: joining, marks, order, conservation.

use super::rig::*;
use crate::line::Ecn;
use crate::met::ReachedLimits;
use crate::os::gro::Gro;
use crate::params::{StackParams, Traffic};
use crate::part::Payload;
use crate::transport::tcp::Segment;
use proptest::prelude::*;

fn bulk_to_core() -> Run {
    rig(net_core(stack(), vec![socket(0, Traffic::Bulk { bytes: u64::MAX }, false)]), vec![None])
}

fn segments_of(gro: &mut Gro) -> Vec<(u64, u32, u32)> {
    gro.flush();
    std::iter::from_fn(|| gro.next())
        .map(|joined| (joined.segment.sequence, joined.segment.bytes, joined.packets))
        .collect()
}

#[test]
fn packets_are_joined_up_to_the_limit_and_not_beyond() {
    let mut gro = Gro::new(3000);
    (0..4).for_each(|index| gro.add(0, data(index * 1000, 1000), &mut ReachedLimits::default()));
    let first = gro.next().map(|joined| joined.segment.bytes);
    assert_eq!(first, Some(3000), "the limit is reached exactly: ready before the poll ends");
    assert_eq!(segments_of(&mut gro), [(3000, 1000, 1)]);
    let mut gro = Gro::new(2999);
    (0..3).for_each(|index| gro.add(0, data(index * 1000, 1000), &mut ReachedLimits::default()));
    assert_eq!(segments_of(&mut gro), [(0, 2000, 2), (2000, 1000, 1)]);
    let mut gro = Gro::new(0);
    (0..2).for_each(|index| gro.add(0, data(index * 1000, 1000), &mut ReachedLimits::default()));
    assert_eq!(segments_of(&mut gro), [(0, 1000, 1), (1000, 1000, 1)]);
}

#[test]
fn a_gap_another_mark_and_an_acknowledgement_end_a_joined_segment() {
    let mut gro = Gro::new(65_536);
    let marked = Segment { marked: true, ..data(2000, 1000) };
    for segment in [data(0, 1000), data(1000, 1000), marked, data(4000, 1000), data(5000, 0), data(5000, 1000)] {
        gro.add(0, segment, &mut ReachedLimits::default());
    }
    let expected = [(0, 2000, 2), (2000, 1000, 1), (4000, 1000, 1), (5000, 0, 1), (5000, 1000, 1)];
    assert_eq!(segments_of(&mut gro), expected);
}

#[test]
fn flows_are_joined_separately() {
    let mut gro = Gro::new(65_536);
    for index in 0..3 {
        gro.add(0, data(index * 1000, 1000), &mut ReachedLimits::default());
        gro.add(1, data(index * 500, 500), &mut ReachedLimits::default());
    }
    assert_eq!(segments_of(&mut gro), [(0, 3000, 3), (0, 1500, 3)]);
}

#[test]
fn the_host_marks_exactly_the_data_packets_received_while_marking_is_on() {
    let mut run = bulk_to_core();
    let batch = |start: u64, ecn| (0..4).map(|index| (data(start + index * 1000, 1000), ecn)).collect::<Vec<_>>();
    inject_packets(&mut run, 10 * US, &batch(0, Ecn::Capable));
    inject(&mut run, 20 * US, Payload::Echo { on: true, outgoing: false });
    inject_packets(&mut run, 30 * US, &batch(4000, Ecn::Capable));
    inject_packets(&mut run, 40 * US, &batch(8000, Ecn::Marked));
    inject_packets(&mut run, 50 * US, &batch(12_000, Ecn::NotCapable));
    inject(&mut run, 60 * US, Payload::Echo { on: false, outgoing: false });
    inject_packets(&mut run, 70 * US, &batch(16_000, Ecn::Capable));
    run_us(&mut run, 1000);
    let core = &world(&mut run).core;
    let counts = core.ends.sockets[0].counts;
    assert_eq!((counts.marked_by_host, counts.marked, counts.packets), (4, 4, 20));
    assert_eq!(core.ends.sockets[0].connection.counters().segments_marked, 2, "two of five joined segments");
}

#[test]
fn a_sending_host_marks_exactly_the_data_sent_while_marking_is_on() {
    let mut run = flows(stack(), vec![socket(0, Traffic::Bulk { bytes: u64::MAX }, true)]);
    world(&mut run).far.keep_sent = true;
    let echo = |on| Payload::Echo { on, outgoing: true };
    inject(&mut run, 200 * US, echo(true));
    inject_packets(&mut run, 250 * US, &[(data(0, 1000), Ecn::Capable)]);
    inject(&mut run, 300 * US, echo(false));
    run_us(&mut run, 600);
    let Rig { core, far, .. } = world(&mut run);
    let marked = |from: u64, to: u64| {
        let within = far.sent.iter().filter(move |(time, _)| (from * US..to * US).contains(&time.ps()));
        within.partition::<Vec<_>, _>(|(_, segment)| segment.marked && segment.bytes > 0)
    };
    assert!(marked(0, 200).0.is_empty() && marked(301, 600).0.is_empty());
    let (during, others) = marked(201, 300);
    assert!(!during.is_empty() && others.iter().all(|(_, segment)| segment.bytes == 0), "all data, and nothing else");
    let packets: u32 = far.sent.iter().filter(|sent| sent.1.marked).map(|sent| sent.1.bytes.div_ceil(MSS)).sum();
    let counts = core.ends.sockets[0].counts;
    assert_eq!((counts.marked_by_host, counts.marked), (u64::from(packets), 0), "what comes in is not marked");
    assert!(core.ends.sockets[0].connection.counters().reductions > 0);
}

#[test]
fn packets_of_no_connection_are_discarded_and_counted() {
    let mut run = bulk_to_core();
    let id = world(&mut run).packets.insert(packet(7, data(0, 1000), Ecn::Capable, 0));
    inject(&mut run, US, Payload::Received(id));
    inject(&mut run, US, Payload::Interrupt { queue: 0 });
    run_us(&mut run, 100);
    let rig = world(&mut run);
    assert_eq!((rig.core.counts().strangers, rig.core.counts().packets, rig.far.replenished), (1, 1, 1));
    assert!(rig.packets.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_byte_arrives_once_and_every_packet_is_accounted_for(
        sizes in prop::collection::vec(1_u64..400_000, 1..4),
        lose in prop::sample::select(vec![0_u64, 7, 23]),
        budget in 1_u32..80,
        gro_bytes in prop::sample::select(vec![0_u32, 9000, 65_536]),
        poll: bool,
        cached_user: bool,
    ) {
        let stack = StackParams { budget, gro_bytes, poll, cached_user, extra_lines: 1 << 16, ..stack() };
        let sockets: Vec<_> = (0..).zip(&sizes).map(|(flow, &bytes)| {
            socket(flow, Traffic::Bulk { bytes }, flow % 2 == 1)
        }).collect();
        let mut run = flows(stack, sockets);
        world(&mut run).far.lose = lose;
        run_us(&mut run, 20_000_000);
        let rig = world(&mut run);
        for (index, &bytes) in sizes.iter().enumerate() {
            let socket = &rig.core.ends.sockets[index];
            let far = rig.far.peers[index].as_ref().expect("a flow has two ends");
            let received = if index % 2 == 1 { far.application.received_bytes() } else { socket.counts.read_bytes };
            prop_assert_eq!(received, bytes);
            prop_assert_eq!(socket.counts.packets, socket.counts.delivered);
            prop_assert_eq!(socket.counts.packets, socket.counts.segments + socket.counts.joined);
            prop_assert_eq!(socket.in_nic, 0);
        }
        prop_assert_eq!(rig.core.counts().packets, rig.far.delivered);
        prop_assert_eq!(rig.far.replenished, rig.far.delivered);
        prop_assert_eq!(rig.core.waiting(), 0);
        prop_assert!(rig.packets.is_empty() && rig.requests.is_empty());
        prop_assert_eq!(rig.lfb.held.in_use(), 0);
    }
}
