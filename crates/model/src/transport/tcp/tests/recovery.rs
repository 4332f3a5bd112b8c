//! Tests of loss detection and recovery.

use super::super::{SackBlock, Segment, TcpConnection};
use super::pipe::{params, Pipe, PipeDirection, DCTCP, MS, US};
use crate::params::{CongestionControl, TcpParams};
use hostnet_kernel::Time;

const RENO: CongestionControl = CongestionControl::Reno;
const MSS: u64 = 1448;

fn drain(connection: &mut TcpConnection, now: Time) -> Vec<Segment> {
    std::iter::from_fn(|| connection.next(now)).collect()
}

/// Returns a sender with ten segments in flight and nothing more to send.
fn ten(params: &TcpParams) -> TcpConnection {
    let mut connection = TcpConnection::new(params);
    connection.write(10 * MSS);
    assert_eq!(drain(&mut connection, Time::from_ps(1)).len(), 10);
    connection
}

fn sack(ack: u64, from: u64, to: u64) -> Segment {
    let block = SackBlock { start: from * MSS, end: to * MSS };
    Segment {
        ack: ack * MSS,
        window: 1 << 20,
        sack: [block, SackBlock::default(), SackBlock::default()],
        ..Segment::default()
    }
}

fn plain(ack: u64) -> Segment {
    Segment { ack: ack * MSS, window: (4 << 20) - ack * MSS, ..Segment::default() }
}

#[test]
fn two_segments_beyond_a_hole_are_too_few_and_three_enough() {
    let mut connection = ten(&params(RENO));
    let now = Time::from_ps(20 * US);
    connection.on_segment(now, &sack(0, 1, 3));
    assert!(drain(&mut connection, now).is_empty());
    connection.on_segment(now, &sack(0, 1, 4));
    let out = drain(&mut connection, now);
    assert_eq!(out.iter().map(|s| (s.sequence, s.bytes, s.retransmitted)).collect::<Vec<_>>(), [(0, 1448, true)]);
    assert_eq!(connection.counters().recoveries, 1);
    assert_eq!(connection.cwnd_bytes(), 5 * MSS);
}

#[test]
fn two_duplicates_are_too_few_and_three_enough_without_sack() {
    let mut connection = ten(&TcpParams { sack: false, ..params(RENO) });
    let now = Time::from_ps(20 * US);
    for _ in 0..2 {
        connection.on_segment(now, &plain(0));
        assert!(drain(&mut connection, now).is_empty());
    }
    connection.on_segment(now, &plain(0));
    assert_eq!(drain(&mut connection, now).iter().map(|s| s.sequence).collect::<Vec<_>>(), [0]);
    // A partial acknowledgement reveals the next hole (RFC 6582), a full one ends recovery.
    connection.on_segment(now, &plain(4));
    assert_eq!(drain(&mut connection, now).iter().map(|s| s.sequence).collect::<Vec<_>>(), [4 * MSS]);
    connection.on_segment(now, &plain(10));
    assert_eq!((connection.counters().recoveries, connection.unacknowledged()), (1, 0));
}

#[test]
fn several_holes_go_out_as_the_window_allows() {
    let mut connection = ten(&params(RENO));
    let now = Time::from_ps(20 * US);
    // Packets 0, 1, 2 and 5 are missing; the window becomes five segments.
    let mut segment = sack(0, 6, 10);
    segment.sack[1] = SackBlock { start: 3 * MSS, end: 5 * MSS };
    connection.on_segment(now, &segment);
    let out: Vec<_> = drain(&mut connection, now).iter().map(|s| s.sequence / MSS).collect();
    assert_eq!(out, [0, 1, 2, 5]);
    connection.on_segment(now, &plain(10));
    assert_eq!(connection.counters().packets_retransmitted, 4);
}

#[test]
fn a_retransmission_that_is_lost_is_sent_again_when_later_ones_arrive() {
    let lose = vec![20, 21, 22, 36];
    let way = PipeDirection { lose, ..PipeDirection::default() };
    let mut pipe =
        Pipe::new(&TcpParams { ack_segments: 1, ..params(RENO) }, [200 * MSS, 0], [way, PipeDirection::default()], 1);
    assert!(pipe.run(Time::from_ps(1000 * MS)));
    let counters = pipe.hosts[0].connection.counters();
    assert_eq!((counters.timeouts, counters.packets_retransmitted), (0, pipe.dropped[0]));
    assert!(pipe.dropped[0] == 4);
}

#[test]
fn one_small_loss_beyond_which_little_comes_is_found_by_time() {
    // The first of three packets is lost, so a third duplicate never arrives.
    let mut pipe = Pipe::new(
        &TcpParams { ack_segments: 1, ..params(RENO) },
        [33 * MSS, 0],
        [PipeDirection { lose: vec![30], ..PipeDirection::default() }, PipeDirection::default()],
        1,
    );
    assert!(pipe.run(Time::from_ps(100 * MS)));
    let counters = pipe.hosts[0].connection.counters();
    assert_eq!((counters.timeouts, counters.recoveries, counters.packets_retransmitted), (0, 1, 1));
}

