//! Reno (RFC 5681) with byte counting (RFC 3465). Slow start counts all bytes of an acknowledgement, because receivers
//! that join packets acknowledge many at a time.

use super::CongestionWindow;

/// Grows the window: slow start, then one segment per window.
pub(super) fn grow(window: &mut CongestionWindow, acked: u64) {
    window.acked += window.slow_start(acked);
    while window.acked >= window.bytes {
        window.acked -= window.bytes;
        window.bytes += window.mss;
    }
}

/// Halves the window.
pub(super) fn reduce(window: &mut CongestionWindow) {
    window.reduce_to(window.bytes / 2);
}
