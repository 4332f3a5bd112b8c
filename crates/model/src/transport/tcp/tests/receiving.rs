//! Tests of the receiving half.

use super::super::{SackBlock, Segment, TcpConnection};
use super::pipe::{params, Pipe, PipeDirection, MS, US};
use crate::params::{CongestionControl, TcpParams};
use hostnet_kernel::Time;

const RENO: CongestionControl = CongestionControl::Reno;
const MSS: u64 = 1448;

fn data(sequence: u64, bytes: u64) -> Segment {
    Segment { sequence, bytes: bytes as u32, window: 1 << 20, sent: Time::from_ps(1), ..Segment::default() }
}

fn answer(connection: &mut TcpConnection, now: Time, segment: &Segment) -> Option<Segment> {
    connection.on_segment(now, segment);
    let first = connection.next(now);
    assert!(connection.next(now).is_none());
    first
}

fn block(start: u64, end: u64) -> SackBlock {
    SackBlock { start, end }
}

#[test]
fn an_acknowledgement_waits_for_the_second_segment_or_for_its_delay() {
    let mut connection = TcpConnection::new(&params(RENO));
    let now = Time::from_ps(US);
    assert!(answer(&mut connection, now, &data(0, MSS)).is_none());
    let due = now + 40 * MS;
    assert_eq!(connection.timer(), Some(due));
    connection.on_timer(due - 1);
    assert!(connection.next(due - 1).is_none());
    connection.on_timer(due);
    assert_eq!(connection.next(due).unwrap().ack, MSS);
    assert_eq!(connection.timer(), None);
    assert!(answer(&mut connection, due, &data(MSS, MSS)).is_none());
    assert_eq!(answer(&mut connection, due, &data(2 * MSS, MSS)).unwrap().ack, 3 * MSS);
    assert_eq!(connection.timer(), None);
}

#[test]
fn full_segments_count_and_joined_ones_count_as_several() {
    let mut connection = TcpConnection::new(&TcpParams { ack_segments: 3, ..params(RENO) });
    let now = Time::from_ps(US);
    assert!(answer(&mut connection, now, &data(0, 3 * MSS - 1)).is_none());
    assert!(answer(&mut connection, now, &data(3 * MSS - 1, 1)).is_some());
    assert!(answer(&mut connection, now, &data(3 * MSS, 30 * MSS)).is_some());
    assert_eq!(connection.counters().acks_sent, 2);
}

#[test]
fn every_packet_is_acknowledged_when_that_is_asked_for() {
    let mut connection = TcpConnection::new(&TcpParams { ack_segments: 1, ..params(RENO) });
    for byte in 0..5 {
        assert_eq!(answer(&mut connection, Time::from_ps(US), &data(byte, 1)).unwrap().ack, byte + 1);
    }
}

#[test]
fn an_acknowledgement_rides_on_data() {
    let mut connection = TcpConnection::new(&params(RENO));
    let now = Time::from_ps(US);
    connection.write(100);
    connection.on_segment(now, &data(0, 2 * MSS));
    let out = connection.next(now).unwrap();
    assert_eq!((out.bytes, out.ack), (100, 2 * MSS));
    assert!(connection.next(now).is_none());
    assert_eq!(connection.counters().acks_sent, 0);
}

#[test]
fn disorder_is_told_at_once_with_the_latest_block_first() {
    let mut connection = TcpConnection::new(&params(RENO));
    let now = Time::from_ps(US);
    let out = answer(&mut connection, now, &data(1000, 100)).unwrap();
    assert_eq!((out.ack, out.sack), (0, [block(1000, 1100), block(0, 0), block(0, 0)]));
    let out = answer(&mut connection, now, &data(3000, 100)).unwrap();
    assert_eq!(out.sack, [block(3000, 3100), block(1000, 1100), block(0, 0)]);
    let out = answer(&mut connection, now, &data(1100, 100)).unwrap();
    assert_eq!(out.sack, [block(1000, 1200), block(3000, 3100), block(0, 0)]);
    answer(&mut connection, now, &data(5000, 100)).unwrap();
    let out = answer(&mut connection, now, &data(7000, 100)).unwrap();
    assert_eq!(out.sack, [block(7000, 7100), block(5000, 5100), block(1000, 1200)]);
    // The duplicate comes first, then the block that contains it (RFC 2883 section 4).
    let out = answer(&mut connection, now, &data(5020, 50)).unwrap();
    assert_eq!(out.sack, [block(5020, 5070), block(5000, 5100), block(7000, 7100)]);
    assert_eq!(connection.counters().bytes_duplicate, 50);
    // A hole is filled, although less than a segment arrived.
    let out = answer(&mut connection, now, &data(0, 1000)).unwrap();
    assert_eq!((out.ack, out.sack[0]), (1200, block(5000, 5100)));
    assert_eq!(connection.readable(), 1200);
}

