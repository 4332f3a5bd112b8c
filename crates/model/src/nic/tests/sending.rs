//! Tests of the send side, from cores to the cable.

use super::world::{bench, data, drain, host, params, run, tell, transmit, Host, HEADERS};
use crate::line::{Content, Packet};
use crate::params::{NicParams, PcieParams};
use crate::part::Payload;
use crate::transport::tcp::{SackBlock, Segment};
use hostnet_kernel::Time;

fn segment(flow: u32, sequence: u64, bytes: u32) -> Packet {
    let sack = [SackBlock { start: 70, end: 80 }, SackBlock::default(), SackBlock::default()];
    let segment = Segment { sequence, bytes, ack: 5, window: 6, sack, reduced: true, echo: true, ..Segment::default() };
    Packet { content: Content::Tcp(segment), line: 1 << 16, ..data(flow, 0) }
}

fn headers(packet: &Packet) -> Segment {
    match packet.content {
        Content::Tcp(segment) => segment,
        _ => unreachable!("only TCP was sent"),
    }
}

#[test]
fn a_segment_is_cut_into_packets_with_headers_of_their_own() {
    let mut bench = bench(params(), host());
    transmit(&mut bench, 1, segment(1, 1000, 9000));
    let world = drain(&mut bench);
    let cut: Vec<(u64, u32, u32, bool)> = world
        .sent
        .iter()
        .map(|(_, packet)| {
            let own = headers(packet);
            assert_eq!((own.ack, own.window, own.echo, own.sack[0].end), (5, 6, true, 80));
            (own.sequence, own.bytes, packet.ip_bytes, own.reduced)
        })
        .collect();
    let whole = 4044 + HEADERS;
    assert_eq!(cut, [(1000, 4044, whole, true), (5044, 4044, whole, false), (9088, 912, 912 + HEADERS, false)]);
    assert_eq!(world.told.len(), 1);
    assert_eq!((world.told[0].1, world.told[0].2), (1, 9000));
    assert_eq!(world.flow(1).sent.bytes, 9000 + 3 * u64::from(HEADERS));
    assert_eq!((world.nic.segments(), world.nic.send_window_used(), world.packets.len()), (0, 0, 0));
}

#[test]
fn no_read_request_crosses_the_end_of_a_page() {
    let mut bench = bench(params(), host());
    let first = (1 << 16) + 61;
    transmit(&mut bench, 1, Packet { line: first, ..segment(1, 0, 9000) });
    let world = drain(&mut bench);
    let data = || world.reads.iter().filter(|read| read.2 > 1 || read.1 >= 1 << 16);
    assert!(data().all(|read| read.1 % 64 + u64::from(read.2) <= 64), "{:?}", world.reads);
    assert!(data().any(|read| read.1 % 64 + u64::from(read.2) == 64));
}

#[test]
fn an_acknowledgement_needs_its_descriptor_and_no_data() {
    let mut bench = bench(params(), host());
    transmit(&mut bench, 1, segment(0, 0, 0));
    let world = drain(&mut bench);
    assert_eq!(world.reads.len(), 1);
    assert_eq!(world.reads[0].2, 1);
    assert!(world.told.is_empty());
    // Doorbell, read request, link, data, transmit latency, 90 bytes at 80 ps, cable.
    let expected = 1 + 200_000 + 1_524 + 150_000 + 700_000 + 200_000 + 90 * 80 + 1_000_000;
    let time = world.sent[0].0;
    assert!(time.ps().abs_diff(expected) < 20, "{} instead of {expected}", time.ps());
}

#[test]
fn long_segments_fill_the_cable() {
    let mut bench = bench(params(), host());
    for number in 0..40 {
        transmit(&mut bench, 1, segment(number % 2, u64::from(number) * 64_000, 64_000));
    }
    let world = drain(&mut bench);
    let times: Vec<Time> = world.sent.iter().map(|sent| sent.0).collect();
    let bytes: u64 = world.sent.iter().skip(1).map(|(_, packet)| u64::from(packet.ip_bytes + 38)).sum();
    let span = times[times.len() - 1].since(times[0]);
    assert!(span <= bytes * 80 * 101 / 100, "{span} ps for {bytes} bytes");
    assert!(span >= bytes * 80 - 40);
    let first: Vec<u32> = world.sent.iter().take(6).map(|(_, packet)| packet.flow).collect();
    assert_eq!(first, [0, 1, 0, 1, 0, 1], "two cores take turns packet by packet");
}

