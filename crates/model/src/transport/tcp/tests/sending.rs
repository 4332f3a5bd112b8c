//! Tests of when partial packets are sent, and of the limits that hold data back.

use super::super::{Segment, TcpConnection};
use super::pipe::{params, DCTCP, US};
use crate::params::TcpParams;
use hostnet_kernel::Time;

/// Returns the sizes of the segments sent at once when an application writes `writes`, and of those sent after
/// everything is acknowledged.
fn sizes(no_delay: bool, writes: &[u64]) -> (Vec<u32>, Vec<u32>) {
    let mut connection = TcpConnection::new(&TcpParams { tso_bytes: 14_480, ..params(DCTCP) });
    if no_delay {
        connection.set_no_delay();
    }
    let mut sent = Vec::new();
    for &bytes in writes {
        connection.write(bytes);
        sent.extend(std::iter::from_fn(|| connection.next(Time::from_ps(1))).map(|segment| segment.bytes));
    }
    let total = sent.iter().map(|&bytes| u64::from(bytes)).sum();
    connection.on_segment(Time::from_ps(US), &Segment { ack: total, window: 4 << 20, ..Segment::default() });
    let later = std::iter::from_fn(|| connection.next(Time::from_ps(US))).map(|segment| segment.bytes).collect();
    (sent, later)
}

#[test]
fn one_packet_that_is_not_full_is_on_its_way_at_a_time() {
    // Two writes of four packets and 208 bytes each: the rest of the second one waits, and a third write fills the
    // packet.
    assert_eq!(sizes(false, &[6000]), (vec![6000], vec![]));
    assert_eq!(sizes(false, &[6000, 6000]), (vec![6000, 5792], vec![208]));
    assert_eq!(sizes(false, &[6000, 6000, 1240]), (vec![6000, 5792, 1448], vec![]));
    assert_eq!(sizes(false, &[100, 100, 100]), (vec![100], vec![200]));
    assert_eq!(sizes(true, &[6000, 6000]), (vec![6000, 6000], vec![]));
    assert_eq!(sizes(true, &[100, 100, 100]), (vec![100, 100, 100], vec![]));
}

/// Returns the times for which the receiver's window, the congestion window and the send buffer hold data back. The
/// arguments are their sizes, in packets; no acknowledgement arrives for 100 ps.
fn held(receiver: u64, congestion: u64, buffer: u64) -> [u64; 3] {
    let mut params = params(DCTCP);
    let mss = u64::from(params.mss_bytes);
    params.receive_buffer_bytes = receiver * mss;
    params.send_buffer_bytes = buffer * mss;
    params.initial_window = congestion as u32;
    let mut connection = TcpConnection::new(&params);
    connection.write(connection.room());
    while connection.next(Time::from_ps(1)).is_some() {}
    let counters = connection.counters_at(Time::from_ps(101));
    assert_eq!(connection.counters().window_limited_ps, 0, "it has not ended");
    [counters.window_limited_ps, counters.congestion_limited_ps, counters.buffer_limited_ps]
}

#[test]
fn the_least_of_its_windows_keeps_data_back() {
    assert_eq!(held(8, 16, 32), [100, 0, 0]);
    assert_eq!(held(16, 8, 32), [0, 100, 0]);
    assert_eq!(held(32, 16, 8), [0, 0, 100]);
}
