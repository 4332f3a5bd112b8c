//! Tests of DCTCP and ECN.

use super::super::{Segment, TcpConnection};
use super::pipe::{params, Pipe, PipeDirection, DCTCP, MS, US};
use crate::params::{CongestionControl, TcpParams};
use hostnet_kernel::Time;

/// Returns a sender with `segments` segments in flight.
fn sending(params: &TcpParams, segments: u64) -> TcpConnection {
    let params = TcpParams { initial_window: segments as u32, ..params.clone() };
    let mut connection = TcpConnection::new(&params);
    connection.write(connection.room());
    while connection.next(Time::from_ps(1)).is_some() {}
    assert_eq!(connection.in_flight_bytes(), segments * 1448);
    connection
}

fn ack(segments: u64, echo: bool) -> Segment {
    Segment {
        ack: segments * 1448,
        window: 4 << 20,
        echo,
        sent: Time::from_ps(20 * US),
        sent_echo: Time::from_ps(1),
        ..Segment::default()
    }
}

fn drain(connection: &mut TcpConnection, now: Time) -> Vec<Segment> {
    std::iter::from_fn(|| connection.next(now)).collect()
}

#[test]
fn one_reduction_per_window_by_half_of_alpha_in_proportion_to_what_is_delivered() {
    let params = TcpParams { control: CongestionControl::Dctcp { gain: 0, alpha: 1 << 15 }, ..params(DCTCP) };
    let mut connection = sending(&params, 20);
    let now = Time::from_ps(20 * US);
    let mut sent = 0;
    for segment in 1..=20 {
        connection.on_segment(now, &ack(segment, true));
        // A quarter of each delivered segment is not replaced, until the bytes in flight are down to the final window.
        let shrinking = 20 * 1448 - segment * 1448 / 4;
        let law = if connection.in_flight_bytes() > 15 * 1448 { shrinking } else { 15 * 1448 };
        assert_eq!(connection.cwnd_bytes(), law, "after segment {segment}");
        sent += drain(&mut connection, now).iter().map(|segment| u64::from(segment.bytes)).sum::<u64>();
        assert!(connection.in_flight_bytes() <= law, "after segment {segment}");
    }
    assert_eq!((connection.cwnd_bytes(), sent), (15 * 1448, 15 * 1448));
    connection.on_segment(now, &ack(21, true));
    assert_eq!(connection.cwnd_bytes(), 15 * 1448 - 1448 / 4);
    assert_eq!(connection.counters().reductions, 2);
}

#[test]
fn the_window_never_falls_below_two_segments_by_marks() {
    let mut connection = sending(&params(DCTCP), 3);
    let mut now = Time::from_ps(20 * US);
    let mut acked = 0;
    for _ in 0..50 {
        acked += 1;
        connection.on_segment(now, &ack(acked, true));
        drain(&mut connection, now);
        now += US;
        assert!(connection.cwnd_bytes() >= 2 * 1448);
    }
    assert_eq!(connection.cwnd_bytes(), 2 * 1448);
}

#[test]
fn reno_and_cubic_answer_echoes_once_per_window_and_say_so() {
    for (control, left) in [(CongestionControl::Reno, 14480), (CongestionControl::Cubic, 20272)] {
        let mut connection = sending(&params(control), 20);
        let now = Time::from_ps(20 * US);
        let mut out = Vec::new();
        for segment in 1..=20 {
            connection.on_segment(now, &ack(segment, true));
            out.extend(drain(&mut connection, now));
        }
        assert_eq!(connection.cwnd_bytes(), left);
        assert_eq!(connection.counters().reductions, 1);
        assert!(out[0].reduced && out[1..].iter().all(|segment| !segment.reduced));
    }
}

fn data(index: u64, marked: bool, at: u64) -> Segment {
    Segment {
        sequence: index * 1448,
        bytes: 1448,
        marked,
        window: 1 << 20,
        sent: Time::from_ps(at),
        ..Segment::default()
    }
}