#[test]
fn without_sack_there_are_no_blocks() {
    let mut connection = TcpConnection::new(&TcpParams { sack: false, ..params(RENO) });
    let out = answer(&mut connection, Time::from_ps(US), &data(1000, 100)).unwrap();
    assert_eq!((out.ack, out.sack), (0, [SackBlock::default(); 3]));
}

#[test]
fn what_the_window_has_no_room_for_is_refused() {
    let buffer = 10 * MSS;
    let mut connection = TcpConnection::new(&TcpParams { receive_buffer_bytes: buffer, ..params(RENO) });
    let now = Time::from_ps(US);
    let out = answer(&mut connection, now, &data(0, buffer + 7)).unwrap();
    assert_eq!((out.ack, out.window), (buffer, 0));
    assert_eq!(connection.counters().bytes_refused, 7);
    assert_eq!(answer(&mut connection, now, &data(buffer, 1)).unwrap().window, 0);
    assert_eq!(connection.counters().bytes_refused, 8);
}

#[test]
fn a_closed_window_is_offered_anew_when_two_segments_fit() {
    let buffer = 10 * MSS;
    let mut connection = TcpConnection::new(&TcpParams { receive_buffer_bytes: buffer, ..params(RENO) });
    let now = Time::from_ps(US);
    answer(&mut connection, now, &data(0, buffer)).unwrap();
    connection.read(now, 2 * MSS - 1);
    assert!(connection.next(now).is_none());
    connection.read(now, 1);
    assert_eq!(connection.next(now).unwrap().window, 2 * MSS);
    // The window must double before it is advertised again.
    connection.read(now, 2 * MSS - 1);
    assert!(connection.next(now).is_none());
    connection.read(now, 1);
    assert_eq!(connection.next(now).unwrap().window, 4 * MSS);
}

#[test]
fn an_open_window_needs_no_update() {
    let mut connection = TcpConnection::new(&TcpParams { receive_buffer_bytes: 20 * MSS, ..params(RENO) });
    let now = Time::from_ps(US);
    assert_eq!(answer(&mut connection, now, &data(0, 8 * MSS)).unwrap().window, 12 * MSS);
    connection.read(now, 8 * MSS);
    assert!(connection.next(now).is_none());
}

#[test]
fn a_closed_window_is_probed_and_nothing_is_lost() {
    let params = TcpParams { receive_buffer_bytes: 20 * MSS, rto_min_ps: 10 * MS, ..params(RENO) };
    // Window updates get lost, so only probes find the open window.
    let back = PipeDirection::default();
    let mut pipe = Pipe::new(&params, [100 * MSS, 0], [PipeDirection::default(), back], 1);
    pipe.hosts[1].deaf = (Time::ZERO, Time::from_ps(500 * MS));
    pipe.run(Time::from_ps(400 * MS));
    assert_eq!(pipe.hosts[1].connection.readable(), 20 * MSS);
    let probes = pipe.hosts[0].connection.counters().window_probes;
    assert!((4..8).contains(&probes), "{probes} probes: their interval doubles");
    pipe.ways[1].loss = 1000;
    pipe.run(Time::from_ps(501 * MS));
    pipe.ways[1].loss = 0;
    assert!(pipe.run(Time::from_ps(5000 * MS)));
    let counters = pipe.hosts[0].connection.counters();
    assert!(counters.window_limited_ps > 490 * MS);
    assert_eq!(counters.buffer_limited_ps, 0);
    assert_eq!((counters.timeouts, counters.bytes_sent), (0, 100 * MSS));
}
