//! Effects of one episode of probing, recovery or idleness on the next.

use super::super::{SackBlock, Segment, TcpConnection};
use super::pipe::{params, DCTCP, US};
use crate::params::{CongestionControl, TcpParams};
use hostnet_kernel::Time;

const RENO: CongestionControl = CongestionControl::Reno;
const MSS: u64 = 1448;

fn drain(connection: &mut TcpConnection, now: Time) -> Vec<Segment> {
    std::iter::from_fn(|| connection.next(now)).collect()
}

fn acknowledges(packets: u64) -> Segment {
    Segment { ack: packets * MSS, window: 4 << 20, ..Segment::default() }
}

fn sack(packets: u64, from: u64, to: u64) -> Segment {
    let mut segment = acknowledges(packets);
    segment.sack[0] = SackBlock { start: from * MSS, end: to * MSS };
    segment
}

/// Returns a sender with an estimate of its round-trip time (two packets were acknowledged) and `packets` packets in
/// flight.
fn under_way(params: &TcpParams, packets: u64) -> (TcpConnection, Time) {
    let mut connection = TcpConnection::new(params);
    connection.write(2 * MSS);
    drain(&mut connection, Time::from_ps(1));
    let now = Time::from_ps(1 + 20 * US);
    connection.on_segment(now, &Segment { sent_echo: Time::from_ps(1), ..acknowledges(2) });
    connection.write(packets * MSS);
    assert_eq!(drain(&mut connection, now).len() as u64, packets);
    (connection, now)
}

#[test]
fn a_probe_that_found_no_room_in_time_holds_nothing_back() {
    let (mut connection, _) = under_way(&params(RENO), 2);
    let due = connection.timer().expect("a probe is due");
    // The port is full: nothing can be sent until everything is acknowledged.
    connection.on_timer(due);
    connection.on_segment(due + 1, &acknowledges(4));
    connection.write(MSS);
    let sent: Vec<_> = drain(&mut connection, due + 2).iter().map(|s| (s.sequence / MSS, s.retransmitted)).collect();
    assert_eq!(sent, [(4, false)]);
    assert_eq!(connection.counters().probes, 0);
}

#[test]
fn recovery_answers_for_the_probe_before_it() {
    let (mut connection, _) = under_way(&params(DCTCP), 10);
    let due = connection.timer().expect("a probe is due");
    connection.on_timer(due);
    assert_eq!(drain(&mut connection, due)[0].sequence, 11 * MSS);
    // Four packets are lost; the last one is not.
    connection.on_segment(due + US, &sack(2, 6, 12));
    drain(&mut connection, due + US);
    assert_eq!((connection.counters().recoveries, connection.cwnd_bytes()), (1, 5 * MSS));
    connection.on_segment(due + 2 * US, &acknowledges(12));
    connection.write(3 * MSS);
    drain(&mut connection, due + 2 * US);
    connection.on_segment(due + 3 * US, &acknowledges(15));
    assert!(connection.cwnd_bytes() >= 5 * MSS, "one loss is answered once, not {}", connection.cwnd_bytes());
}

/// Returns a sender after a timeout: of ten packets, the first and its retransmission were lost.
fn after_a_timeout() -> (TcpConnection, Time) {
    let mut connection = TcpConnection::new(&params(RENO));
    connection.write(60 * MSS);
    assert_eq!(drain(&mut connection, Time::from_ps(1)).len(), 10);
    let now = Time::from_ps(20 * US);
    connection.on_segment(now, &sack(0, 1, 10));
    let sent = drain(&mut connection, now);
    assert_eq!((sent[0].sequence, connection.cwnd_bytes()), (0, 5 * MSS));
    let due = connection.timer().expect("a timeout is due");
    connection.on_timer(due);
    assert_eq!((connection.counters().timeouts, connection.cwnd_bytes()), (1, MSS));
    assert_eq!(drain(&mut connection, due)[0].sequence, 0);
    (connection, due)
}

#[test]
fn slow_start_after_a_timeout_counts_only_what_arrives_then() {
    let (mut connection, now) = after_a_timeout();
    // The retransmission fills the hole: only this packet arrives now, the others arrived before.
    let sent = connection.counters().packets_sent;
    connection.on_segment(now + US, &acknowledges(10));
    assert_eq!(connection.cwnd_bytes(), 2 * MSS);
    assert_eq!(sent, 14, "four new packets went out in recovery");
}

#[test]
fn a_timeout_within_recovery_halves_no_second_time() {
    let (mut connection, now) = after_a_timeout();
    let mut windows = Vec::new();
    for (round, packets) in [(1, 10), (2, 12), (3, 16)] {
        connection.on_segment(now + round * US, &acknowledges(packets));
        drain(&mut connection, now + round * US);
        windows.push(connection.cwnd_bytes() / MSS);
    }
    // Slow start, up to half of the ten packets (RFC 5681 equation 4).
    assert_eq!(windows, [2, 4, 5]);
}