#[test]
fn no_more_is_asked_for_than_the_send_window_holds() {
    let mut bench = bench(NicParams { send_window_bytes: 8088, ..params() }, host());
    tell(&mut bench, 1, Payload::Pause { port: 0, priority: 0, on: true });
    transmit(&mut bench, 2, segment(0, 0, 40_000));
    let world = run(&mut bench, 20_000_000);
    assert!(world.reads.len() <= 1, "for a priority that is paused nothing is read");
    tell(&mut bench, 1, Payload::Pause { port: 0, priority: 0, on: false });
    let world = drain(&mut bench);
    assert_eq!(world.flow(0).sent.packets, 10);
    // Rate limit: two packets per round trip of 700 ns and the latencies.
    let span = world.sent[9].0.since(world.sent[0].0);
    assert!(span > 4 * 800_000, "{span} ps");
}

#[test]
fn a_pause_stops_the_port_and_its_time_is_counted() {
    let mut bench = bench(params(), host());
    for number in 0..4 {
        transmit(&mut bench, 1, segment(0, number * 64_000, 64_000));
    }
    tell(&mut bench, 5_000_000, Payload::Pause { port: 0, priority: 0, on: true });
    tell(&mut bench, 25_000_000, Payload::Pause { port: 0, priority: 0, on: false });
    let world = drain(&mut bench);
    // The packet on the wire, and those that left the queue in the last 200 ns, still arrive.
    let quiet = world.sent.windows(2).map(|pair| pair[1].0.since(pair[0].0)).max();
    assert!(quiet >= Some(19_600_000), "{quiet:?}");
    assert_eq!(world.nic.counters().pauses_received, 1);
    assert_eq!(world.nic.port().paused_ps(0, Time::from_ps(30_000_000)), 20_000_000);
    assert_eq!(world.flow(0).sent.bytes - world.flow(0).sent.packets * u64::from(HEADERS), 256_000);
}

#[test]
fn the_last_read_credit_is_used_and_none_more() {
    let few = PcieParams { nonposted_lines: 8, ..params().pcie };
    let mut bench = bench(NicParams { pcie: few, ..params() }, Host { data_ps: (700_000, 300_000), ..host() });
    transmit(&mut bench, 1, segment(0, 0, 30_000));
    let world = drain(&mut bench);
    assert_eq!((world.nic.nonposted(0).in_use_max(), world.nic.nonposted(0).in_use()), (8, 0));
    assert_eq!(world.flow(0).sent.packets, 8);
}

#[test]
fn the_completion_of_a_segment_is_written_when_it_has_left_and_told_when_it_can_be_seen() {
    let mut bench = bench(params(), host());
    for number in 0..3 {
        transmit(&mut bench, 1 + number * 5_000_000, segment(1, 9000 * number, 9000));
    }
    let world = drain(&mut bench);
    let completions: Vec<_> = world.writes.iter().filter(|write| write.2 == 1).collect();
    assert_eq!((completions.len(), world.writes.len(), world.told.len()), (3, 3, 3));
    assert!(completions.windows(2).all(|pair| pair[1].1 == pair[0].1 + 1), "consecutive lines: {completions:?}");
    let lasts: Vec<Time> = world.sent.iter().map(|sent| sent.0).skip(2).step_by(3).collect();
    for ((written, told), last) in completions.iter().zip(&world.told).zip(lasts) {
        // The last bit reaches the peer one cable delay after the packet has left.
        let gone = last.ps() - 1_000_000;
        assert!(written.0.ps().abs_diff(gone) < 300_000, "{written:?}, not {gone}");
        assert!(told.0 > written.0);
    }
    assert_eq!(world.nic.counters().completions, 3);
}
