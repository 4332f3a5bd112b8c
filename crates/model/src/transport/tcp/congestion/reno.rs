//! Reno (RFC 5681), counting bytes (RFC 3465; slow start takes all that an acknowledgement covers, as receivers that
//! join packets ask for).

use super::Window;

/// Slow start, then one segment per window.
pub(super) fn grow(window: &mut Window, acked: u64) {
    window.acked += window.slow_start(acked);
    while window.acked >= window.bytes {
        window.acked -= window.bytes;
        window.bytes += window.mss;
    }
}

/// Halves the window.
pub(super) fn reduce(window: &mut Window) {
    window.reduce_to(window.bytes / 2);
}