/// Sends three messages of `packets` packets, one after the other, and loses all packets of the last. Returns the time
/// that the last one takes.
fn tail_loss(packets: u64, tail_loss_probe: bool) -> (Pipe, u64) {
    let params = TcpParams { ack_segments: 1, tail_loss_probe, ..params(DCTCP) };
    let mut pipe = Pipe::new(&params, [packets * MSS, 0], [PipeDirection::default(), PipeDirection::default()], 1);
    for _ in 0..2 {
        assert!(pipe.run(Time::from_ps(50 * MS)));
        pipe.hosts[0].total += packets * MSS;
    }
    let begin = pipe.now;
    pipe.ways[0].lose = (2 * packets..3 * packets).collect();
    assert!(pipe.run(Time::from_ps(1000 * MS)));
    let used = pipe.now.since(begin);
    (pipe, used)
}

#[test]
fn a_probe_saves_two_packets_from_the_timeout_that_a_lone_one_suffers() {
    let (pipe, used) = tail_loss(2, true);
    let counters = pipe.hosts[0].connection.counters();
    assert_eq!((counters.probes, counters.timeouts), (1, 0));
    assert!(used < 200 * US, "{used} ps");
    let (pipe, used) = tail_loss(1, true);
    let counters = pipe.hosts[0].connection.counters();
    assert_eq!((counters.probes, counters.timeouts), (0, 1));
    assert!(used >= 200 * MS, "{used} ps");
    let (pipe, used) = tail_loss(2, false);
    assert_eq!(pipe.hosts[0].connection.counters().timeouts, 1);
    assert!(used >= 200 * MS, "{used} ps");
}

#[test]
fn a_probe_is_sent_after_two_round_trips_and_not_before() {
    let params = params(RENO);
    let mut connection = TcpConnection::new(&params);
    connection.write(2 * MSS);
    drain(&mut connection, Time::from_ps(1));
    let now = Time::from_ps(1 + 20 * US);
    connection.on_segment(now, &Segment { sent_echo: Time::from_ps(1), ..plain(2) });
    assert_eq!(connection.srtt_ps(), 20 * US);
    connection.write(2 * MSS);
    drain(&mut connection, now);
    let due = now + 40 * US;
    assert_eq!(connection.timer(), Some(due));
    connection.on_timer(due - 1);
    assert!(drain(&mut connection, due - 1).is_empty());
    connection.on_timer(due);
    let out = drain(&mut connection, due);
    assert_eq!(out.iter().map(|s| (s.sequence, s.retransmitted)).collect::<Vec<_>>(), [(3 * MSS, true)]);
    // One probe at a time, then the retransmission timeout, counted from the data.
    assert_eq!(connection.timer(), Some(now + connection.rto_ps()));
}

#[test]
fn a_probe_prefers_new_data() {
    let mut connection = TcpConnection::new(&TcpParams { initial_window: 2, ..params(RENO) });
    connection.write(3 * MSS);
    drain(&mut connection, Time::from_ps(1));
    let now = Time::from_ps(1 + 20 * US);
    let echo = Segment { sent_echo: Time::from_ps(1), window: 3 * MSS, ..plain(1) };
    connection.on_segment(now, &echo);
    connection.write(20 * MSS);
    let out = drain(&mut connection, now);
    assert_eq!(out.last().unwrap().sequence + MSS, 4 * MSS);
    let due = connection.timer().unwrap();
    connection.on_timer(due);
    let probe = connection.next(due).unwrap();
    assert_eq!((probe.sequence, probe.retransmitted), (4 * MSS, false));
    assert_eq!(connection.counters().probes, 1);
}

#[test]
fn the_timeout_is_the_least_one_at_first_and_doubles() {
    let mut connection = ten(&params(RENO));
    let begin = 20 * US;
    connection.on_segment(Time::from_ps(begin), &Segment { sent_echo: Time::from_ps(1), ..plain(8) });
    let mut due = begin + 200 * MS;
    // The tail loss probe comes first.
    let probe = connection.timer().unwrap();
    connection.on_timer(probe);
    drain(&mut connection, probe);
    for doubling in 0..5 {
        assert_eq!(connection.timer(), Some(Time::from_ps(due)));
        connection.on_timer(Time::from_ps(due - 1));
        assert!(drain(&mut connection, Time::from_ps(due - 1)).is_empty());
        connection.on_timer(Time::from_ps(due));
        assert_eq!(connection.cwnd_bytes(), MSS);
        let out = drain(&mut connection, Time::from_ps(due));
        assert_eq!(out.iter().map(|s| s.sequence).collect::<Vec<_>>(), [8 * MSS]);
        due += (200 * MS) << (doubling + 1);
    }
    assert_eq!(connection.counters().timeouts, 5);
    // An acknowledgement ends the doubling.
    connection.on_segment(Time::from_ps(due - 1), &plain(9));
    assert_eq!(connection.rto_ps(), 200 * MS);
}

#[test]
fn acknowledgements_of_what_was_never_sent_are_ignored() {
    let mut connection = ten(&params(RENO));
    connection.on_segment(Time::from_ps(20 * US), &plain(11));
    assert_eq!(connection.unacknowledged(), 10 * MSS);
    connection.on_segment(Time::from_ps(20 * US), &sack(0, 12, 40));
    assert_eq!(connection.in_flight_bytes(), 10 * MSS);
}

#[test]
fn a_window_that_the_application_does_not_fill_does_not_grow() {
    let mut pipe = Pipe::new(&params(RENO), [2 * MSS, 0], [PipeDirection::default(), PipeDirection::default()], 1);
    for _ in 0..100 {
        assert!(pipe.run(Time::from_ps(u64::MAX / 2)));
        pipe.hosts[0].total += 2 * MSS;
    }
    assert_eq!(pipe.hosts[0].connection.cwnd_bytes(), 10 * MSS);
}
