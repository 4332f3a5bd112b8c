//! Replay of the packets of a capture.

use hostnet_kernel::Time;

/// Returns the bytes of the next packet of a capture if it is due; otherwise sets the wake-up to the time at which it
/// is.
pub(super) fn replay(left: &mut Vec<(u64, u32)>, start_ps: u64, now: Time, wake_at: &mut Option<Time>) -> Option<u32> {
    let &(at, ip_bytes) = left.last()?;
    let at = Time::from_ps(start_ps.saturating_add(at));
    if at > now {
        *wake_at = Some(at);
        return None;
    }
    left.pop();
    Some(ip_bytes)
}