#[test]
fn a_change_of_marks_is_told_at_once_and_what_came_before_apart() {
    let mut connection = TcpConnection::new(&params(DCTCP));
    let now = Time::from_ps(US);
    connection.on_segment(now, &data(0, false, 1));
    assert!(drain(&mut connection, now).is_empty());
    connection.on_segment(now, &data(1, true, 2));
    let out = drain(&mut connection, now);
    assert_eq!(out.iter().map(|a| (a.ack, a.echo)).collect::<Vec<_>>(), [(1448, false), (2896, true)]);
    assert_eq!(out.iter().map(|a| a.sent_echo.ps()).collect::<Vec<_>>(), [1, 2]);
    connection.on_segment(now, &data(2, true, 3));
    assert!(drain(&mut connection, now).is_empty());
    connection.on_segment(now, &data(3, true, 4));
    assert_eq!(drain(&mut connection, now).iter().map(|a| (a.ack, a.echo)).collect::<Vec<_>>(), [(4 * 1448, true)]);
    connection.on_segment(now, &data(4, false, 5));
    assert_eq!(drain(&mut connection, now).iter().map(|a| (a.ack, a.echo)).collect::<Vec<_>>(), [(5 * 1448, false)]);
}

#[test]
fn other_receivers_echo_until_the_sender_has_reduced() {
    let mut connection = TcpConnection::new(&TcpParams { ack_segments: 1, ..params(CongestionControl::Reno) });
    let now = Time::from_ps(US);
    let mut echo = |segment: Segment| {
        connection.on_segment(now, &segment);
        drain(&mut connection, now)[0].echo
    };
    assert!(!echo(data(0, false, 1)));
    assert!(echo(data(1, true, 1)));
    assert!(echo(data(2, false, 1)));
    assert!(!echo(Segment { reduced: true, ..data(3, false, 1) }));
    assert!(echo(Segment { reduced: true, ..data(4, true, 1) }));
}

#[test]
fn retransmissions_and_pure_acknowledgements_are_capable_with_dctcp_only() {
    let again = Segment { retransmitted: true, ..data(0, false, 1) };
    for (control, all) in [(CongestionControl::Reno, false), (DCTCP, true)] {
        let connection = TcpConnection::new(&params(control));
        assert!(connection.ecn_capable(&data(0, false, 1)));
        assert_eq!(connection.ecn_capable(&again), all);
        assert_eq!(connection.ecn_capable(&Segment::default()), all);
        let incapable = TcpConnection::new(&TcpParams { ecn: false, ..params(control) });
        assert!(!incapable.ecn_capable(&data(0, false, 1)));
    }
}

#[test]
fn one_dctcp_flow_keeps_the_queue_at_the_threshold_and_marks_as_its_law_says() {
    let params = TcpParams { ack_segments: 1, rto_min_ps: 10 * MS, ..params(DCTCP) };
    // 10 Gbps, 60 us: a bandwidth-delay product of about 50 packets, with a marking threshold of 65.
    let there = PipeDirection { mark_from: 65, delay_ps: 30 * US, ..PipeDirection::default() };
    let back = PipeDirection { delay_ps: 30 * US, ps_per_byte: 1, ..PipeDirection::default() };
    let mut pipe = Pipe::new(&params, [u64::MAX / 2, 0], [there, back], 1);
    pipe.run(Time::from_ps(50 * MS));
    pipe.most_queued = [0; 2];
    let (marked, before) = (pipe.marked[0], *pipe.hosts[0].connection.counters());
    pipe.run(Time::from_ps(250 * MS));
    let packets = pipe.hosts[0].connection.counters().packets_sent - before.packets_sent;
    assert_eq!(pipe.most_queued[0], 65 + 1);
    let ideal = 200 * MS / 1500 / 800;
    assert!(packets > ideal * 995 / 1000, "{packets} of {ideal}");
    let share = (pipe.marked[0] - marked) as f64 / packets as f64;
    let law = (2.0_f64 / (65.0 + 51.5)).sqrt();
    assert!(share > 0.6 * law && share < 1.1 * law, "marked {share}, law {law}");
}
